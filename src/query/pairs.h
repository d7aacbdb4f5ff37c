/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_PAIRS_H
#define SYSTOP_QUERY_PAIRS_H

/* Who waited for a CPU, by process and cgroup, and who ran instead, by their processes' name and cgroup. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/wait.h"
#include "util/map.h"

struct pair {
	const struct life *victim;   /* one of its threads; NULL: victims are not told apart */
	enum wait_kind kind;
	const struct life *by;       /* WAIT_BEHIND: one of the threads of the processes that ran */
	const struct cgroup *limit;  /* WAIT_LIMIT */
	uint64_t ns;
	uint64_t count;              /* waits that have a part in it */
	uint64_t key;                /* the same in every tick */
};

/* Initialise with zeroes. */
struct pairs {
	struct pair *at;             /* the largest first, once they are sorted */
	size_t nr, room;
	struct map index;
	uint64_t ns;                 /* of all */
	uint64_t span_ns;            /* of the refreshes they are of */
};

/* Whether a thread is one of the victims that are asked for. */
typedef bool pairs_wants(const void *arg, const struct life *victim);

/*
 * pairs_add - the waits of the last @ticks refreshes up to @t, as far as they are remembered. @apart: victims are told
 * apart, by process and cgroup. O(waits). 0 or -ENOMEM. pairs_sort - once all is added.
 */
int pairs_add(struct pairs *p, const struct tick *t, uint64_t ticks, bool apart, pairs_wants *wants, const void *arg);
void pairs_sort(struct pairs *p);
void pairs_fini(struct pairs *p);

/* pair_name - what it waited for: "java in /batch", "ksoftirqd/1", "CPU limit of /web", "several in turn",
 * "wakeup latency". pair_victim_name - who waited: "java 4711 in /batch". Both are fit for a terminal. */
void pair_victim_name(const struct pair *p, char *buf, size_t size);
void pair_name(const struct pair *p, char *buf, size_t size);

#endif
