/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_CAPTURE_H
#define SYSTOP_EXPORT_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"

struct trace_index;

/* A recorded window, regardless of its origin: its events, and the index that explains their ids and threads. */
struct capture {
	const struct trace_index *index;
	void *arg; /* for the next three functions; CPUs are numbered as in the index */
	/* Whether a CPU has events; since when its events are complete, CLOCK_BOOTTIME ns. */
	bool (*has)(void *arg, uint32_t cpu);
	uint64_t (*since)(void *arg, uint32_t cpu);
	/* Calls @fn for the events since @from, oldest first. @loss: is added to. Returns 0, the result of @fn, or
	 * -ENOMEM. */
	int (*events)(void *arg, uint32_t cpu, uint64_t from, event_fn *fn, void *fn_arg, struct event_loss *loss);
	/* Reports the progress of writing, 0 to 100; returns false if the trace is no longer wanted. */
	bool (*progress)(void *arg, int percent);
	void *progress_arg;
};

/* The result of writing a capture. */
struct capture_result {
	uint64_t bytes, events;
	uint64_t lost;         /* events that could not be read: overwritten meanwhile, or incomplete */
	uint64_t gaps;         /* switches whose prev is not the previous switch's next */
	uint64_t from, to;     /* the range written for all CPUs: CLOCK_BOOTTIME ns */
};

#endif
