/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SLOT_VALUES_H
#define SYSTOP_COLLECT_SLOT_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tick.h"
#include "slot.h"

struct life;

/* What was taken from a running thread since its last switch, ns. */
struct taken {
	uint64_t irq_ns;   /* by interrupts */
	uint64_t steal_ns; /* by the hypervisor */
	bool steal_told;   /* whether the kernel says so, of any thread */
};

/* What a slot's cumulative sums say of an interval. */

enum sum {
	SUM_RUN,
	SUM_IRQ,
	SUM_STEAL,
	SUM_RUNQ,
	SUM_D,
	SUM_SLEEP,
	SUM_STOPPED,
	SUM_STATES, /* those above add up to the time alive */
	SUM_THROTTLED = SUM_STATES,
	SUM_COUNT,
};

/* The cumulative values already shown. */
struct shown {
	bool split_known;
	uint64_t end;      /* up to when; idle time since is not in the sums yet */
	uint64_t sums[SUM_COUNT];
	uint32_t voluntary, involuntary;
	uint64_t utime_ns, stime_ns;
	float user_share;  /* of the running time, by the last interval with a tick in it */
	uint32_t migrations;
	uint32_t runq_hist[HIST_SLOTS];
	uint64_t cgroup_id, limit_cgroup_id;
};

/* What is remembered of a slot between two ticks, apart from what only active threads need: a tick
 * looks at this, and at two lines of the slot, for each of 50,000 threads that do nothing. */
struct reader {
	struct life *life; /* NULL: the slot was not in use */
	uint64_t end;      /* up to when its time was shown */
	uint32_t wakeups;
	uint32_t seq;
	uint8_t idle;      /* asleep or stopped, and not woken: enum thread_state; else 0 */
	bool in_scope;
};

/* slot_read - a whole copy of a slot that other CPUs write to. False: it is being written, for as long
 * as was looked. */
bool slot_read(const struct slot *slot, struct slot *copy);

/* slot_woken - when a blocked thread was woken, if it still waits for a CPU since; 0: it was not. */
uint64_t slot_woken(const struct slot *c);

/* slot_state - the state at present. slot_blocked - which metric a blocked thread's time is part of. */
enum thread_state slot_state(const struct slot *c);
static inline enum metric_id slot_blocked(const struct slot *c)
{
	return c->state == SLOT_D ? METRIC_D : METRIC_SLEEP;
}

/* slot_is_blocked - whether it is, and was not woken since. */
bool slot_is_blocked(const struct slot *c);

/* slot_show - what the thread did from the last tick to @at, which becomes @r->end, by a copy @c of
 * @slot, which may have switched since. @at: not before its birth */
void slot_show(struct reader *r, struct shown *shown, struct slot *slot, const struct slot *c, uint64_t at,
	       const struct taken *taken, struct values *v);

/* values_quiet - the thread did nothing, and nothing was done to it. */
bool values_quiet(const struct values *v);

#endif
