/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_CGROUP_INTERNAL_H
#define SYSTOP_PROC_CGROUP_INTERNAL_H

/* Shared by the files of the cgroups. */

#include <dirent.h>
#include <stdbool.h>

#include "proc/cgroup.h"
#include "util/map.h"

/* The kernel's own limit is lower, but bind mounts can form a loop. */
#define CGROUP_DEPTH_MAX 64

struct node {
	struct cgroup cgroup; /* first: the public part */
	uint64_t walk;        /* the last walk that found it, or during which it was reported */
	bool unnamed;         /* only its id is known */
	bool listed;
	uint64_t quota_ns, period_ns; /* its CPU limit; 0: it has none */
	bool limit_known;     /* nr_throttled and throttled_ns hold an earlier reading */
	uint64_t nr_throttled, throttled_ns;
	bool charged;         /* levels were read */
	struct levels levels;
};

/* A cgroup that was reported before its parent. */
struct orphan {
	uint64_t id, parent;
	char *name;
};

/* A walk, which is done in slices. */
struct walk {
	uint64_t nr;          /* number of this walk, or of the last one */
	bool on;
	uint64_t began_ns, cost_ns; /* CLOCK_MONOTONIC; time used so far */
	uint64_t next_ns;     /* when the next one begins */
	struct node **todo;   /* directories to be read, the next one last */
	size_t nr_todo, todo_room;
	DIR *dir;             /* being read, NULL: none */
	struct node *of;      /* node of that directory */
};

struct cgroups {
	char *mount;          /* NULL: there is no hierarchy */
	char *prefix;         /* of paths: "cpu:", usually "" */
	struct cgroups *limits; /* the hierarchy with the CPU limits; NULL: this one */
	char *memory;         /* mount point of the hierarchy with the memory controller; NULL: there is none */
	bool memory_v1;
	size_t charged;       /* the next one in the list whose memory is read */
	struct map nodes;     /* id -> struct node */
	struct cgroup **list; /* in order */
	size_t nr, room;
	struct cgroup **fresh; /* not yet in the list */
	size_t nr_fresh, fresh_room;
	bool unordered;       /* paths in the list changed */
	struct node **gone;   /* no longer listed, but still shown */
	size_t nr_gone, gone_room;
	uint64_t changes;
	struct cgroup *root;
	struct orphan *orphans;
	size_t nr_orphans, orphans_room;
	struct walk walk;
	cgroups_ask *ask;
	void *ask_arg;
};

/* cgroup_below - the cgroup @name with this id below @parent, added or renamed if necessary. NULL: out of memory. */
struct node *cgroup_below(struct cgroups *c, struct cgroup *parent, const char *name, uint64_t id);

/* cgroups_forget - forgets the cgroups that the finished walk did not find, unless they are still shown. */
void cgroups_forget(struct cgroups *c);

/* cgroup_file_path - its path below the mount. */
const char *cgroup_file_path(const struct cgroups *c, const struct cgroup *cgroup);

/* cgroup_file_text - file_text() of a file of a cgroup; @mount: of the hierarchy. 0 also if its path is not known: the
 * one that is shown instead can be another cgroup's. */
size_t cgroup_file_text(const struct cgroups *c, const struct node *n, const char *mount, const char *name, char *text,
			size_t size);

/* cgroup_is_there - whether its folder is still its own: another cgroup can have its path by now. */
bool cgroup_is_there(const struct cgroups *c, const struct node *n);

/* cgroup_read_limit - reads its CPU limit, if it has one. */
void cgroup_read_limit(const struct cgroups *c, struct node *n);

/* walk_begin - starts a walk at the root, and drops one in progress. walk_some - continues it for @ns, 0: to the
 * end. 0 or -errno, which ends the walk. */
int walk_begin(struct cgroups *c);
int walk_some(struct cgroups *c, uint64_t ns);
void walk_fini(struct walk *w);

#endif
