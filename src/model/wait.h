/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_WAIT_H
#define SYSTOP_MODEL_WAIT_H

/* What ran instead of a thread that waited for a CPU, what woke it, how long it was away, and where in the kernel. */

#include <stdbool.h>
#include <stdint.h>

#include "model/tick.h"
#include "slot.h" /* enum wake_context */

/* What a wait is charged to. */
enum wait_kind {
	WAIT_BEHIND,  /* a thread that ran on the CPU, last or for a good part of the wait: the time that it ran */
	WAIT_SEVERAL, /* the rest of such a wait: other threads that ran, not named */
	WAIT_WAKEUP,  /* time from the wakeup to the CPU if an idle one took it: the other CPU's message, leaving idle */
	WAIT_LIMIT,   /* stopped by a cgroup's CPU limit */
	WAIT_KINDS
};

/* Names in --json: thread several wakeup limit. */
extern const char *const wait_kind_names[WAIT_KINDS];

/* The time of a thread's waits that is charged to one cause: waits of 100 us or more (--wait-min) that ended in the interval. */
struct wait {
	const struct life *life;
	const struct life *by;       /* WAIT_BEHIND: may be out of scope, or dead */
	const struct cgroup *limit;  /* WAIT_LIMIT: the cgroup with the limit */
	uint64_t ns;
	uint32_t count;              /* waits that contribute */
	uint8_t kind;                /* enum wait_kind */
};

/* What woke a thread, and how often. */
struct woken {
	const struct life *life;
	uint32_t count;
	uint32_t number;             /* tid, or number of the interrupt or vector, depending on @context */
	uint8_t context;             /* enum wake_context */
};

/* Names in --json: thread irq softirq timer ipi. wake_name - name of a waker that is no thread: "irq 24", "softirq
 * NET_RX", "timer", "another CPU". */
extern const char *const wake_context_names[WAKE_CONTEXTS];
void wake_name(enum wake_context context, uint32_t number, char *buf, size_t size);

/* How often a thread slept, or was in D state, for a range of durations: only sleeps of 1 ms and D states of 100 us
 * and more. */
#define AWAY_D_NS 100000

struct away {
	const struct life *life;
	uint64_t ns;
	uint32_t count;
	uint8_t kind;                /* enum hist_id, HIST_OF_BLOCKS */
	uint8_t slot;                /* of struct hist */
};

/* wait_functions_has - whether it is a kernel function that every wait ends in: only its caller shows the reason. */
bool wait_functions_has(const char *function);

struct model;

/* model_wait and the others add to the tick being built. 0 or -ENOMEM. */
int model_wait(struct model *m, const struct wait *w);
int model_woken(struct model *m, const struct woken *w);
int model_away(struct model *m, const struct away *a);
int model_irq_cpu(struct model *m, const struct irq_cpu *i);

/* model_hist - sets the histogram of durations that ended in the tick being built; those of threads
 * (HIST_OF_THREADS) are added up from the threads'. */
void model_hist(struct model *m, enum hist_id id, const struct hist *h);

#endif
