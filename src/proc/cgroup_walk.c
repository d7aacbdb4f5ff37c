/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the directories of a hierarchy in slices. */

#include "proc/cgroup_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/vec.h"

/* Steps between two reads of the clock. */
#define STEPS 16

/* Time between the beginnings of two walks: at least this, and so that walks take at most 1 % of a CPU. */
#define WALK_EVERY_NS 10000000000ULL
#define WALK_SHARE 100

static void close_dir(struct walk *w)
{
	if (w->dir)
		closedir(w->dir);
	w->dir = NULL;
	w->of = NULL;
}

void walk_fini(struct walk *w)
{
	close_dir(w);
	free(w->todo);
	w->todo = NULL;
	w->nr_todo = w->todo_room = 0;
	w->on = false;
}

int walk_begin(struct cgroups *c)
{
	struct walk *w = &c->walk;

	close_dir(w);
	w->nr_todo = 0;
	w->nr++;
	w->on = true;
	w->began_ns = clock_ns(CLOCK_MONOTONIC);
	w->cost_ns = 0;
	return VEC_PUSH(w->todo, w->nr_todo, w->todo_room, (struct node *)c->root);
}

static int open_of(const struct cgroups *c, const struct node *n)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s%s", c->mount, cgroup_file_path(c, &n->cgroup)) >= (int)sizeof(path))
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Starts reading a directory, if it still exists. */
static int enter(struct cgroups *c, struct node *n)
{
	int fd = open_of(c, n);
	struct stat st;

	if (fd < 0) {
		if (errno == EACCES)
			n->walk = c->walk.nr;
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
	}
	if (fstat(fd, &st) || st.st_ino != n->cgroup.id) {
		close(fd);
		return 0;
	}
	n->walk = c->walk.nr;
	cgroup_read_limit(c, n);
	/* Just two links: it has no subdirectories. */
	if (st.st_nlink == 2 || n->cgroup.depth >= CGROUP_DEPTH_MAX) {
		close(fd);
		return 0;
	}
	c->walk.dir = fdopendir(fd);
	c->walk.of = n;
	if (c->walk.dir)
		return 0;
	close(fd);
	return -ENOMEM;
}

/* Reads one entry of the current directory, or opens the next directory. */
static int step(struct cgroups *c)
{
	struct walk *w = &c->walk;
	struct dirent *d;
	struct node *n;

	if (!w->dir)
		return enter(c, w->todo[--w->nr_todo]);
	d = readdir(w->dir);
	if (!d) {
		close_dir(w);
		return 0;
	}
	if (d->d_type != DT_DIR || !strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
		return 0;
	n = cgroup_below(c, &w->of->cgroup, d->d_name, d->d_ino);
	return n ? VEC_PUSH(w->todo, w->nr_todo, w->todo_room, n) : -ENOMEM;
}

static void end(struct walk *w)
{
	uint64_t every = w->cost_ns * WALK_SHARE;

	close_dir(w);
	w->nr_todo = 0;
	w->on = false;
	w->next_ns = w->began_ns + (every > WALK_EVERY_NS ? every : WALK_EVERY_NS);
}

int walk_some(struct cgroups *c, uint64_t ns)
{
	struct walk *w = &c->walk;
	uint64_t began = clock_ns(CLOCK_MONOTONIC), now = began;
	int err = 0;

	while (!err && (w->dir || w->nr_todo) && (!ns || now - began < ns)) {
		for (int i = 0; !err && i < STEPS && (w->dir || w->nr_todo); i++)
			err = step(c);
		now = clock_ns(CLOCK_MONOTONIC);
	}
	w->cost_ns += now - began;
	if (!err && (w->dir || w->nr_todo))
		return 0;
	end(w);
	if (!err)
		cgroups_forget(c);
	return err;
}
