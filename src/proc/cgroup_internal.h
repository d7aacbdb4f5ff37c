/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_CGROUP_INTERNAL_H
#define SYSTOP_PROC_CGROUP_INTERNAL_H

/* What the files of the cgroups share. */

#include <dirent.h>
#include <stdbool.h>

#include "proc/cgroup.h"
#include "util/map.h"

/* The kernel's own limit is lower; a loop of bind mounts is not. */
#define CGROUP_DEPTH_MAX 64

struct node {
	struct cgroup cgroup; /* first: what others see */
	uint64_t walk;        /* the last walk that found it, or the one during which it was told of */
	bool unnamed;         /* only its id is known */
	bool listed;
	uint64_t quota_ns, period_ns; /* its CPU limit; 0: it has none */
	bool limit_known;     /* nr_throttled and throttled_ns are of an earlier reading */
	uint64_t nr_throttled, throttled_ns;
};

/* A cgroup that was told of before the one it is in. */
struct orphan {
	uint64_t id, parent;
	char *name;
};

/* A walk, which goes on where the last slice of it ended. */
struct walk {
	uint64_t nr;          /* of this walk, or the last one */
	bool on;
	uint64_t began_ns, cost_ns; /* CLOCK_MONOTONIC; time that it took so far */
	uint64_t next_ns;     /* when the next one begins */
	struct node **todo;   /* directories to be read, the next one last */
	size_t nr_todo, todo_room;
	DIR *dir;             /* the one that is being read, NULL: none, */
	struct node *of;      /* and whose it is */
};

struct cgroups {
	char *mount;          /* NULL: there is no hierarchy */
	char *prefix;         /* of paths: "cpu:", most often "" */
	struct cgroups *limits; /* where the CPU limits are; NULL: here */
	struct map nodes;     /* id -> struct node */
	struct cgroup **list; /* in order */
	size_t nr, room;
	struct cgroup **fresh; /* not yet in the list */
	size_t nr_fresh, fresh_room;
	bool unordered;       /* paths in the list changed */
	struct node **gone;   /* and not listed any more, but shown */
	size_t nr_gone, gone_room;
	uint64_t changes;
	struct cgroup *root;
	struct orphan *orphans;
	size_t nr_orphans, orphans_room;
	struct walk walk;
	cgroups_ask *ask;
	void *ask_arg;
};

/* cgroup_new - a cgroup that was not known. @path is copied. NULL: out of memory. */
struct node *cgroup_new(struct cgroups *c, uint64_t id, const char *path, struct cgroup *parent);

/* cgroup_below - the cgroup called @name below another one, by its id: a new one, or one that is known by now under this
 * name. NULL: out of memory. */
struct node *cgroup_below(struct cgroups *c, struct cgroup *parent, const char *name, uint64_t id);

/* cgroups_forget - forgets the cgroups that the walk that just ended did not find, and nobody shows. */
void cgroups_forget(struct cgroups *c);

/* cgroup_read - reads a small file of a cgroup below @mount. Returns the bytes read, 0 if it is not there. */
size_t cgroup_read(const char *mount, const char *path, const char *name, char *buf, size_t size);

/* cgroup_file_path - where it is below the mount. */
const char *cgroup_file_path(const struct cgroups *c, const struct cgroup *cgroup);

/* cgroup_read_limit - reads whether it has a CPU limit, and which. */
void cgroup_read_limit(const struct cgroups *c, struct node *n);

/* walk_begin - a walk from the root on; one that is in progress ends there. walk_some - goes on with it for @ns, 0: to
 * the end. 0 or -errno, in which case it is over. */
int walk_begin(struct cgroups *c);
int walk_some(struct cgroups *c, uint64_t ns);
void walk_fini(struct walk *w);

#endif
