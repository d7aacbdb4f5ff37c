/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_SAMPLE_H
#define SYSTOP_MODEL_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/metric.h"
#include "slot.h"  /* enum wake_context */
#include "stack.h" /* what a frame is, enum stack_end, enum stack_flags */

struct life;
struct model;
struct tick;

/* A stack, once for all that have it: frames innermost first. It lives as long as a tick that is held
 * or remembered has samples with it. */
struct stack {
	uint64_t hash;
	uint32_t check;
	uint32_t tgid;   /* with STACK_ANONYMOUS */
	uint16_t nr;
	uint8_t end;     /* enum stack_end */
	uint8_t flags;   /* enum stack_flags */
	uint64_t seq;    /* for the model only: last tick that uses it, */
	uint32_t held;   /* and how many lists do: model_stack_hold() */
	uint64_t frames[];
};

enum sample_note {
	NOTE_USER_LOST = 1,  /* it had a user stack, but there was no room for it */
	NOTE_KERNEL_LOST = 2,
	NOTE_NO_USER = 4,    /* its user stack was not taken */
	NOTE_NO_STACK = 8,   /* none was taken: too short, or too many */
	NOTE_NEAR = 16,      /* the stack is of a sample nearby: shown with ~ */
	NOTE_GOES_ON = 32,   /* it is not over */
	NOTE_GUEST = 64,  /* a virtual machine ran */
};

/* Part of what a thread did in a tick. */
struct stack_sample {
	const struct life *life;
	const struct stack *user, *kernel; /* NULL: none */
	uint64_t weight;      /* in the metric's unit; of one metric they add up to the thread's value. The samples
	                       * of a CPU share its running time equally */
	uint64_t whole;       /* of a block: ns from its start to its end, also what earlier ticks show */
	uint32_t count;       /* samples, or blocks that ended; 0: what no event told */
	uint32_t waker;       /* who ended the block: WAKER(); 0: not known */
	uint8_t wake_context; /* enum wake_context */
	uint8_t metric;       /* enum metric_id: what it is a part of */
	uint8_t flags;        /* enum sample_note */
	uint16_t irq;         /* of a sample: the interrupt that it was taken in (irq.h) + 1; 0: none. Also on a CPU, in
	                       * ksoftirqd */
};

/* sample_lacks_user - only the kernel's part of its stack is there, of a thread that has a user stack. */
bool sample_lacks_user(const struct stack_sample *s);

/* model_stack - the one stack with these contents; of the tick being built. NULL: out of memory. */
const struct stack *model_stack(struct model *m, const struct stack *like);

/* model_stack_hold - keeps it until model_stack_release(), also when no tick has it any more. */
void model_stack_hold(const struct stack *s);
void model_stack_release(const struct stack *s);

/* model_files - sets the bit of each file below @max that a stack which is kept has a frame in, and clears all others. @bits: one
 * for each, in words. */
void model_files(const struct model *m, uint64_t *bits, uint32_t max);

/* model_sample - adds to what the thread did in the tick being built; @s->life is one that
 * model_thread() was or will be called with. 0 or -ENOMEM. */
int model_sample(struct model *m, const struct stack_sample *s);

/*
 * Where a thread is blocked that has not come back yet, or was up to some tick: its stacks are looked
 * at once, while it is blocked. Times are of tick.awake_ns; those before the start are negative.
 */
struct block {
	const struct life *life;  /* NULL: no tick shows it any more */
	int64_t since;
	int64_t until;            /* end of the last tick that it lasted through; BLOCK_ON: it goes on */
	const struct stack *user, *kernel; /* NULL: none, or not known yet */
	uint8_t metric;           /* enum metric_id: what it is part of */
	uint8_t flags;            /* enum sample_note: NOTE_NO_STACK until it was looked at */
	bool at_least;            /* it began before systop, perhaps earlier than at since */
	struct block *before;     /* of the same thread */
	struct block *next;       /* for the model only */
};

#define BLOCK_ON INT64_MAX

/* model_block - the thread has been blocked for @age_ns at the end of the tick being built: from now on
 * l->block is that. 0 or -ENOMEM. model_block_stacks - it was looked at; both NULL: nothing was found.
 * model_block_end - it is over, in the tick being built. */
int model_block(struct model *m, struct life *l, enum metric_id metric, uint64_t age_ns, bool at_least);
void model_block_stacks(struct block *b, const struct stack *user, const struct stack *kernel,
			uint8_t flags);
void model_block_end(struct model *m, struct life *l);

/*
 * tick_samples - calls @fn for what threads did in the last @ticks ticks up to @t, as far as they are
 * remembered, until it returns other than 0, which is returned. What is part of a block that goes on
 * comes once, with the stacks that were found later, also of threads that slept all the time.
 */
typedef int sample_fn(void *arg, const struct stack_sample *s);
int tick_samples(const struct tick *t, uint64_t ticks, sample_fn *fn, void *arg);

/* tick_samples_of - the same for the ticks numbered @first to @last, as far back from there as they are remembered. */
int tick_samples_of(const struct tick *any, uint64_t first, uint64_t last, sample_fn *fn, void *arg);

#endif
