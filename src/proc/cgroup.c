/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/map.h"
#include "util/vec.h"

#define WALK_EVERY_S 10
/* The kernel's own limit is lower; a loop of bind mounts is not. */
#define DEPTH_MAX 64

struct node {
	struct cgroup cgroup; /* first: what others see */
	uint64_t walk;        /* the last walk that found it */
	bool limited;         /* it has a CPU limit */
	bool limit_known;     /* nr_throttled and throttled_ns are of an earlier reading */
	uint64_t nr_throttled, throttled_ns;
};

struct cgroups {
	char *mount, *limits;
	struct map nodes;     /* id -> struct node */
	struct cgroup **list;
	size_t nr, room;
	struct cgroup *root;
	uint64_t walk;
	time_t walked;        /* CLOCK_MONOTONIC seconds */
	bool walked_for_id;   /* in this refresh: an unknown id does not cause a second walk */
};

static time_t now_s(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000000;
}

static void node_free(struct node *n)
{
	if (n->cgroup.parent)
		n->cgroup.parent->refs--;
	free((char *)n->cgroup.path);
	free(n);
}

static struct node *node_new(struct cgroups *c, uint64_t id, const char *path,
			     struct cgroup *parent)
{
	struct node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->cgroup.id = id;
	n->cgroup.path = strdup(path);
	n->cgroup.parent = parent;
	if (parent)
		parent->refs++;
	n->cgroup.depth = parent ? parent->depth + 1 : 0;
	if (!n->cgroup.path || map_put(&c->nodes, id, n)) {
		node_free(n);
		return NULL;
	}
	return n;
}

/* Reads a small file of a cgroup directory. Returns the bytes read, 0 if it is not there. */
static size_t read_file(const char *dir, const char *path, const char *name, char *buf, size_t size)
{
	char file[4096];
	ssize_t n;
	int fd;

	if (snprintf(file, sizeof(file), "%s%s/%s", dir, path, name) >= (int)sizeof(file))
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
static bool read_limited(const struct cgroups *c, const char *path)
{
	char buf[64];

	if (read_file(c->mount, path, "cpu.max", buf, sizeof(buf)))
		return strncmp(buf, "max", 3);
	if (read_file(c->mount, path, "cpu.cfs_quota_us", buf, sizeof(buf)) ||
	    (c->limits && read_file(c->limits, path, "cpu.cfs_quota_us", buf, sizeof(buf))))
		return buf[0] != '-';
	return false;
}

static int walk(struct cgroups *c, int fd, uint64_t id, const char *path, struct cgroup *parent);

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The subdirectories' names, sorted. */
static int read_children(DIR *dir, char ***names, size_t *nr)
{
	size_t room = 0;
	struct dirent *d;

	*names = NULL;
	*nr = 0;
	while ((d = readdir(dir))) {
		char *name;

		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		name = strdup(d->d_name);
		if (!name || VEC_PUSH(*names, *nr, room, name)) {
			free(name);
			return -ENOMEM;
		}
	}
	if (*nr)
		qsort(*names, *nr, sizeof(**names), by_name);
	return 0;
}

static int walk_child(struct cgroups *c, int dir_fd, const char *name, struct cgroup *parent)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;
	struct stat st;
	char *path;

	if (fd < 0)
		return 0; /* gone meanwhile */
	if (fstat(fd, &st)) {
		close(fd);
		return 0;
	}
	if (asprintf(&path, "%s/%s", parent->parent ? parent->path : "", name) < 0) {
		close(fd);
		return -ENOMEM;
	}
	err = walk(c, fd, st.st_ino, path, parent);
	free(path);
	return err;
}

/* Enters a directory and everything below it. Takes @fd. */
static int walk(struct cgroups *c, int fd, uint64_t id, const char *path, struct cgroup *parent)
{
	struct node *n = map_get(&c->nodes, id);
	DIR *dir = fdopendir(fd);
	char **names;
	size_t nr;
	int err;

	if (!dir) {
		close(fd);
		return -errno;
	}
	if (n && strcmp(n->cgroup.path, path)) { /* a v1 cgroup or one above it was renamed */
		char *renamed = strdup(path);

		if (renamed) {
			free((char *)n->cgroup.path);
			n->cgroup.path = renamed;
		}
	}
	if (!n)
		n = node_new(c, id, path, parent);
	err = n ? VEC_PUSH(c->list, c->nr, c->room, &n->cgroup) : -ENOMEM;
	if (err) {
		closedir(dir);
		return err;
	}
	n->walk = c->walk;
	n->limited = read_limited(c, path);
	err = read_children(dir, &names, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (!err && n->cgroup.depth < DEPTH_MAX)
			err = walk_child(c, dirfd(dir), names[i], &n->cgroup);
		free(names[i]);
	}
	free(names);
	closedir(dir);
	return err;
}

