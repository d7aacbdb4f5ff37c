/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HIERARCHY_H
#define SYSTOP_HIERARCHY_H

struct cgroup_mounts;
struct cgroup_scope;
struct cgroups;

/* hierarchy_mounts - where cgroups are mounted. 0, or -errno after fail(). */
int hierarchy_mounts(struct cgroup_mounts *m);

/*
 * hierarchy_open - the cgroups that are shown: those of the hierarchy of the first -c; else v2, unless it
 * has no cgroup below its root while v1's cpu hierarchy has.
 * @scope: of -c, NULL: none
 * @controller: set to the v1 controller whose tree it is, NULL: v2
 * Returns NULL after fail().
 */
struct cgroups *hierarchy_open(const struct cgroup_mounts *m, struct cgroup_scope *scope,
			       const char **controller);

#endif
