/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_SAMPLE_H
#define SYSTOP_MODEL_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/metric.h"
#include "slot.h"  /* enum wake_context */
#include "stack.h" /* frames, enum stack_end, enum stack_flags */

struct life;
struct model;
struct tick;

/* Number of enum frame_lack, see query/stack_quality.h. */
#define STACK_LACKS 10

/* A stack, shared by all samples that have it: frames innermost first. It lives as long as a held or remembered tick
 * has samples with it. */
struct stack {
	uint64_t hash;
	uint32_t check;
	uint32_t tgid;   /* with STACK_ANONYMOUS */
	uint16_t nr;
	uint8_t end;     /* enum stack_end */
	uint8_t flags;   /* enum stack_flags */
	uint32_t counted; /* for query/stack_quality.c only: the version of the names in `lacks`; 0: none yet */
	uint64_t first, seq; /* for the model only: first and last tick that use it, */
	uint64_t needed;     /* and the one before which a search last found it in a shown block */
	uint32_t held;   /* for the model only: lists that hold it, see model_stack_hold() */
	uint16_t lacks[STACK_LACKS]; /* number of its frames by what they lack for a name: enum frame_lack */
	uint64_t frames[];
};

/* stack_key - for a map of stacks: with both hashes, so that a collision of one is harmless. */
static inline uint64_t stack_key(uint64_t hash, uint32_t check)
{
	return (hash ^ (uint64_t)check << 32) | 1;
}

enum sample_note {
	NOTE_USER_LOST = 1,  /* there was no room for its user stack */
	NOTE_KERNEL_LOST = 2,
	NOTE_NO_USER = 4,    /* its user stack was not taken, or has no frame that can be followed */
	NOTE_NO_STACK = 8,   /* no stack was taken: too short, or too many */
	NOTE_NEAR = 16,      /* the stack comes from a sample nearby: ~ is shown at its root */
	NOTE_GOES_ON = 32,   /* not over yet */
	NOTE_GUEST = 64,  /* a virtual machine ran */
};

/* A part of what a thread did in a tick. */
struct stack_sample {
	const struct life *life;
	const struct stack *user, *kernel; /* NULL: none */
	uint64_t weight;      /* in the metric's unit; the weights of one metric add up to the thread's value. The
			       * samples of a CPU share its running time equally */
	uint64_t whole;       /* of a block: ns from its start to its end, including earlier ticks */
	uint32_t count;       /* samples, or blocks that ended; 0: not known from an event */
	uint32_t waker;       /* what ended the block: WAKER(); 0: unknown */
	uint8_t wake_context; /* enum wake_context; WAKE_CONTEXTS: wakers are not recorded */
	uint8_t metric;       /* enum metric_id of which it is a part */
	uint8_t flags;        /* enum sample_note */
	uint16_t irq;         /* of a sample: the interrupt it was taken in (irq.h) + 1; 0: none. Also set where
			       * life_runs_softirqs() */
};

typedef int sample_fn(void *arg, const struct stack_sample *s);

/* Some samples from any source, for an exporter. */
struct sample_set {
	/* Calls @fn for each, until it returns other than 0, which is returned. */
	int (*each)(void *arg, sample_fn *fn, void *fn_arg);
	void *arg;
	enum metric_id metric;  /* the metric that was shown */
	uint64_t from_ns;       /* start of the time that they cover, CLOCK_REALTIME, */
	uint64_t duration_ns;   /* and its length; 0: unknown */
};

/* sample_lacks_user - whether only the kernel part of its stack is known, though its thread has a user stack. */
bool sample_lacks_user(const struct stack_sample *s);

/* model_stack - the shared stack with these contents, for the tick being built. NULL: out of memory. */
const struct stack *model_stack(struct model *m, const struct stack_entry *e, const uint64_t *frames);

/* model_stack_key - identifies a stack, also when it is not kept any more. model_stack_again - the stack with this key, for the
 * tick being built; NULL: it is not kept, or @key is 0. */
uint64_t model_stack_key(const struct stack *s);
const struct stack *model_stack_again(struct model *m, uint64_t key);

/* model_stack_hold - keeps a stack until model_stack_release(), even if no tick has it any more. */
void model_stack_hold(const struct stack *s);
void model_stack_release(const struct stack *s);

/* model_files - sets the bits of the files below @max in which a kept stack has a frame, and clears all others.
 * @bits: one per file, in words. */
void model_files(const struct model *m, uint64_t *bits, uint32_t max);

/* model_sample - adds a part of what a thread did in the tick being built; model_thread() was or will be called with
 * @s->life. 0 or -ENOMEM. */
int model_sample(struct model *m, const struct stack_sample *s);

/*
 * A block of a thread that has not come back yet, or had not when some tick ended: its stacks are read while it is blocked. Times
 * are on the clock of tick.awake_ns; those before the start are negative.
 */
struct block {
	const struct life *life;  /* NULL: no tick shows it any more */
	int64_t since;
	int64_t from;             /* since when it is this life's: the same thread's former life has the time before */
	int64_t until;            /* end of the last tick that it lasted through, or that shows this life; BLOCK_ON: not
				   * over */
	const struct stack *user, *kernel; /* NULL: none, or not known yet */
	uint8_t metric;           /* enum metric_id of which it is a part */
	uint8_t flags;            /* enum sample_note: NOTE_NO_STACK until its stacks were read */
	bool at_most;            /* it began before systop started, and after @since: see SLOT_SINCE_EARLY */
	struct block *before;     /* previous block of the same thread */
	struct block *next;       /* for the model only */
};

#define BLOCK_ON INT64_MAX

/* model_block - the thread has been blocked for @age_ns at the end of the tick being built: sets l->block. 0 or
 * -ENOMEM. model_block_stacks - its stacks were read; both NULL: none were found. model_block_end - it ended in the
 * tick being built. */
int model_block(struct model *m, struct life *l, enum metric_id metric, uint64_t age_ns, bool at_most);
void model_block_stacks(struct block *b, const struct stack *user, const struct stack *kernel,
			uint8_t flags);
void model_block_end(struct model *m, struct life *l);

/*
 * tick_samples - calls @fn for what threads did in the last @ticks ticks up to @t, as far as they are remembered, until
 * it returns other than 0, which is returned. A block that is not over is reported once, with the stacks that were found
 * later, also for threads that slept all the time.
 */
int tick_samples(const struct tick *t, uint64_t ticks, sample_fn *fn, void *arg);

/* tick_samples_of - the same for the ticks @first to @last, as far back from @last as they are remembered. */
int tick_samples_of(const struct tick *any, uint64_t first, uint64_t last, sample_fn *fn, void *arg);

#endif
