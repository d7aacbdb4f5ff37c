/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_STACKS_INTERNAL_H
#define SYSTOP_COLLECT_STACKS_INTERNAL_H

/* Shared by stacks.c (reading the events and their stacks) and stacks_report.c (passing them to the model). */

#include <stddef.h>
#include <stdint.h>

#include "area.h"
#include "collect/stacks.h"

struct old_stacks;

/* An event, until the tick that shows it. */
struct pending {
	struct stack_event event;
	const struct stack *user, *kernel;
	uint32_t next; /* of the same slot: index + 1, 0: none */
};

/* Where a thread's runqueue waits began, since the last event that showed it. */
struct runq_waits {
	uint32_t tid;
	uint64_t at;
	uint64_t runq_ns; /* the part of the thread's sum that has been reported */
	uint64_t user, kernel; /* model_stack_key(), as the model may drop them; 0: none */
};

struct stacks {
	struct stacks_memory mem;
	struct model *model;
	uint64_t *tails;       /* of each CPU's ring */
	uint32_t clear;        /* half to be cleared at a drain, + 1; 0: none */
	uint32_t left;         /* its generation, */
	uint64_t left_at;      /* and when it was left, CLOCK_MONOTONIC */
	int held;              /* stacks of the window are kept beyond it, see stacks_hold(); 0: they are not */
	struct old_stacks *old;
	uint32_t idle;         /* first pending event of an idle CPU, + 1; 0: none */
	struct life *idle_life;
	struct pending *pending;
	size_t nr_pending, pending_room;
	uint32_t *newest;      /* pending event of each slot, + 1; 0: none */
	struct runq_waits *waits; /* one per slot */
	uint64_t lost;
	uint64_t ends[STACK_ENDS];
};

#endif
