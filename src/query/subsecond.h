/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_SUBSECOND_H
#define SYSTOP_QUERY_SUBSECOND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"
#include "util/map.h"

struct source;

/* Parts of a second, and how many seconds are kept. */
#define SUBSECOND_PARTS 200
#define SUBSECOND_PART_NS (1000000000ULL / SUBSECOND_PARTS)
#define SUBSECOND_SECONDS 180

enum subsecond_metric {
	SUBSECOND_CPU,  /* samples of CPUs */
	SUBSECOND_RUNQ, /* ns that threads waited for one */
	SUBSECOND_D,    /* ns in D state, of blocks that the recorder has: of 0.1 ms and more */
	SUBSECOND_METRICS
};

/* A thread waits for a CPU, or runs, from then on. */
struct subsecond_turn {
	uint64_t at;
	uint32_t tid;
	bool runs;
};

/*
 * When in their second things happened, by what the recorder has: whole seconds of CLOCK_BOOTTIME, read once each.
 * Initialise with zeroes.
 */
struct subsecond {
	enum subsecond_metric metric;
	uint64_t *parts;         /* [second % SUBSECOND_SECONDS][part] */
	bool known[SUBSECOND_SECONDS];
	uint64_t from, until;    /* seconds: what was read */
	struct map waiting;      /* tid -> since when, ns: of SUBSECOND_RUNQ */
	struct subsecond_turn *turns, *merged; /* of what is being read, CPU after CPU */
	size_t nr_turns, turns_room;
	size_t *runs;            /* where each CPU's begin */
	size_t nr_runs, runs_room;
	int cpu;
};

/* subsecond_start - forgets all; what is read next begins with the second @from. 0 or -ENOMEM. */
int subsecond_start(struct subsecond *s, enum subsecond_metric metric, uint64_t from);

/* subsecond_read - goes on up to the second @until, without it. 0 or -errno. */
int subsecond_read(struct subsecond *s, const struct source *source, uint64_t until);

/* subsecond_sum - samples or ns of a second's parts [@first, @first + @nr). subsecond_known - whether all of it is
 * known. */
uint64_t subsecond_sum(const struct subsecond *s, uint64_t second, int first, int nr);
bool subsecond_known(const struct subsecond *s, uint64_t second);

/* Times that lie in some part of some seconds. */
struct subsecond_range {
	uint64_t first, last; /* seconds */
	uint64_t low, high;   /* ns of each: [low, high) */
};

/* subsecond_overlap - ns of [@from, @until) in it; subsecond_has - whether a time is. */
uint64_t subsecond_overlap(const struct subsecond_range *r, uint64_t from, uint64_t until);
bool subsecond_has(const struct subsecond_range *r, uint64_t at);

void subsecond_fini(struct subsecond *s);

#endif
