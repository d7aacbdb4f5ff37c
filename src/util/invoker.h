/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_INVOKER_H
#define SYSTOP_UTIL_INVOKER_H

#include <stdbool.h>
#include <sys/types.h>

/* The user that systop works for: the one who called sudo, else the one who started it. systop reads and writes files of the
 * invoker only where the invoker could. */
struct invoker {
	uid_t uid;
	gid_t gid;
	const char *name; /* of the user who called sudo; NULL: nobody did, or root */
	gid_t *groups;    /* of that user */
	int nr_groups;
};

/* invoker_find - call first, while signals end systop: the database of groups can hang. 0, or -EINVAL after fail(): sudo's
 * variables are inconsistent (exit status 2). */
int invoker_find(void);
const struct invoker *invoker(void);

/* invoker_begin - until invoker_end(), files are opened, created and looked up with the invoker's rights only: its
 * user and groups, and none of systop's capabilities. 0 or -errno: then no file may be opened. Call only while there
 * are no threads. */
int invoker_begin(void);
void invoker_end(void);

/* invoker_drop - within invoker_begin(): until invoker_end() root has no capabilities either, like the helpers that write. 0 or
 * -errno. */
int invoker_drop(void);

#endif
