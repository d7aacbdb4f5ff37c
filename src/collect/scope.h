/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SCOPE_H
#define SYSTOP_COLLECT_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slot.h" /* enum pid_scope */

struct collect_cgroup;
struct collect_options;
struct scope_cgroup;

/* The scope of -c, -p, -t and -u, in the form for the programs. */
struct scope {
	int cgroups_fd, pids_fd, uids_fd; /* maps */
	struct scope_cgroup *cgroups;     /* present contents of the map, sorted */
	size_t nr_cgroups, nr_missing;    /* and how many more were to be in it, but had no room */
	uint64_t missed;                  /* sum of the increases of nr_missing */
	bool changed;                     /* the scope of threads is to be decided again */
};

/* scope_fill - sets the whole scope. 0 or -errno. scope_free - frees it, with its list of cgroups. */
int scope_fill(struct scope *s, const struct collect_options *o);
void scope_free(struct scope *s);

/* scope_set_cgroups - sets these and no others; raises @changed if they differ from the previous ones. 0 or -errno: those
 * that are missing then are added at the next call. */
int scope_set_cgroups(struct scope *s, const struct collect_cgroup *cgroups, size_t nr);

/* scope_uncover - a process or thread that gets this number from now on is not covered by -p or -t; what is covered already stays
 * so. */
void scope_uncover(struct scope *s, uint32_t number, enum pid_scope how);

#endif
