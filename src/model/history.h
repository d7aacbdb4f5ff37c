/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_HISTORY_H
#define SYSTOP_MODEL_HISTORY_H

/* Shared by the files of the past: history.c (the last ticks), row_codec.c (a thread in one of them), row_history.c
 * (what rows did in all of them). */

#include "model/internal.h"

struct history_cgroup {
	struct cgroup *cgroup;
	struct cgroup_limit limit;
	struct levels levels;
};

struct history_tick {
	struct tick head;  /* without its arrays: they are below */
	bool incomplete;
	uint8_t *threads;  /* encoded, see row_codec_put() */
	size_t len, nr_threads;
	struct history_cgroup *cgroups;
	struct cpu_values *cpus;
	struct irq_values *irqs;
	struct life **stopped; /* stopped all the time; the other idle threads slept */
	size_t nr_stopped;
	struct tick_lists *lists;
	size_t bytes;
};

struct history {
	size_t bytes, bytes_max;
	uint64_t first, next; /* seq of the oldest tick, and of the next one */
	struct history_tick ticks[HISTORY_TICKS]; /* [seq % HISTORY_TICKS] */
	uint64_t window_ns;      /* model_window() */
	uint64_t *ends;          /* when ticks ended, CLOCK_BOOTTIME ns: remembered ones, and those of the window */
	uint64_t ends_first;     /* seq of the first one */
	size_t nr_ends, ends_room;
	uint64_t nr_early;       /* lives of the window that were dropped to make room */
	uint8_t *scratch;
	size_t scratch_room;
};

/* history_find - a remembered tick, NULL: it is not remembered. */
const struct history_tick *history_find(const struct history *p, int64_t seq);

/* Maximum size of an encoded thread: length, life, flags, bitmap of its values and ticks, a varint for each; for each histogram a
 * bitmap of its slots, a varint for each. */
#define ROW_CODEC_TICKED METRIC_COUNT /* the bit of its ticks */
#define ROW_CODEC_KNOWN (ROW_CODEC_TICKED / 8 + 1)
#define ROW_CODEC_MAX                                                                                                    \
	(2 + 8 + 1 + ROW_CODEC_KNOWN + 10 * (METRIC_COUNT + 2) + HISTS_OF_THREADS * (10 + 5 * LOG2_SLOTS))

/* row_codec_put - encodes what a thread did, at @at. Returns the end. */
uint8_t *row_codec_put(uint8_t *at, const struct row *r);

/* row_codec_life, row_codec_values - decode the thread at @at; row_codec_next - where the next one begins. */
struct life *row_codec_life(const uint8_t *at);
const uint8_t *row_codec_next(const uint8_t *at);
void row_codec_values(const uint8_t *at, struct values *v);

#endif
