/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_CAPTURE_H
#define SYSTOP_EXPORT_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"

struct trace_index;

/* A window that was recorded, wherever it comes from: what happened, and the index that says of what and of whom. */
struct capture {
	const struct trace_index *index;
	void *arg; /* of the next three; CPUs are those of the index */
	/* Whether there are events of a CPU; since when there are all that happened on it, CLOCK_BOOTTIME ns. */
	bool (*has)(void *arg, uint32_t cpu);
	uint64_t (*since)(void *arg, uint32_t cpu);
	/* Those from @from on, oldest first. @loss: is added to. Returns 0, what @fn returned, or -ENOMEM. */
	int (*events)(void *arg, uint32_t cpu, uint64_t from, event_fn *fn, void *fn_arg, struct event_loss *loss);
	/* Is told what is written, of 100; returns false if it is not wanted any more. */
	bool (*progress)(void *arg, int percent);
	void *progress_arg;
};

/* What became of it. */
struct capture_result {
	uint64_t bytes, events;
	uint64_t lost;         /* events that could not be read: overwritten meanwhile, or half written */
	uint64_t gaps;         /* switches that the one before does not lead to */
	uint64_t from, to;     /* what was written of all CPUs: CLOCK_BOOTTIME ns */
};

#endif
