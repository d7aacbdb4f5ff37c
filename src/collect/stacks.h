/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_STACKS_H
#define SYSTOP_COLLECT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/sample.h"
#include "slot.h"

struct cgroup;
struct cpu_area;
struct health;
struct stacks;
struct values;

/* Memory that the BPF programs write, mapped into this process. */
struct stacks_memory {
	uint32_t index_bits;              /* of stack ids: the size of the dictionary */
	struct stack_entry *entries;      /* 2 * STACK_HALF() */
	const struct stack_line *lines;   /* 2 * STACK_LINES_HALF() */
	uint64_t window_ns;               /* how long stacks_each() keeps stacks that were cleared, */
	uint64_t old_bytes;               /* and their maximum size */
	struct cpu_area *const *areas;    /* one per possible CPU; NULL: it was never online */
	struct cpu_slot *cpus;
	int nr_cpus;
	uint32_t max_slots;
	struct shared *shared;
};

/* stacks_new - turns events with stacks into samples of @model. All pointers are borrowed. NULL: no memory. */
struct stacks *stacks_new(const struct stacks_memory *mem, struct model *model);
void stacks_free(struct stacks *s);

/* stacks_drain - reads what the programs wrote since the last call. Call it before the slots of dead threads are reused.
 * 0 or -ENOMEM. stacks_due - whether that should be done now, as there is much; ask every 250 ms. */
bool stacks_due(const struct stacks *s);
int stacks_drain(struct stacks *s);

/* A thread in the tick being built. */
struct stacks_thread {
	uint32_t slot, tid;
	struct life *life;
	const struct values *values; /* of the interval, */
	uint64_t from;               /* and its start (accounting clock) */
	uint64_t after, until;       /* earlier and later events of the slot are not its own; 0: all are */
	uint64_t runq_ns;            /* its sum up to the interval's end */
	bool softirqs;               /* softirqs are its own work: life_runs_softirqs() */
	uint64_t blocked_ns;         /* at the interval's end: duration of its block so far, 0: not blocked */
	enum metric_id blocked;      /* the metric that this belongs to */
};

/*
 * stacks_show - passes the samples of an active thread to the model: its events, and the time that no event covers as
 * NOTE_NO_STACK, so that each metric adds up to that of @t->values. 0 or -ENOMEM.
 */
int stacks_show(struct stacks *s, const struct stacks_thread *t);

/* stacks_show_idle - adds the samples of interrupts on idle CPUs to the tick being built: each stands for @period_ns. 0
 * or -ENOMEM. */
int stacks_show_idle(struct stacks *s, struct cgroup *root, uint64_t period_ns);

/* stacks_end - after all threads of a tick: discards events of threads that are not shown. */
void stacks_end(struct stacks *s);

/* stacks_each - calls @fn for every stack that an id of the last window may refer to, innermost frame first: of the
 * present dictionary, and of its halves that were cleared in that time. Stops when @fn returns nonzero, and returns
 * that. */
typedef int stacks_fn(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames);
int stacks_each(const struct stacks *s, stacks_fn *fn, void *arg);

/* stacks_hold - @held: stacks of the window are kept beyond it, until this has been called as often with false. */
void stacks_hold(struct stacks *s, bool held);

/* stacks_ends - how the user stacks of samples and blocks ended, by count, since the start. */
const uint64_t *stacks_ends(const struct stacks *s);

/* stacks_health - how full the dictionary is, and the size of the cleared stacks. */
void stacks_health(const struct stacks *s, struct health *h);

/* stacks_lost - events and stacks that could not be read, since the start. */
uint64_t stacks_lost(const struct stacks *s);

#endif
