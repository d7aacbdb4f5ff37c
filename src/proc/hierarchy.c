/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/hierarchy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proc/cgroup.h"
#include "proc/mounts.h"
#include "proc/scope.h"
#include "util/fail.h"

int hierarchy_mounts(struct cgroup_mounts *m)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	int err = f ? cgroup_mounts_read(m, f) : -errno;

	if (f)
		fclose(f);
	if (!err)
		return 0;
	fail(err, EXIT_STATUS_RUNTIME, "cannot read /proc/self/mountinfo: %s", strerror(-err));
	if (err == -ENOENT) {
		fail_why("/proc is not mounted");
		fail_fix("mount -t proc proc /proc");
	}
	return err;
}

/* v1's cpu hierarchy if it has cgroups and v2 has none; else @v2. */
static struct cgroups *with_cgroups(struct cgroups *v2, const struct cgroup_mount *cpu, const char **controller)
{
	struct cgroups *v1 = cgroups_open(cpu->path);
	size_t nr = 0, nr_v1 = 0;

	cgroups_list(v2, &nr);
	if (v1)
		cgroups_list(v1, &nr_v1);
	if (nr != 1 || nr_v1 <= 1) {
		cgroups_free(v1);
		return v2;
	}
	cgroups_free(v2);
	*controller = "cpu";
	return v1;
}

static bool same_hierarchy(const struct cgroup_mounts *m, const char *a, const char *b)
{
	return cgroup_mount_find(m, a) == cgroup_mount_find(m, b);
}

struct cgroups *hierarchy_open(const struct cgroup_mounts *m, struct cgroup_scope *scope,
			       const char **controller, const char **limits)
{
	const struct cgroup_mount *v2 = cgroup_mount_find(m, NULL);
	const struct cgroup_mount *cpu = cgroup_mount_find(m, "cpu");
	const struct cgroup_mount *shown = v2 ? v2 : cpu, *limiter = cpu ? cpu : v2;
	struct cgroups *cgroups;
	size_t nr;

	*controller = shown && shown == cpu ? "cpu" : NULL;
	*limits = cpu ? "cpu" : NULL;
	if (scope) {
		*controller = cgroup_scope_targets(scope, &nr)[0].controller;
		shown = cgroup_mount_find(m, *controller);
	}
	cgroups = cgroups_open(shown ? shown->path : NULL);
	if (cgroups && !scope && shown == v2 && cpu)
		cgroups = with_cgroups(cgroups, cpu, controller);
	if (cgroups && (!limiter || same_hierarchy(m, *controller, *limits)))
		*limits = *controller;
	else if (cgroups && cgroups_limited_by(cgroups, limiter->path, cpu ? "cpu" : "v2"))
		*limits = *controller; /* unreadable for us: treated as missing */
	if (cgroups && cgroups_charged_by(cgroups, m)) {
		cgroups_free(cgroups);
		cgroups = NULL;
		errno = ENOMEM;
	}
	if (!cgroups)
		fail(-errno, EXIT_STATUS_RUNTIME, "cannot read the cgroups: %s", strerror(errno));
	return cgroups;
}
