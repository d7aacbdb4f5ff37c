/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files of cgroups: CPU limits, and what they did. */

#include "proc/cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t cgroup_read(const char *mount, const char *path, const char *name, char *buf, size_t size)
{
	char file[4096];
	ssize_t n;
	int fd;

	if (snprintf(file, sizeof(file), "%s%s/%s", mount, path, name) >= (int)sizeof(file))
		return 0;
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	n = read(fd, buf, size - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? n : 0;
}

/* Whether the cgroup has a CPU limit: cpu.max ("max ..." is none), cpu.cfs_quota_us (-1 is none). */
bool cgroup_limited(const struct cgroups *c, const char *path)
{
	char buf[64];

	if (cgroup_read(c->mount, path, "cpu.max", buf, sizeof(buf)))
		return strncmp(buf, "max", 3);
	if (cgroup_read(c->mount, path, "cpu.cfs_quota_us", buf, sizeof(buf)) ||
	    (c->limits && cgroup_read(c->limits, path, "cpu.cfs_quota_us", buf, sizeof(buf))))
		return buf[0] != '-';
	return false;
}

/* nr_throttled and throttled_usec (v2) or throttled_time (v1, ns) of a cpu.stat. */
static bool read_stat(const struct cgroups *c, const char *path, uint64_t *nr, uint64_t *ns)
{
	char buf[1024], *at;

	if (!cgroup_read(c->mount, path, "cpu.stat", buf, sizeof(buf)) ||
	    !strstr(buf, "nr_throttled")) {
		if (!c->limits ||
		    !cgroup_read(c->limits, path, "cpu.stat", buf, sizeof(buf)))
			return false;
	}
	at = strstr(buf, "nr_throttled ");
	if (!at || sscanf(at, "nr_throttled %" SCNu64, nr) != 1)
		return false;
	if ((at = strstr(buf, "throttled_usec ")) && sscanf(at, "throttled_usec %" SCNu64, ns) == 1)
		*ns *= 1000;
	else if (!(at = strstr(buf, "throttled_time ")) ||
		 sscanf(at, "throttled_time %" SCNu64, ns) != 1)
		return false;
	return true;
}

void cgroups_limit(struct cgroups *c, struct cgroup *cgroup, bool suspect,
		   struct cgroup_limit *limit)
{
	struct node *n = (struct node *)cgroup;
	uint64_t nr, ns;

	*limit = (struct cgroup_limit){ 0, 0 };
	if (!n->limited && !suspect)
		return;
	*limit = (struct cgroup_limit){ VALUE_NA, VALUE_NA };
	if (!read_stat(c, cgroup->path, &nr, &ns)) {
		n->limit_known = false;
		return;
	}
	if (n->limit_known) {
		limit->nr_throttled = nr - n->nr_throttled;
		limit->throttled_ns = ns - n->throttled_ns;
	}
	n->limited = true;
	n->limit_known = true;
	n->nr_throttled = nr;
	n->throttled_ns = ns;
}
