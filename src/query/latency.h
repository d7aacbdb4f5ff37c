/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_LATENCY_H
#define SYSTOP_QUERY_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tick.h"
#include "util/map.h"

/* Durations in a range of refreshes and of slots of struct hist. */
struct latency_range {
	enum hist_id kind;
	uint64_t first, last; /* tick.seq */
	int low, high;        /* slots */
};

/* What ran instead, or what the thread waited for. */
struct latency_behind {
	char name[24]; /* fit for a terminal */
	uint64_t ns;
};

/* A thread with durations in the range, or a source of interrupts; a copy that outlives the refreshes. */
struct latency_contributor {
	struct row row;         /* first: what a list holds. For a source it is a dummy that only carries its key */
	struct life life;
	struct process process;
	struct cgroup cgroup;
	uint64_t count;
	uint64_t ns;            /* exact for sleep and D state; else an estimate from the slots */
	struct hist n;          /* only the slots of the range */
	uint64_t most_ns;       /* upper bound of each duration, and so of p99 */
	bool hidden;            /* a source whose longest interrupt in a refresh was too long for the range */
	uint64_t max_ns;        /* of a source, in these refreshes: the longest, its CPU, */
	int max_cpu;
	pid_t max_tid;          /* and the interrupted thread */
	struct latency_behind *behind; /* of runqueue waits in these refreshes, most time first */
	size_t nr_behind, behind_room;
	uint64_t behind_ns;     /* of all */
};

/* All contributors of a range, largest sum first. Initialise with zeroes. */
struct latency_contributors {
	struct latency_contributor **at; /* allocated one by one: lists point to them */
	size_t nr, room;
	struct map of;
	struct latency_range range;
	uint64_t all;           /* number of durations in the range, including those of unknown threads */
	uint64_t count, ns;     /* of the contributors */
};

/* latency_contributors_find - the owners of the durations in @r; @any is any tick. Runqueue waits cost 0.2 us per
 * thread and refresh; if @r only has more refreshes than before, only the new ones are read. 0 or -ENOMEM. */
int latency_contributors_find(struct latency_contributors *p, const struct tick *any, const struct latency_range *r);
void latency_contributors_fini(struct latency_contributors *p);

/* latency_thread_key, latency_source_key - keys of latency_contributors.of. Never 0. */
uint64_t latency_thread_key(const struct life *l);
uint64_t latency_source_key(uint16_t index);

/* latency_contributor_quantile - of its durations in the range: within a factor of two, and at most the longest one
 * and their sum. */
uint64_t latency_contributor_quantile(const struct latency_contributor *who, enum hist_id kind, double q);

/* latency_holds - whether the range contains a duration. */
bool latency_holds(const struct latency_range *r, uint64_t ns);

/* latency_is_irq - whether the contributors of a kind are sources. */
bool latency_is_irq(enum hist_id kind);

/* latency_range_text - "4.2ms-8.4ms", "<4.2ms", ">4.2ms".
 * latency_time_text - "12:03:35-12:03:39", local time, "-": not remembered. */
void latency_range_text(const struct latency_range *r, char *buf, size_t size);
void latency_time_text(const struct latency_range *r, const struct tick *any, char *buf, size_t size);

/* latency_contributors_text - "41 waits, 7 threads: api-worker 61% search 30%" of their time; "487 sleeps; threads
 * known for 185, 7 threads: ...". */
void latency_contributors_text(const struct latency_contributors *p, char *buf, size_t size);

#endif
