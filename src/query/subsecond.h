/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_SUBSECOND_H
#define SYSTOP_QUERY_SUBSECOND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"
#include "util/map.h"

struct source;

/* Parts of a second, and number of seconds kept. */
#define SUBSECOND_PARTS 200
#define SUBSECOND_PART_NS (1000000000ULL / SUBSECOND_PARTS)
#define SUBSECOND_SECONDS 180

enum subsecond_metric {
	SUBSECOND_CPU,  /* samples of CPUs */
	SUBSECOND_RUNQ, /* ns that threads waited for a CPU */
	SUBSECOND_D,    /* ns in D states that have ended */
	SUBSECOND_METRICS
};

/* What a thread does from this time on: it waits for a CPU, runs, or is blocked, in D state or not. */
struct subsecond_turn {
	uint64_t at;
	uint32_t tid;
	enum { TURN_WAITS, TURN_RUNS, TURN_STOPS, TURN_IN_D, TURN_BLOCKED } to;
};

/*
 * At which points of a second the recorder's events happened. Covers whole seconds of CLOCK_BOOTTIME, each read once. Initialise
 * with zeroes.
 */
struct subsecond {
	enum subsecond_metric metric;
	uint64_t *parts;         /* [second % SUBSECOND_SECONDS][part] */
	bool known[SUBSECOND_SECONDS];
	uint64_t from, until;    /* seconds: the range read */
	uint64_t since;          /* CLOCK_BOOTTIME ns: all events from then to the end of the range were read */
	struct map waiting;      /* SUBSECOND_RUNQ: tid -> start of its wait, ns << 1 | it was blocked since;
				  * SUBSECOND_D: tid -> start of its D state */
	struct subsecond_turn *turns, *merged; /* of the range being read, CPU by CPU; NULL afterwards */
	size_t nr_turns, turns_room;
	size_t *runs;            /* start of each CPU's turns */
	size_t nr_runs, runs_room;
	int cpu;
	struct subsecond_block {
		uint64_t since, until;
	} *blocks;               /* D states that ended in the range being read and have a stack */
	size_t nr_blocks, blocks_room;
};

/* subsecond_start - empties it; the next read begins with the second @from. 0 or -ENOMEM. */
int subsecond_start(struct subsecond *s, enum subsecond_metric metric, uint64_t from);

/* subsecond_read - reads on up to the second @until, exclusive. 0 or -errno. */
int subsecond_read(struct subsecond *s, const struct source *source, uint64_t until);

/* subsecond_sum - samples or ns in parts [@first, @first + @nr) of a second.
 * subsecond_known - whether all of the second is known. */
uint64_t subsecond_sum(const struct subsecond *s, uint64_t second, int first, int nr);
bool subsecond_known(const struct subsecond *s, uint64_t second);

/* A range of times within a range of seconds. */
struct subsecond_range {
	uint64_t first, last; /* seconds */
	uint64_t low, high;   /* ns within each: [low, high) */
};

/* subsecond_overlap - ns of [@from, @until) in the range.
 * subsecond_has - whether the range contains a time. */
uint64_t subsecond_overlap(const struct subsecond_range *r, uint64_t from, uint64_t until);
bool subsecond_has(const struct subsecond_range *r, uint64_t at);

void subsecond_fini(struct subsecond *s);

#endif
