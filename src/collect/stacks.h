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
struct life;
struct model;
struct stacks;
struct values;

/* Memory the BPF programs write, mapped into this process. */
struct stacks_memory {
	uint32_t index_bits;              /* of stacks' ids: how large the dictionary is */
	struct stack_entry *entries;      /* 2 * STACK_HALF() */
	const struct stack_line *lines;   /* 2 * STACK_LINES_HALF() */
	uint64_t window_ns;               /* how long stacks_each() still has stacks that were cleared */
	uint64_t old_bytes;               /* that these may take */
	struct cpu_area *const *areas;    /* one a possible CPU; NULL: it was never online */
	struct cpu_slot *cpus;
	int nr_cpus;
	uint32_t max_slots;
	struct shared *shared;
};

/* stacks_new - turns events with stacks into samples of @model. All is borrowed. NULL: no memory. */
struct stacks *stacks_new(const struct stacks_memory *mem, struct model *model);
void stacks_free(struct stacks *s);

/* stacks_drain - reads what the programs wrote since the last call, at least every 250 ms, before
 * the slots of threads that died are used again. 0 or -ENOMEM. */
int stacks_drain(struct stacks *s);

/* A thread in the tick being built. */
struct stacks_thread {
	uint32_t slot, tid;
	struct life *life;
	const struct values *values; /* of the interval, */
	uint64_t from;               /* which began then (accounting clock) */
	uint64_t runq_ns;            /* its sum up to the interval's end */
	bool softirqs;               /* it is ksoftirqd: what softirqs do there is its own */
	uint64_t blocked_ns;         /* at its end: for how long it has been blocked, 0: it is not */
	enum metric_id blocked;      /* what that is part of */
};

/*
 * stacks_show - hands the samples of a thread that did something to the model: what its events tell,
 * and what no event told as NOTE_NO_STACK, so that each metric adds up to that of @t->values.
 * 0 or -ENOMEM.
 */
int stacks_show(struct stacks *s, const struct stacks_thread *t);

/* stacks_show_idle - the samples of interrupts on idle CPUs, in the tick being built: each stands for @period_ns.
 * 0 or -ENOMEM. */
int stacks_show_idle(struct stacks *s, struct cgroup *root, uint64_t period_ns);

/* stacks_end - after all threads of a tick: events of threads that are not shown are forgotten. */
void stacks_end(struct stacks *s);

/* stacks_ends - of how many samples and blocks the user stack ended how, since the start. */
/* stacks_each - calls @fn for every stack that an id of the last window may mean, innermost frame first; of the
 * dictionary as it is now, and as it was when it turned in that time. Ends with what @fn returns, if that is not 0. */
typedef int stacks_fn(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames);
int stacks_each(const struct stacks *s, stacks_fn *fn, void *arg);

const uint64_t *stacks_ends(const struct stacks *s);

/* stacks_health - how full the dictionary is, and what is kept of it as it was. */
void stacks_health(const struct stacks *s, struct health *h);

/* stacks_lost - events and stacks that could not be read, since the start. */
uint64_t stacks_lost(const struct stacks *s);

#endif
