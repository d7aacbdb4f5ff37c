/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files of cgroups: CPU limits and their effects. */

#include "proc/cgroup_internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util/file.h"
#include "util/text.h"

const char *cgroup_file_path(const struct cgroups *c, const struct cgroup *cgroup)
{
	return cgroup->path + strlen(c->prefix);
}

size_t cgroup_file_text(const struct cgroups *c, const struct node *n, const char *mount, const char *name, char *text,
			size_t size)
{
	return n->unnamed ? 0 : file_text(text, size, "%s%s/%s", mount, cgroup_file_path(c, &n->cgroup), name);
}

/* v2: "QUOTA PERIOD" in cpu.max, in us, "max ..." means none; v1: one file each, -1 means none. */
void cgroup_read_limit(const struct cgroups *c, struct node *n)
{
	uint64_t quota = 0, period = 0;
	char buf[64];

	if (cgroup_file_text(c, n, c->mount, "cpu.max", buf, sizeof(buf))) {
		if (sscanf(buf, "%" SCNu64 " %" SCNu64, &quota, &period) != 2)
			quota = 0;
	} else if (cgroup_file_text(c, n, c->mount, "cpu.cfs_quota_us", buf, sizeof(buf)) && buf[0] != '-' &&
		   sscanf(buf, "%" SCNu64, &quota) == 1) {
		if (!cgroup_file_text(c, n, c->mount, "cpu.cfs_period_us", buf, sizeof(buf)) ||
		    sscanf(buf, "%" SCNu64, &period) != 1)
			quota = 0;
	}
	n->quota_ns = quota * 1000;
	n->period_ns = quota ? period * 1000 : 0;
}

/* Reads nr_throttled and throttled_usec (v2) or throttled_time (v1, ns) of a cpu.stat. */
static bool read_stat(const struct cgroups *c, const struct node *n, uint64_t *nr, uint64_t *ns)
{
	char buf[1024];

	if (!cgroup_file_text(c, n, c->mount, "cpu.stat", buf, sizeof(buf)) || !text_number(buf, "nr_throttled", nr))
		return false;
	if (!text_number(buf, "throttled_usec", ns))
		return text_number(buf, "throttled_time", ns);
	*ns *= 1000;
	return true;
}

void cgroups_suspect(const struct cgroups *c, struct cgroup *cgroup)
{
	for (; cgroup; cgroup = cgroup->parent)
		if (!((struct node *)cgroup)->quota_ns)
			cgroup_read_limit(c, (struct node *)cgroup);
}

bool cgroups_below_limit(const struct cgroup *cgroup)
{
	for (; cgroup; cgroup = cgroup->parent)
		if (((const struct node *)cgroup)->quota_ns)
			return true;
	return false;
}

bool cgroup_is_there(const struct cgroups *c, const struct node *n)
{
	char path[2 * PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", c->mount, cgroup_file_path(c, &n->cgroup));
	return !stat(path, &st) && st.st_ino == n->cgroup.id;
}

void cgroups_limit(struct cgroups *c, struct cgroup *cgroup, struct cgroup_limit *limit)
{
	struct node *n = (struct node *)cgroup;
	uint64_t nr, ns;

	*limit = (struct cgroup_limit){ 0 };
	if (!n->quota_ns)
		return;
	limit->quota_ns = n->quota_ns;
	limit->period_ns = n->period_ns;
	if (n->limit_known && !cgroup->acted) /* a host can have thousands, at 20 us each */
		return;
	limit->nr_throttled = limit->throttled_ns = VALUE_NA;
	if (!cgroup_is_there(c, n) || !read_stat(c, n, &nr, &ns)) {
		n->limit_known = false;
		return;
	}
	if (n->limit_known && nr >= n->nr_throttled && ns >= n->throttled_ns) {
		limit->nr_throttled = nr - n->nr_throttled;
		limit->throttled_ns = ns - n->throttled_ns;
	}
	n->limit_known = true;
	n->nr_throttled = nr;
	n->throttled_ns = ns;
}
