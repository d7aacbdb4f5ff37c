/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_MOUNTS_H
#define SYSTOP_PROC_MOUNTS_H

#include <stddef.h>
#include <stdio.h>

/* A mounted cgroup hierarchy. */
struct cgroup_mount {
	char *path;        /* mount point */
	char *root;        /* the cgroup mounted there; "/": the whole hierarchy */
	char *controllers; /* v1: "cpu,cpuacct" or "name=systemd"; NULL: v2 */
};

struct cgroup_mounts {
	struct cgroup_mount *mounts;
	size_t nr, room;
};

/* cgroup_mounts_read - reads the hierarchies of a /proc/self/mountinfo, each once: among several mounts the one that
 * shows most. Returns 0 or -errno; cgroup_mounts_fini() frees. */
int cgroup_mounts_read(struct cgroup_mounts *m, FILE *mountinfo);
void cgroup_mounts_fini(struct cgroup_mounts *m);

/* cgroup_mount_find - the hierarchy with this v1 controller, or v2 for NULL; NULL: none. */
const struct cgroup_mount *cgroup_mount_find(const struct cgroup_mounts *m, const char *controller);

#endif
