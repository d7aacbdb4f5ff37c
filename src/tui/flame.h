/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_FLAME_H
#define SYSTOP_TUI_FLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/subject.h"
#include "util/map.h"

struct host;
struct stack;
struct symbol;
struct tick;

/* What is put together: one kind of time (model/sample.h), or all of them. */
enum flame_metric { FLAME_CPU, FLAME_RUNQ, FLAME_SLEEP, FLAME_D, FLAME_WALL, FLAME_METRICS };
extern const char *const flame_metric_names[FLAME_METRICS];

/* What threads stand at the root for themselves. */
enum flame_merge { FLAME_MERGE_ALL, FLAME_MERGE_PROCESS, FLAME_MERGE_THREAD, FLAME_MERGES };

struct flame_options {
	enum flame_metric metric;
	enum flame_merge merge;
	bool inverted;                /* innermost first: who is busy, and below it who called */
	bool hide_kernel, hide_user;
	size_t ticks;                 /* of the past, up to the one shown */
};

/* A function in the place where it was called from. Node 0 is the root; children are sorted, the
 * heaviest first. */
struct flame_node {
	const struct symbol *symbol; /* NULL: see text */
	const char *text;            /* of nodes that are no function: "[no stack]", a thread's name */
	uint64_t frame;              /* one of it */
	uint32_t tgid;
	uint64_t total, self;        /* ns */
	uint64_t count;              /* samples or blocks */
	uint64_t key;                /* equal for the same place in another flame */
	int parent, child, next;     /* -1: none */
	int depth;
};

/* Where the time of a thread, process, cgroup or everything went, as a tree of calls. Initialise with
 * zeroes. */
struct flame {
	struct flame_node *nodes;
	size_t nr, room;
	struct map places;   /* key -> node + 1 */
	int depth;           /* of the deepest node */
	/* By weight, of all that is not idle: what of the stacks is known. They add up. */
	uint64_t complete, truncated, without;
	char names[64][32];  /* of threads and processes at the root */
	int nr_names;
};

/* flame_build - anew, from the refreshes up to @t. 0 or -ENOMEM. */
int flame_build(struct flame *f, const struct tick *t, const struct subject *of,
		const struct flame_options *o, const struct host *host);
void flame_fini(struct flame *f);

/* flame_find - the node with this key, -1: none. */
int flame_find(const struct flame *f, uint64_t key);

/* flame_name - what stands in its box; raw bytes. */
const char *flame_name(const struct flame_node *n);

#endif
