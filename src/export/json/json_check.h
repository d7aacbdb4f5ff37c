/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_JSON_JSON_CHECK_H
#define SYSTOP_EXPORT_JSON_JSON_CHECK_H

#include <stdio.h>

struct checks;
struct utsname;

/* Version of its schema: raised when a property is added, removed, or changes its meaning. */
#define JSON_CHECK_SCHEMA 1

/* json_check - writes what --check found as one object on a line. Returns 0 or -errno. json_check_schema - writes its JSON
 * schema; an error shows in ferror(@to). */
int json_check(FILE *to, const struct checks *c, const char *version, const struct utsname *uts);
void json_check_schema(FILE *to);

#endif
