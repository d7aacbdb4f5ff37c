/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_JSON_JSON_H
#define SYSTOP_EXPORT_JSON_JSON_H

#include <stdio.h>

struct cgroup;
struct checks;
struct utsname;

/* Versions of the schemas: raised when a property is added, removed, or changes its meaning. */
#define JSON_SCHEMA 8
#define JSON_CHECK_SCHEMA 1

/* json_schema - writes the JSON schema of a line of --json, which is a tick in valid UTF-8. An error shows in ferror(@to). */
void json_schema(FILE *to);

/* json_check - writes what --check found as one object on a line. Returns 0 or -errno.
 * json_check_schema - writes its JSON schema; an error shows in ferror(@to). */
int json_check(FILE *to, const struct checks *c, const char *version, const struct utsname *uts);
void json_check_schema(FILE *to);

/* A property of what belongs to a cgroup, for json.c and the schema; null: there is no such thing, or it is not known. */
struct json_owner_property {
	const char *name, *help;
	const char *(*text)(const struct cgroup *c); /* raw bytes, NULL: null */
};

/* container, pod, unit; the last entry has no name. */
extern const struct json_owner_property json_owner_properties[];

#endif
