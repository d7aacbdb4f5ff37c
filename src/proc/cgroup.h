/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_CGROUP_H
#define SYSTOP_PROC_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tick.h"

/*
 * The cgroups of one hierarchy, by walking its directories: at the start as a whole, later a slice at a time, for there
 * can be 30,000, at 15 us each. Those that a thread is met in are told of meanwhile.
 */
struct cgroups;

/*
 * cgroups_open - the tree below a mount point, @mount; NULL: there is no hierarchy, all are in its root. Returns NULL
 * with errno.
 * cgroups_limited_by - CPU limits are those of another hierarchy, mounted at @mount; paths there begin with @name and a
 * colon. 0 or -errno.
 * cgroups_limits - that hierarchy's cgroups, borrowed; NULL: this one has the limits itself.
 */
struct cgroups *cgroups_open(const char *mount);
void cgroups_free(struct cgroups *c);
int cgroups_limited_by(struct cgroups *c, const char *mount, const char *name);
struct cgroups *cgroups_limits(const struct cgroups *c);

/*
 * cgroups_ask_with - what is called when a cgroup is not known: @ask calls cgroups_tell() for each that there is
 * something to be told of.
 * cgroups_tell - a cgroup's name, and the id of the one it is in, which may be told of later.
 */
typedef void cgroups_ask(void *arg);
void cgroups_ask_with(struct cgroups *c, cgroups_ask *ask, void *arg);
void cgroups_tell(struct cgroups *c, uint64_t id, uint64_t parent, const char *name);

/* cgroups_work - a slice of a walk, if it is time for one, or @now: 3 ms. Called before a tick, and between two. */
void cgroups_work(struct cgroups *c, bool now);

/* cgroups_changes - another number when there are other cgroups, or other paths. */
uint64_t cgroups_changes(const struct cgroups *c);

/*
 * cgroups_find - the cgroup with this id (inode of its directory). One that cannot be found, because
 * it went before it was looked at or lies outside our namespace, is "/?ID" below the root.
 * Valid while cgroup->refs is not 0, or until the next cgroups_work(). Returns NULL when out of memory.
 */
struct cgroup *cgroups_find(struct cgroups *c, uint64_t id);

/* cgroups_list - all cgroups, parents before their children, siblings by name. Borrowed until the
 * next cgroups_work() or cgroups_find(). */
struct cgroup *const *cgroups_list(struct cgroups *c, size_t *nr);

/* cgroups_threads - threads in the cgroup itself, by its cgroup.threads or tasks. */
uint64_t cgroups_threads(const struct cgroups *c, const struct cgroup *cgroup);

/*
 * cgroups_limit - a cgroup's CPU limit, and what it did since the last call: VALUE_NA where it has no cpu.stat, or there
 * is nothing to compare with yet. Without a limit nothing is read: 0.
 * cgroups_suspect - threads of it were seen throttled: its limit and those above it are read now, not by the next walk.
 * cgroups_below_limit - whether it has a limit, or one above it has.
 */
void cgroups_limit(struct cgroups *c, struct cgroup *cgroup, struct cgroup_limit *limit);
void cgroups_suspect(const struct cgroups *c, struct cgroup *cgroup);
bool cgroups_below_limit(const struct cgroup *cgroup);

#endif
