/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_CGROUP_H
#define SYSTOP_PROC_CGROUP_H

#include <stddef.h>
#include <stdint.h>

#include "model/tick.h"

/*
 * The cgroups of one hierarchy, by walking its directories. A walk costs about 10 us a cgroup and is
 * made only every ten seconds, or when a thread is found in a cgroup that is not known yet.
 */
struct cgroups;

/*
 * cgroups_open - the tree below a mount point.
 * @mount: its directory   @limits: mount point of the v1 cpu controller, where a v2 tree without
 * one looks for cpu.stat under the same path; NULL: none
 * Returns NULL with errno.
 */
struct cgroups *cgroups_open(const char *mount, const char *limits);
void cgroups_free(struct cgroups *c);

/* cgroups_refresh - call once a tick, before anything else: walks again if it is time, or @now. */
void cgroups_refresh(struct cgroups *c, bool now);

/*
 * cgroups_find - the cgroup with this id (inode of its directory). One that cannot be found, because
 * it went before it was looked at or lies outside our namespace, is "/?ID" below the root.
 * Valid while cgroup->refs is not 0, or until the next refresh. Returns NULL when out of memory.
 */
struct cgroup *cgroups_find(struct cgroups *c, uint64_t id);

/* cgroups_list - all cgroups, parents before their children, siblings by name. Borrowed until the
 * next refresh. */
struct cgroup *const *cgroups_list(struct cgroups *c, size_t *nr);

/* cgroups_threads - threads in the cgroup itself, by its cgroup.threads or tasks. */
uint64_t cgroups_threads(const struct cgroups *c, const struct cgroup *cgroup);

/* cgroups_limit - what a cgroup's CPU limit did since the last call; VALUE_NA where it has no cpu.stat,
 * or nothing to compare with yet. Looked up where there is a limit, or with @suspect: threads of it
 * were seen throttled. Without a limit nothing is read: 0. */
void cgroups_limit(struct cgroups *c, struct cgroup *cgroup, bool suspect,
		   struct cgroup_limit *limit);

#endif
