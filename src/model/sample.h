/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_SAMPLE_H
#define SYSTOP_MODEL_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

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
	uint64_t seq;    /* for the model only: last tick that uses it */
	uint64_t frames[];
};

/* What a thread was doing when it had a stack. */
enum time_kind {
	TIME_CPU,
	TIME_RUNQ,
	TIME_SLEEP,
	TIME_D,
	TIME_KINDS
};

/* As in --folded: cpu runq sleep d. */
extern const char *const time_names[TIME_KINDS];

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
	uint64_t weight;      /* ns; of one kind they add up to the thread's time of that kind. The samples
	                       * of a CPU share its running time equally */
	uint32_t count;       /* samples, or blocks that ended; 0: what no event told */
	uint32_t waker;       /* who ended the block: WAKER(); 0: not known */
	uint8_t wake_context; /* enum wake_context */
	uint8_t kind;         /* enum time_kind */
	uint8_t flags;        /* enum sample_note */
};

/* model_stack - the one stack with these contents; of the tick being built. NULL: out of memory. */
const struct stack *model_stack(struct model *m, const struct stack *like);

/* model_sample - adds to what the thread did in the tick being built; @s->life is one that
 * model_thread() was or will be called with. 0 or -ENOMEM. */
int model_sample(struct model *m, const struct stack_sample *s);

/* tick_samples - the samples of a tick that is remembered or held, by way of any tick; good until
 * the next tick comes. NULL: there are none. */
const struct stack_sample *tick_samples(const struct tick *any, uint64_t seq, size_t *nr);

#endif
