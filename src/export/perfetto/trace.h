/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PERFETTO_TRACE_H
#define SYSTOP_EXPORT_PERFETTO_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace_index;
struct keep_ring;

/* What became of it. */
struct trace_result {
	uint64_t bytes, events;
	uint64_t lost;         /* events that could not be read: overwritten meanwhile, or half written */
	uint64_t gaps;         /* switches that the one before does not lead to */
	uint64_t from, to;     /* what the trace holds of all CPUs: CLOCK_BOOTTIME ns */
};

/*
 * trace_write - the window as a Perfetto trace. @rings: one a CPU of the index. @progress: is told what is done, of
 * 100; it returns false if there is to be no trace. Returns 0, -ECANCELED, or -errno.
 */
typedef bool trace_progress(void *arg, int percent);
int trace_write(FILE *to, const struct trace_index *index, const struct keep_ring *rings, trace_progress *progress,
		void *arg, struct trace_result *result);

#endif
