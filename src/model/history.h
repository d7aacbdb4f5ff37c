/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_HISTORY_H
#define SYSTOP_MODEL_HISTORY_H

/* What the files of the past share: past.c (the last ticks), record.c (a thread in one of them), history.c
 * (what rows did in all of them). */

#include "model/internal.h"

struct past_cgroup {
	struct cgroup *cgroup;
	struct cgroup_limit limit;
};

struct past_tick {
	struct tick head;  /* its arrays are those below */
	bool incomplete;
	uint8_t *threads;  /* records, see record_put() */
	size_t len, nr_threads;
	struct past_cgroup *cgroups;
	struct cpu_values *cpus;
	struct irq_values *irqs;
	struct life **stopped; /* stood stopped all the time; the other idle ones slept */
	size_t nr_stopped;
	struct tick_block *block;
	size_t bytes;
};

struct past {
	size_t bytes, bytes_max;
	uint64_t first, next; /* seq of the oldest one, and of the one to come */
	struct past_tick ticks[PAST_TICKS]; /* [seq % PAST_TICKS] */
	uint8_t *scratch;
	size_t scratch_room;
};

/* past_find - a remembered tick, NULL: it is not. */
const struct past_tick *past_find(const struct past *p, int64_t seq);

/* The most a thread takes: length, life, flags, two bitmaps, a varint for each value and count. */
#define RECORD_MAX (2 + 8 + 1 + 5 + 10 * FIELD_COUNT + 5 + 5 * HIST_SLOTS)

/* record_put - what a thread did, at @at. Returns the end of it. */
uint8_t *record_put(uint8_t *at, const struct row *r);

/* What a record says; record_next - where the next one begins. */
struct life *record_life(const uint8_t *at);
const uint8_t *record_next(const uint8_t *at);
void record_values(const uint8_t *at, struct values *v);

#endif
