/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_HIERARCHY_H
#define SYSTOP_PROC_HIERARCHY_H

struct cgroup_mounts;
struct cgroup_scope;
struct cgroups;

/* hierarchy_mounts - where cgroups are mounted. 0, or -errno after fail(). */
int hierarchy_mounts(struct cgroup_mounts *m);

/*
 * hierarchy_open - the cgroups that are shown: those of the hierarchy of the first -c; else v2, unless it
 * has no cgroup below its root while v1's cpu hierarchy has; none is mounted: one that all threads are in.
 * @scope: of -c, NULL: none
 * CPU limits are of v1's cpu hierarchy, if there is one, else of v2.
 * @controller, @limits: set to the v1 controller whose tree is shown, and whose has the limits; NULL: v2
 * Returns NULL after fail().
 */
struct cgroups *hierarchy_open(const struct cgroup_mounts *m, struct cgroup_scope *scope,
			       const char **controller, const char **limits);

#endif
