/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_CGROUP_H
#define SYSTOP_PROC_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tick.h"

/*
 * The cgroups of one hierarchy, found by walking its directories: completely at the start, later a slice at a time, as
 * there can be 30,000, at 15 us each. Cgroups in which threads are met are reported in between.
 */
struct cgroups;
struct cgroup_mounts;

/*
 * cgroups_open - the tree below the mount point @mount; NULL: there is no hierarchy, everything is in its root. Returns
 * NULL with errno.
 * cgroups_limited_by - CPU limits come from another hierarchy, mounted at @mount; its paths begin with @name and a
 * colon. 0 or -errno.
 * cgroups_limits - that hierarchy's cgroups, borrowed; NULL: this one has the limits itself.
 */
struct cgroups *cgroups_open(const char *mount);
void cgroups_free(struct cgroups *c);
int cgroups_limited_by(struct cgroups *c, const char *mount, const char *name);
struct cgroups *cgroups_limits(const struct cgroups *c);

/*
 * The memory and swap that cgroups are charged for: from v2, or, if it has no memory controller, from the cgroup with
 * the same path in the v1 hierarchy that has it.
 * cgroups_charged_by - finds that hierarchy. 0 or -ENOMEM.
 * cgroups_charge - reads memory and swap of the next cgroups in turn, for up to @ns; 20 us each.
 * cgroups_charges - as last read; VALUE_NA: not yet, or unknown.
 */
int cgroups_charged_by(struct cgroups *c, const struct cgroup_mounts *mounts);
void cgroups_charge(struct cgroups *c, uint64_t ns);
void cgroups_charges(const struct cgroup *cgroup, struct levels *levels);

/* cgroups_folders - the folders of @size bytes with the cgroup's memory.stat, and with its cpu.pressure; "": there is none. */
void cgroups_folders(const struct cgroups *c, const struct cgroup *cgroup, char *memory, char *pressure, size_t size);

/*
 * cgroups_ask_with - sets the function to call when a cgroup is unknown: @ask calls cgroups_report() for each cgroup
 * waiting to be reported.
 * cgroups_report - reports a cgroup's name, and the id of its parent, which may be reported later.
 */
typedef void cgroups_ask(void *arg);
void cgroups_ask_with(struct cgroups *c, cgroups_ask *ask, void *arg);
void cgroups_report(struct cgroups *c, uint64_t id, uint64_t parent, const char *name);

/* cgroups_work - continues a walk for 3 ms; first starts one if none is in progress and it is time for one, or @now. Called before
 * a tick, and between two. cgroups_walking - whether a walk is in progress. */
void cgroups_work(struct cgroups *c, bool now);
bool cgroups_walking(const struct cgroups *c);

/* cgroups_changes - changes whenever cgroups or paths do. */
uint64_t cgroups_changes(const struct cgroups *c);

/* cgroups_partial - whether only a part of the hierarchy is mounted: the cgroups outside of it have no names. */
bool cgroups_partial(const struct cgroups *c);

/*
 * cgroups_find - the cgroup with this id (inode of its directory). One that cannot be found, because it is already removed or
 * outside our namespace, is "/?ID" below the root. Valid while cgroup->refs is not 0, or until the next cgroups_work(). The root
 * if @id is 0, there is no hierarchy, or memory runs out.
 */
struct cgroup *cgroups_find(struct cgroups *c, uint64_t id);

/* cgroups_list - all cgroups, parents before children, siblings by name. Borrowed until the next cgroups_work() or
 * cgroups_find(). */
struct cgroup *const *cgroups_list(struct cgroups *c, size_t *nr);

/* cgroups_threads - number of threads in the cgroup itself, from cgroup.threads or tasks. */
uint64_t cgroups_threads(const struct cgroups *c, const struct cgroup *cgroup);

/*
 * cgroups_limit - a cgroup's CPU limit, and its effect since the last call: VALUE_NA if it has no cpu.stat, or there
 * was no earlier call. Without a limit, or if no thread below it acted, nothing is read: 0.
 * cgroups_suspect - threads of it were seen throttled: reads its limit and those above it now, not at the next walk.
 * cgroups_below_limit - whether it or an ancestor has a limit.
 */
void cgroups_limit(struct cgroups *c, struct cgroup *cgroup, struct cgroup_limit *limit);
void cgroups_suspect(const struct cgroups *c, struct cgroup *cgroup);
bool cgroups_below_limit(const struct cgroup *cgroup);

#endif
