/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_JSON_JSON_OWNER_H
#define SYSTOP_EXPORT_JSON_JSON_OWNER_H

struct cgroup;
struct json;

/* A property of what belongs to a cgroup; null: there is no such thing, or it is not known. */
struct json_owner_property {
	const char *name, *help;
	const char *(*text)(const struct cgroup *c); /* raw bytes, NULL: null */
};

/* container, pod, unit; the last entry has no name. */
extern const struct json_owner_property json_owner_properties[];

/* json_owner - writes these properties of a cgroup. */
void json_owner(struct json *j, const struct cgroup *c);

#endif