/* Cgroups that the walk did not find: listed while somebody shows them, then forgotten. */
static int keep_gone(struct cgroups *c)
{
	int err = 0;

	for (size_t i = 0; !err && i < c->nodes.room; i++) {
		struct node *n = c->nodes.entries[i].value;

		if (!n || n->walk == c->walk)
			continue;
		if (n->cgroup.refs) {
			err = VEC_PUSH(c->list, c->nr, c->room, &n->cgroup);
			continue;
		}
		map_del(&c->nodes, n->cgroup.id);
		node_free(n);
		i--; /* another entry may have moved into its place */
	}
	return err;
}

static int by_tree(const void *a, const void *b)
{
	const unsigned char *pa = (const unsigned char *)(*(struct cgroup *const *)a)->path;
	const unsigned char *pb = (const unsigned char *)(*(struct cgroup *const *)b)->path;

	while (*pa && *pa == *pb) {
		pa++;
		pb++;
	}
	/* '/' before everything else: what is below a cgroup stands right behind it. */
	return (*pa == '/' ? 1 : *pa ? *pa + 1 : 0) - (*pb == '/' ? 1 : *pb ? *pb + 1 : 0);
}

static int walk_all(struct cgroups *c)
{
	int fd = open(c->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	c->walk++;
	c->nr = 0;
	err = walk(c, fd, st.st_ino, "/", NULL);
	if (!err)
		err = keep_gone(c);
	if (c->nr) {
		c->root = c->list[0];
		qsort(c->list, c->nr, sizeof(*c->list), by_tree);
	}
	c->walked = now_s();
	return err;
}

struct cgroups *cgroups_open(const char *mount, const char *limits)
{
	struct cgroups *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		return NULL;
	c->mount = strdup(mount);
	c->limits = limits ? strdup(limits) : NULL;
	if (c->mount && (c->limits || !limits))
		err = walk_all(c);
	if (!err)
		return c;
	cgroups_free(c);
	errno = -err;
	return NULL;
}

void cgroups_free(struct cgroups *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nodes.room; i++) {
		struct node *n = c->nodes.entries[i].value;

		if (n) {
			n->cgroup.parent = NULL; /* may be freed already */
			node_free(n);
		}
	}
	map_fini(&c->nodes);
	free(c->list);
	free(c->mount);
	free(c->limits);
	free(c);
}

void cgroups_refresh(struct cgroups *c, bool now)
{
	c->walked_for_id = now;
	if (now || now_s() - c->walked >= WALK_EVERY_S)
		walk_all(c);
}

uint64_t cgroups_threads(const struct cgroups *c, const struct cgroup *cgroup)
{
	static const char *const names[] = { "cgroup.threads", "tasks" };
	char *file, *line = NULL;
	uint64_t threads = 0;
	size_t size = 0;
	FILE *f = NULL;

	for (int i = 0; !f && i < 2; i++) {
		if (asprintf(&file, "%s%s/%s", c->mount, cgroup->path, names[i]) < 0)
			return 0;
		f = fopen(file, "re");
		free(file);
	}
	while (f && getline(&line, &size, f) > 0)
		threads++;
	free(line);
	if (f)
		fclose(f);
	return threads;
}

struct cgroup *cgroups_find(struct cgroups *c, uint64_t id)
{
	struct node *n = map_get(&c->nodes, id);
	char path[32];

	if (!n && !c->walked_for_id) {
		c->walked_for_id = true;
		walk_all(c);
		n = map_get(&c->nodes, id);
	}
	if (n)
		return &n->cgroup;
	if (!id)
		return c->root;
	snprintf(path, sizeof(path), "/?%" PRIu64, id);
	n = node_new(c, id, path, c->root);
	if (!n || VEC_PUSH(c->list, c->nr, c->room, &n->cgroup))
		return c->root;
	return &n->cgroup;
}

struct cgroup *const *cgroups_list(struct cgroups *c, size_t *nr)
{
	*nr = c->nr;
	return c->list;
}

/* nr_throttled and throttled_usec (v2) or throttled_time (v1, ns) of a cpu.stat. */
static bool read_stat(const struct cgroups *c, const char *path, uint64_t *nr, uint64_t *ns)
{
	char buf[1024], *at;

	if (!read_file(c->mount, path, "cpu.stat", buf, sizeof(buf)) ||
	    !strstr(buf, "nr_throttled")) {
		if (!c->limits ||
		    !read_file(c->limits, path, "cpu.stat", buf, sizeof(buf)))
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
