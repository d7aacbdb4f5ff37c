/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_CALLTREE_H
#define SYSTOP_QUERY_CALLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/sample.h"
#include "query/stack_quality.h"
#include "query/subject.h"
#include "query/wakers.h"
#include "util/map.h"

struct source;
struct life;
struct symbol;
struct tick;

/* What stands for threads at the root. */
enum calltree_merge { CALLTREE_MERGE_ALL, CALLTREE_MERGE_PROCESS, CALLTREE_MERGE_THREAD, CALLTREE_MERGE_CGROUP,
		      CALLTREE_MERGES };

/* Part of each stack: all of it or, of stacks with the focus function, its callees or its callers. */
enum calltree_part { CALLTREE_WHOLE, CALLTREE_CALLEES, CALLTREE_CALLERS };

/* A frame, whatever its present name. */
struct calltree_frame {
	uint64_t frame;
	uint32_t tgid;
};

struct calltree_options {
	enum metric_id metric;        /* one that weighs stacks, or METRIC_WALL */
	enum calltree_merge merge;
	enum calltree_part part;
	struct calltree_frame focus;     /* CALLTREE_CALLEES and CALLTREE_CALLERS: a frame of the function */
	bool inverted;                /* the innermost function at the root, its callers below */
	bool hide_kernel, hide_user;
	uint64_t ticks;               /* number of refreshes, up to the one shown */
	/* Source of samples; NULL: the refreshes. */
	int (*samples)(void *arg, sample_fn *fn, void *fn_arg);
	void *samples_arg;
};

/* A function called from one place. Node 0 is the root; children with time are sorted, heaviest first, and precede
 * those without. */
struct calltree_node {
	const struct symbol *symbol; /* NULL: see text */
	const char *text;            /* of nodes that are not functions: "[no stack]", a thread's name */
	struct calltree_frame at;       /* one of its frames */
	uint64_t total, self;        /* in the unit of the metric */
	uint64_t count, self_count;  /* samples or blocks */
	uint64_t key;                /* equal for the same place in another tree */
	int function;                /* index in functions, -1: none */
	int parent, child, next;     /* -1: none */
	int depth;
};

/* A function, in all places. Functions with time come first, sorted by self time. */
struct calltree_function {
	const struct symbol *symbol;
	struct calltree_frame at;
	uint64_t total, self;        /* in the unit of the metric; total includes callees, once */
	uint64_t count;
	int open;                    /* used by calltree_build() only */
};

struct calltree_thread {
	const struct life *life;
	uint64_t total;
};

/* Tree of calls for the time of a thread, process, cgroup or the host. Initialise with zeroes. */
struct calltree {
	struct calltree_node *nodes;
	size_t nr, room;
	struct map places;      /* key -> node + 1 */
	struct map leaves;      /* of both stacks -> where they end: node + 1 */
	struct calltree_function *functions;
	size_t nr_functions, functions_room;
	struct map function_of; /* symbol -> function + 1 */
	struct calltree_thread *threads; /* heaviest first */
	size_t nr_threads, threads_room;
	struct map thread_of;
	struct wakers wakers;
	struct stack_quality quality; /* of the samples in the tree */
	uint64_t by_fp;         /* weight of stacks with callers found by frame pointers */
	struct map names;       /* hash -> name of a thread, process or cgroup at the root */
	struct calltree_options built; /* options it was built with */
	uint64_t generation;    /* of the names */
	uint64_t nr_options;    /* times that it was built with other options than before: it is another tree then */
};

/*
 * calltree_build - from the refreshes up to @t. Nodes of the previous build stay, without time: keys are valid until
 * the options or names change. Cost: about 0.1 us per sample, 0.1 us per frame of a new stack. 0 or -ENOMEM.
 * calltree_is_built - whether it has these options and the present names.
 */
int calltree_build(struct calltree *f, const struct tick *t, const struct subject *of,
		   const struct calltree_options *o, const struct source *source);
bool calltree_is_built(const struct calltree *f, const struct calltree_options *o, const struct source *source);
void calltree_fini(struct calltree *f);

/* calltree_functions - computes the totals of functions and sorts them. 0 or -ENOMEM. */
int calltree_functions(struct calltree *f);

/* calltree_find - the node with this key, -1: none. */
int calltree_find(const struct calltree *f, uint64_t key);

/* calltree_key_now - the key that the place of node @key has by present names, in a tree that was built with earlier ones: frames
 * keep their identity when names change. @key itself if there is no such node. */
uint64_t calltree_key_now(const struct calltree *f, uint64_t key, const struct source *source);

/* calltree_what - what a node's key adds to its parent's: stands for its function or, with @symbol NULL, for its text. */
uint64_t calltree_what(const struct symbol *symbol, const char *text);

/* calltree_name - the text of its box; raw bytes. */
const char *calltree_name(const struct calltree_node *n);

/* A stored tree to compare with. Initialise with zeroes. */
struct calltree_base {
	struct calltree_base_node {
		struct calltree_frame at;
		uint64_t what;     /* calltree_what() by the names at that generation, */
		uint64_t key;      /* and its place's key */
		uint64_t own, total; /* time when stored; the same with nodes that have the same names now */
		int parent;
		bool function, named;
	} *nodes;
	size_t nr;
	struct map shares;     /* key, by present names -> node + 1 */
	uint64_t generation;
	struct calltree_file {
		char name[64], build_id[80];
	} *builds;             /* the files of its functions, each build once */
	size_t nr_builds, builds_room;
};

/* calltree_base_set - stores a copy of the tree. 0 or -ENOMEM.
 * calltree_base_share - the share of its root that a place had.
 * calltree_base_changed - finds a file of which the tree has a build that the stored tree lacks: only functions with names
 * are the same in both. @file: its name, raw bytes. False: there is none. */
int calltree_base_set(struct calltree_base *b, const struct calltree *f, const struct source *source);
double calltree_base_share(struct calltree_base *b, uint64_t key, const struct source *source);
bool calltree_base_changed(const struct calltree_base *b, const struct calltree *f, const struct source *source, char *file,
			   size_t size);
void calltree_base_fini(struct calltree_base *b);

#endif
