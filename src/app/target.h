/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_TARGET_H
#define SYSTOP_APP_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_mounts;
struct cgroup_scope;
struct cgroups;
struct collect;
struct collect_options;
struct containers;
struct model;
struct options;
struct tick;

/* A process or a thread whose end systop waits for. */
struct watched {
	pid_t id;
	bool thread;
	int pidfd;  /* of a process: readable when it has ended; -1: not supported */
	bool ended; /* its number may be another one's now */
};

/* What systop observes: -c, -p, -t, -u and the command. Initialise with zeroes. */
struct target {
	struct cgroup_scope *cgroups; /* NULL: no -c */
	const char *shown;            /* controller of the hierarchy shown; NULL: v2 */
	uint64_t marked;              /* changes of the shown cgroups and of the scope up to the last mark(); 0: there was none */
	struct containers *containers; /* names of cgroups: borrowed */
	uint64_t names_until;         /* end of the wait for names of cgroups, for all hierarchies together; CLOCK_MONOTONIC ns */
	pid_t *pids;                  /* processes of -p, and the command's */
	const pid_t *tids;            /* threads of -t: borrowed from the options */
	struct watched *watched;      /* of -p and -t */
	size_t nr_pids, nr_tids, nr_watched;
	uid_t *uids;
	size_t nr_uids;
	char text[256];               /* "all", or "cgroup /a pid 12,13 user www-data"; safe */
	char last[128];               /* "sleep 4711", the last process of -p, or thread of -t; safe */
};

/* target_resolve - resolves all that the options name; waits a little for names of containers and pods, if one may be meant.
 * @mounts and @containers: borrowed. 0, or -errno after fail(). */
int target_resolve(struct target *t, const struct options *o, const struct cgroup_mounts *mounts,
		   struct containers *containers);

/* target_add - adds the command's process; once, after target_resolve(). */
void target_add(struct target *t, pid_t pid);

/* target_collect - a collector for the target only, by collect_new(). @o: the other options for that */
struct collect *target_collect(struct target *t, const struct collect_options *o, struct model *model,
			       struct cgroups *cgroups);

/* target_refresh - call it once per tick: resolves -c again, and marks the shown cgroups (@cgroups) that are in scope. */
void target_refresh(struct target *t, struct collect *collect, struct cgroups *cgroups);

/* target_follow - call it every 250 ms: looks for cgroups that a glob matches, for the next target_refresh(); processes and
 * threads that have ended leave the scope with their numbers. */
void target_follow(struct target *t, struct collect *collect);

/* target_ended - whether -p or -t was given, and its processes and threads have ended. */
bool target_ended(const struct target *t);

/* target_gone - the same, with all that the processes forked. */
bool target_gone(const struct target *t, const struct tick *tick);

void target_fini(struct target *t);

#endif
