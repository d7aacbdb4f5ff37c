/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/owner.h"
#include "proc/owner_path.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/vec.h"

/* Id of the root of every hierarchy, and of the root if there is none. */
#define ROOT_ID 1

/* Length of a slice of a walk. */
#define SLICE_NS 3000000

/* Maximum number of cgroups waiting for their parents to be reported. */
#define ORPHANS_MAX 4096

static void node_free(struct node *n)
{
	if (n->cgroup.parent)
		n->cgroup.parent->refs--;
	cgroup_own(&n->cgroup, NULL);
	free((char *)n->cgroup.path);
	free(n);
}

static int list_add(struct cgroups *c, struct node *n)
{
	if (VEC_PUSH(c->fresh, c->nr_fresh, c->fresh_room, &n->cgroup))
		return -ENOMEM;
	n->listed = true;
	c->changes++;
	return 0;
}

/* Adds an unknown cgroup. @path is copied. NULL: out of memory. */
static struct node *cgroup_new(struct cgroups *c, uint64_t id, const char *path, struct cgroup *parent)
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
	n->cgroup.aside = *c->prefix;
	cgroup_own(&n->cgroup, owner_of_path(path));
	n->walk = c->walk.nr;
	if (!n->cgroup.path || list_add(c, n)) {
		node_free(n);
		return NULL;
	}
	if (map_put(&c->nodes, id, n)) {
		c->nr_fresh--;
		node_free(n);
		return NULL;
	}
	return n;
}

/* A v1 cgroup or an ancestor was renamed, or an unnamed one's name has become known. */
static void node_move(struct cgroups *c, struct node *n, const char *path, struct cgroup *parent)
{
	char *copy = strdup(path);

	if (!copy)
		return;
	free((char *)n->cgroup.path);
	n->cgroup.path = copy;
	cgroup_own(&n->cgroup, owner_of_path(copy));
	n->unnamed = false;
	if (n->cgroup.parent != parent) {
		if (n->cgroup.parent)
			n->cgroup.parent->refs--;
		parent->refs++;
		n->cgroup.parent = parent;
		n->cgroup.depth = parent->depth + 1;
	}
	c->unordered = true;
	c->changes++;
}

/* Adds a cgroup of which only the id is known. */
static struct node *node_unnamed(struct cgroups *c, uint64_t id)
{
	char path[48];
	struct node *n;

	snprintf(path, sizeof(path), "%.16s/?%" PRIu64, c->prefix, id);
	n = cgroup_new(c, id, path, c->root);
	if (n)
		n->unnamed = true;
	return n;
}

struct node *cgroup_below(struct cgroups *c, struct cgroup *parent, const char *name, uint64_t id)
{
	struct node *n = map_get(&c->nodes, id);
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", parent->parent ? parent->path : c->prefix, name) >= (int)sizeof(path))
		return n ? n : node_unnamed(c, id);
	if (!n)
		return cgroup_new(c, id, path, parent);
	if (strcmp(n->cgroup.path, path))
		node_move(c, n, path, parent);
	if (!n->listed)
		list_add(c, n);
	return n;
}

/* --- The list */

static int by_tree(const void *a, const void *b)
{
	const unsigned char *pa = (const unsigned char *)(*(struct cgroup *const *)a)->path;
	const unsigned char *pb = (const unsigned char *)(*(struct cgroup *const *)b)->path;

	while (*pa && *pa == *pb) {
		pa++;
		pb++;
	}
	/* '/' sorts before everything else: descendants of a cgroup follow it directly. */
	return (*pa == '/' ? 1 : *pa ? *pa + 1 : 0) - (*pb == '/' ? 1 : *pb ? *pb + 1 : 0);
}

/* A cgroup that was removed and made again is listed twice while the old one has threads. What was read of the old one no longer
 * holds, and its next turn may be far. */
static void forget_charge(struct cgroup *cgroup)
{
	((struct node *)cgroup)->charged = false;
}

