/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SLOT_VALUES_H
#define SYSTOP_COLLECT_SLOT_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tick.h"
#include "slot.h"
#include "usage.h"

struct model;

/* Time taken from a running thread since its last switch, ns. */
struct taken {
	uint64_t irq_ns;   /* by interrupts */
	uint64_t steal_ns; /* by the hypervisor */
	bool steal_known;   /* whether the kernel reports it for threads */
};

/* The cumulative sums of a slot for an interval. */

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
	uint64_t end;      /* end of the interval shown; the sums lack idle time since then */
	uint64_t sums[SUM_COUNT];
	uint64_t longest_wait; /* of the waits that ended since, see slot_take_longest() */
#define _(field, ...) typeof(((struct slot *)0)->field) field;
	SLOT_COUNTS(_)
#undef _
	uint64_t utime_ns, stime_ns;
	float user_share;  /* of the running time, by the last interval that contained a timer tick */
	struct usage_io io;
	bool io_begins;    /* the kernel counted before the slot: its first counts are only compared with */
	uint32_t migrations;
	uint32_t runq_hist[HIST_SLOTS];
	uint64_t cgroup_id, limit_cgroup_id;
};

/* What is kept of a slot between two ticks, apart from data that only active threads need. */
struct reader {
	struct life *life; /* NULL: the slot was not in use */
	uint64_t end;      /* end of the time shown; does not advance while it rests, see struct resting_slot */
	uint32_t wakeups;
	uint32_t seq;
	uint8_t idle;      /* asleep or stopped, and not woken: enum thread_state; otherwise 0 */
	bool in_scope;
	bool ran;          /* it ran since its usage was read: read it once more */
};

/* A slot whose thread rests: the model knows that it is idle, and shows it so in each tick while the slot has these
 * values. A tick reads this, and two cache lines of the slot, for each of 50,000 threads; all else is for those that do
 * something. */
struct resting_slot {
	uint32_t seq;      /* plus 1, so that 0 is none: it does not rest */
	uint32_t wakeups;
};

/* slots_used - the highest slot that was ever in use, at most @max - 1: CPUs that find no slot at the same time count beyond it. */
static inline uint32_t slots_used(const struct shared *shared, uint32_t max)
{
	uint32_t used = __atomic_load_n(&shared->slots_used, __ATOMIC_RELAXED);

	return used < max ? used : max - 1;
}

/* slot_read - a consistent copy of a slot that other CPUs write to. False: it was being written during all attempts. */
bool slot_read(const struct slot *slot, struct slot *copy);

/* slot_state - the present state. slot_blocked - the metric that a blocked thread's time belongs to. */
enum thread_state slot_state(const struct slot *c);
static inline enum metric_id slot_blocked(const struct slot *c)
{
	return c->state == SLOT_D ? METRIC_D : METRIC_SLEEP;
}

/* slot_is_blocked - whether it is blocked, and was not woken since. */
bool slot_is_blocked(const struct slot *c);

/* slot_take_longest - takes the longest wait that a copy has out of its slot, for the next slot_show(). Call it when
 * the slot is copied: waits that end later are in the next histogram. */
void slot_take_longest(struct shown *shown, struct slot *slot, const struct slot *copy);

/* slot_show - the thread's activity from the last tick to @at, which becomes @r->end, from a copy @c of its slot. Notes
 * in the cgroup with its CPU limits that it acted. @at: not before its birth */
void slot_show(struct reader *r, struct shown *shown, const struct slot *c, uint64_t at, const struct taken *taken,
	       struct values *v);

/* slot_io_unknown - whether the I/O of all threads is unknown, including those that did nothing. */
void slot_io_unknown(struct model *m, bool unknown);

/* slot_show_io - adds what it read and wrote since the last call. @io: so far, NULL: could not be read this time. */
void slot_show_io(struct shown *shown, const struct usage_io *io, struct values *v);

/* slot_show_memory - sets the memory of the process of the thread in slot @index, as of @at. */
void slot_show_memory(const struct life *l, uint32_t index, const struct usage_memory *pages, uint64_t at);

/* values_quiet - whether the thread did nothing, and nothing was done to it. */
bool values_quiet(const struct values *v);

#endif
