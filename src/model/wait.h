/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_WAIT_H
#define SYSTOP_MODEL_WAIT_H

/* Who ran instead of a thread that waited for a CPU, who woke it, and how long it was away. */

#include <stdint.h>

#include "model/tick.h"
#include "slot.h" /* enum wake_context */

/* What a wait is charged to. */
enum wait_kind {
	WAIT_BEHIND,  /* the thread whose place it got: as long as that one had run, of the wait */
	WAIT_SEVERAL, /* the rest of such a wait: those that ran before, which are not told */
	WAIT_WAKEUP,  /* from the waking to the CPU where an idle one took it: another CPU's message, the way out of
	               * idleness; and, everywhere, the time from the waking until it was on a runqueue */
	WAIT_LIMIT,   /* a cgroup's CPU limit stopped it */
	WAIT_KINDS
};

/* As in --json: thread several wakeup limit. */
extern const char *const wait_kind_names[WAIT_KINDS];

/* What a thread waited for one of these, in an interval: waits of 100 us and more (--wait-min) that ended in it. */
struct wait {
	const struct life *life;
	const struct life *by;       /* WAIT_BEHIND: perhaps out of scope, or dead */
	const struct cgroup *limit;  /* WAIT_LIMIT: whose it was */
	uint64_t ns;                 /* of WAIT_WAKEUP, what is part of its sleep, too */
	uint32_t count;              /* waits that have a part in it */
	uint8_t kind;                /* enum wait_kind */
};

/* Who woke a thread, how often. */
struct woken {
	const struct life *life;
	uint32_t count;
	uint32_t number;             /* tid, or number of the interrupt or vector, by @context */
	uint8_t context;             /* enum wake_context */
};

/* As in --json: thread irq softirq timer ipi. wake_name - of what is no thread: "irq 24", "softirq NET_RX", "timer",
 * "another CPU". */
extern const char *const wake_context_names[WAKE_CONTEXTS];
void wake_name(enum wake_context context, uint32_t number, char *buf, size_t size);

/* How often a thread slept, or was in D state, for so long: only 1 ms and more of sleep, 100 us and more of D. */
#define AWAY_SLEEP_NS 1000000
#define AWAY_D_NS 100000

struct away {
	const struct life *life;
	uint64_t ns;
	uint32_t count;
	uint8_t kind;                /* enum hist_id, HIST_OF_BLOCKS */
	uint8_t slot;                /* of struct hist */
};

struct model;

/* model_wait and so on - of the tick being built. 0 or -ENOMEM. */
int model_wait(struct model *m, const struct wait *w);
int model_woken(struct model *m, const struct woken *w);
int model_away(struct model *m, const struct away *a);
int model_irq_cpu(struct model *m, const struct irq_cpu *i);

/* model_hist - durations that ended in the tick being built; those that threads have (HIST_OF_THREADS) are added up. */
void model_hist(struct model *m, enum hist_id id, const struct hist *h);

#endif
