/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_JSON_JSON_H
#define SYSTOP_EXPORT_JSON_JSON_H

#include <stdio.h>

/* Version of the schema: raised when a property is added, removed, or changes its meaning. */
#define JSON_SCHEMA 8

/* json_schema - writes the JSON schema of a line of --json, which is a tick in valid UTF-8. An error shows in ferror(@to). */
void json_schema(FILE *to);

#endif
