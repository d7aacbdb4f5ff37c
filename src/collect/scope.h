/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SCOPE_H
#define SYSTOP_COLLECT_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

struct collect_cgroup;
struct collect_options;
struct scope_cgroup;

/* What -c, -p and -u ask for, as the programs have it. */
struct scope {
	int cgroups_fd, pids_fd, uids_fd; /* maps */
	struct scope_cgroup *cgroups;     /* in the map now */
	size_t nr_cgroups;
};

/* scope_fill - all that was asked for. 0 or -errno; scope_fini() frees. */
int scope_fill(struct scope *s, const struct collect_options *o);
void scope_fini(struct scope *s);

/* scope_set_cgroups - these and no others from now on. @changed: they are not those of before. 0 or -errno. */
int scope_set_cgroups(struct scope *s, const struct collect_cgroup *cgroups, size_t nr, bool *changed);

#endif