/* Merges new cgroups into the list. */
static void order(struct cgroups *c)
{
	size_t from = c->nr, fresh = c->nr_fresh, at;
	int err = 0;

	for (size_t i = 0; !err && i < fresh; i++)
		err = VEC_PUSH(c->list, c->nr, c->room, c->fresh[i]);
	if (err) {
		c->nr = from;
		return;
	}
	c->nr_fresh = 0;
	if (c->unordered || fresh > from) {
		qsort(c->list, c->nr, sizeof(*c->list), by_tree);
		c->unordered = false;
		for (size_t i = 1; i < c->nr; i++)
			if (!by_tree(&c->list[i - 1], &c->list[i])) {
				forget_charge(c->list[i - 1]);
				forget_charge(c->list[i]);
			}
		return;
	}
	/* From the end, so that each one moves only once. */
	qsort(c->fresh, fresh, sizeof(*c->fresh), by_tree);
	for (at = c->nr; fresh; at--) {
		int way = from ? by_tree(&c->list[from - 1], &c->fresh[fresh - 1]) : -1;

		if (!way)
			forget_charge(c->list[from - 1]);
		if (way > 0)
			c->list[at - 1] = c->list[--from];
		else
			c->list[at - 1] = c->fresh[--fresh];
	}
}

struct cgroup *const *cgroups_list(struct cgroups *c, size_t *nr)
{
	if (c->nr_fresh || c->unordered)
		order(c);
	*nr = c->nr;
	return c->list;
}

uint64_t cgroups_changes(const struct cgroups *c)
{
	return c->changes;
}

/* --- Removed cgroups are listed while threads are in them, and kept while they are shown. */

static bool free_gone(struct cgroups *c, struct node *n)
{
	if (n->cgroup.refs)
		return false;
	map_del(&c->nodes, n->cgroup.id);
	node_free(n);
	return true;
}

static void forget_unlisted(struct cgroups *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->nr_gone; i++) {
		struct node *n = c->gone[i];

		if (!n->listed && !free_gone(c, n)) /* a listed one was met again */
			c->gone[kept++] = n;
	}
	c->nr_gone = kept;
}

void cgroups_forget(struct cgroups *c)
{
	size_t nr, kept = 0;

	for (size_t i = 0; i < c->nr_orphans; i++)
		free(c->orphans[i].name);
	c->nr_orphans = 0;
	forget_unlisted(c);
	cgroups_list(c, &nr);
	if (c->nr_fresh) /* no memory for putting them into the list */
		return;
	/* Children come after their parents, so they are forgotten first. */
	for (size_t i = nr; i-- > 0;) {
		struct node *n = (struct node *)c->list[i];

		if (n->walk == c->walk.nr || n->cgroup.living || &n->cgroup == c->root)
			continue;
		if (!free_gone(c, n)) {
			if (VEC_PUSH(c->gone, c->nr_gone, c->gone_room, n))
				continue;
			n->listed = false;
		}
		c->list[i] = NULL;
	}
	for (size_t i = 0; i < nr; i++)
		if (c->list[i])
			c->list[kept++] = c->list[i];
	c->changes += kept != nr;
	c->nr = kept;
}

/* --- Reported cgroups of threads */

void cgroups_ask_with(struct cgroups *c, cgroups_ask *ask, void *arg)
{
	c->ask = ask;
	c->ask_arg = arg;
}

/* Adds orphans whose parent is known, the last ones first: a cgroup's ancestors are reported after it. */
static bool adopt(struct cgroups *c)
{
	size_t kept = 0, nr = c->nr_orphans;

	for (size_t i = nr; i-- > 0;) {
		struct orphan *o = &c->orphans[i];
		struct node *parent = map_get(&c->nodes, o->parent), *n;

		if (!parent || parent->unnamed)
			continue;
		n = cgroup_below(c, &parent->cgroup, o->name, o->id);
		if (n) {
			n->walk = c->walk.nr;
			cgroup_read_limit(c, n);
		}
		free(o->name);
		o->name = NULL;
	}
	for (size_t i = 0; i < nr; i++)
		if (c->orphans[i].name)
			c->orphans[kept++] = c->orphans[i];
	c->nr_orphans = kept;
	return kept && kept < nr;
}

void cgroups_report(struct cgroups *c, uint64_t id, uint64_t parent, const char *name)
{
	struct node *n = map_get(&c->nodes, id);
	struct orphan o = { .id = id, .parent = parent };

	if ((n && !n->unnamed) || !id || !parent || !*name || c->nr_orphans == ORPHANS_MAX)
		return;
	o.name = strdup(name);
	if (!o.name || VEC_PUSH(c->orphans, c->nr_orphans, c->orphans_room, o))
		free(o.name);
}

