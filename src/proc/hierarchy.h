/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_HIERARCHY_H
#define SYSTOP_PROC_HIERARCHY_H

struct cgroup_mounts;
struct cgroup_scope;
struct cgroups;

/* hierarchy_mounts - finds where cgroups are mounted. 0, or -errno after fail(). */
int hierarchy_mounts(struct cgroup_mounts *m);

/*
 * hierarchy_open - the cgroups to show: the hierarchy of the first -c; else v2, unless it has no cgroup below its root
 * while v1's cpu hierarchy has; if none is mounted, a single cgroup with all threads.
 * @scope: of -c, NULL: none
 * CPU limits come from v1's cpu hierarchy if there is one, else from v2.
 * @controller, @limits: set to the v1 controllers of the hierarchy shown, and of the one with the limits; NULL: v2
 * Returns NULL after fail().
 */
struct cgroups *hierarchy_open(const struct cgroup_mounts *m, struct cgroup_scope *scope,
			       const char **controller, const char **limits);

#endif
