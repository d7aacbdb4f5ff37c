/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_PAIRS_H
#define SYSTOP_QUERY_PAIRS_H

/* Threads that waited for a CPU, by process and cgroup, and what ran instead, by process name and cgroup. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/wait.h"
#include "query/subject.h"
#include "util/map.h"

struct pair {
	const struct life *victim;   /* one of its threads; NULL: victims are not separate */
	enum wait_kind kind;
	const struct life *by;       /* WAIT_BEHIND: a thread of the processes that ran */
	const struct cgroup *limit;  /* WAIT_LIMIT */
	uint64_t ns;
	uint64_t count;              /* waits that it has a part in */
	uint64_t key;                /* the same in every tick */
};

/* Initialise with zeroes. */
struct pairs {
	struct pair *at;             /* largest first */
	size_t nr, room;
	struct map index;
	uint64_t ns;                 /* of all */
	uint64_t span_ns;            /* of the refreshes covered */
};

/*
 * pairs_find - replaces the contents with the waits in the remembered refreshes up to @t. @apart: a pair for each victim, by
 * process and cgroup. @of: only of this victim, NULL: of all. O(waits). 0 or -ENOMEM.
 */
int pairs_find(struct pairs *p, const struct tick *t, bool apart, const struct subject *of);
void pairs_fini(struct pairs *p);

/* pair_name - what it waited for: "java in /batch", "ksoftirqd/1", "CPU limit of /web", "several in turn", "wakeup
 * latency".
 * pair_victim_name - the thread that waited: "java 4711 in /batch". Both are fit for a terminal. @width: cells that the
 * cgroup's path is elided or left out for, 0: no limit. */
void pair_victim_name(const struct pair *p, int width, char *buf, size_t size);
void pair_name(const struct pair *p, int width, char *buf, size_t size);

/* pair_match - item_match of pairs: whether one of both names has the text, in any case. */
bool pair_match(const void *pair, const char *search);

#endif
