/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_TARGET_H
#define SYSTOP_APP_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cgroup_mounts;
struct cgroup_scope;
struct cgroups;
struct collect;
struct collect_options;
struct model;
struct options;
struct tick;

/* What systop was asked to look at: -c, -p, -u and the command. Initialise with zeroes. */
struct target {
	struct cgroup_scope *cgroups; /* NULL: no -c */
	pid_t *pids;                  /* processes of -p, and the command's */
	int *pidfds;                  /* of -p: readable once the process is gone; -1: cannot tell */
	size_t nr_pids, nr_pidfds;
	uid_t *uids;
	size_t nr_uids;
	char text[256];               /* "all", or "cgroup /a pid 12,13 user www-data"; safe */
	char last[128];               /* "sleep 4711", the last process of -p; safe */
};

/* target_resolve - finds everything. @mounts: borrowed. 0, or -errno after fail(). */
int target_resolve(struct target *t, const struct options *o, const struct cgroup_mounts *mounts);

/* target_add - one process more: the command. */
void target_add(struct target *t, pid_t pid);

/* target_collect - a collector of it alone, by collect_new(). @o: the rest of what that is told */
struct collect *target_collect(struct target *t, const struct collect_options *o, struct model *model,
			       struct cgroups *cgroups);

/* target_refresh - once a tick: globs of -c are resolved again. */
void target_refresh(struct target *t, struct collect *collect);

/* target_ended - whether -p was asked for and its processes have ended. */
bool target_ended(const struct target *t);

/* target_gone - whether -p was asked for and nothing of it, nor of what it forked, is left. */
bool target_gone(const struct target *t, const struct tick *tick);

void target_fini(struct target *t);

#endif
