/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_CGROUP_NAMES_H
#define SYSTOP_COLLECT_CGROUP_NAMES_H

/* Names of the cgroups of threads, as the programs report them (bpf/scope.bpf.h). */

#include <stdbool.h>

struct cgroups;
struct cgroup_names;

/* cgroup_names_new - reports names to @cgroups from now on. @fd: of the ring of events; borrowed. NULL: out of memory. */
struct cgroup_names *cgroup_names_new(int fd, struct cgroups *cgroups);
void cgroup_names_free(struct cgroup_names *n);

/* cgroup_names_due - whether there are events that have not been read: cgroups_work() reads them. */
bool cgroup_names_due(const struct cgroup_names *n);

#endif