/* Fetches the reports. */
static void ask(struct cgroups *c)
{
	if (!c->ask)
		return;
	c->ask(c->ask_arg);
	while (adopt(c))
		;
}

/* --- Opening and closing */

/* Finds a readable directory. 0 or -errno. */
static int look_at(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, st) ? -errno : 0;
	close(fd);
	return err;
}

static int open_root(struct cgroups *c)
{
	struct stat st = { .st_ino = ROOT_ID };
	struct node *n;
	char *path;
	int err = c->mount ? look_at(c->mount, &st) : 0;

	if (err)
		return err;
	if (asprintf(&path, "%s/", c->prefix) < 0)
		return -ENOMEM;
	n = cgroup_new(c, st.st_ino, path, NULL);
	free(path);
	if (!n)
		return -ENOMEM;
	c->root = &n->cgroup;
	return 0;
}

/* @name: paths begin with it and a colon; "": with neither. */
static struct cgroups *open_named(const char *mount, const char *name)
{
	struct cgroups *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		return NULL;
	c->mount = mount ? strdup(mount) : NULL;
	if (asprintf(&c->prefix, "%s%s", name, *name ? ":" : "") < 0)
		c->prefix = NULL;
	if ((c->mount || !mount) && c->prefix)
		err = open_root(c);
	if (!err && mount)
		err = walk_begin(c);
	if (!err && mount)
		err = walk_some(c, 0);
	if (!err)
		return c;
	cgroups_free(c);
	errno = -err;
	return NULL;
}

struct cgroups *cgroups_open(const char *mount)
{
	return open_named(mount, "");
}

int cgroups_limited_by(struct cgroups *c, const char *mount, const char *name)
{
	c->limits = open_named(mount, name);
	return c->limits ? 0 : -errno;
}

struct cgroups *cgroups_limits(const struct cgroups *c)
{
	return c->limits;
}

void cgroups_free(struct cgroups *c)
{
	struct node *n;

	if (!c)
		return;
	cgroups_free(c->limits);
	walk_fini(&c->walk);
	MAP_EACH (&c->nodes, n) {
		n->cgroup.parent = NULL; /* it may be freed already */
		node_free(n);
	}
	for (size_t i = 0; i < c->nr_orphans; i++)
		free(c->orphans[i].name);
	map_fini(&c->nodes);
	free(c->gone);
	free(c->orphans);
	free(c->fresh);
	free(c->list);
	free(c->memory);
	free(c->mount);
	free(c->prefix);
	free(c);
}

bool cgroups_walking(const struct cgroups *c)
{
	return c->walk.on || (c->limits && cgroups_walking(c->limits));
}

void cgroups_work(struct cgroups *c, bool now)
{
	struct walk *w = &c->walk;

	if (!c->mount)
		return;
	ask(c);
	if (!w->on && (now || clock_ns(CLOCK_MONOTONIC) >= w->next_ns) && walk_begin(c))
		return;
	if (w->on)
		walk_some(c, SLICE_NS);
	if (c->limits)
		cgroups_work(c->limits, now);
}

uint64_t cgroups_threads(const struct cgroups *c, const struct cgroup *cgroup)
{
	static const char *const names[] = { "cgroup.threads", "tasks" };
	uint64_t threads = 0;
	char *line = NULL;
	size_t size = 0;
	FILE *f = NULL;

	if (((const struct node *)cgroup)->unnamed)
		return 0;
	for (int i = 0; !f && i < 2; i++)
		f = file_open("%s%s/%s", c->mount, cgroup_file_path(c, cgroup), names[i]);
	while (f && getline(&line, &size, f) > 0)
		threads++;
	free(line);
	if (f)
		fclose(f);
	return threads;
}

bool cgroups_partial(const struct cgroups *c)
{
	return c->root->id != ROOT_ID;
}

struct cgroup *cgroups_find(struct cgroups *c, uint64_t id)
{
	struct node *n = map_get(&c->nodes, id);

	if (!id || !c->mount)
		return c->root;
	if (!n || n->unnamed) {
		ask(c);
		n = map_get(&c->nodes, id);
	}
	if (!n)
		n = node_unnamed(c, id);
	else if (!n->listed && !list_add(c, n))
		n->walk = c->walk.nr;
	return n && n->listed ? &n->cgroup : c->root;
}
