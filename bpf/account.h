/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_ACCOUNT_H
#define SYSTOP_BPF_ACCOUNT_H

/*
 * Where a thread's time goes: pure functions of a slot and of what a switch saw. No kernel memory
 * is read and no helper called here, so that the BPF programs and tests/unit compile the same text.
 *
 * A thread is always in one state. The state is closed at the next switch, when it is known how
 * long it took. Time off the CPU is split by what the thread went out with:
 *
 *   went out runnable: all of it is runqueue;
 *   went out blocked:  from its waking on it is runqueue; the time before is the blocked state.
 *                      A waking on another CPU can come just before the switch, and tell the state too late.
 *
 * All instants are the tracepoints' own: the kernel's sums (sched_info, sum_exec_runtime) go by the
 * runqueue's clock, which after a waking that preempts stands where the waking was. They tell only
 * what was not seen: if no waking was, the wait is as long as the kernel's sum of waits grew, at most
 * the time off the CPU. From 6.12 on that can be too long: a delayed-dequeue sleeper that is
 * migrated is queued, for sched_info, in its sleep.
 */

#include "kernel.h"
#include "slot.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#ifndef barrier_var
#define barrier_var(var) __asm__ volatile("" : "+r"(var))
#endif

/* What one switch saw of one thread. Scheduler times are on the clock of this CPU's runqueue. */
struct account_event {
	__u64 now;          /* accounting clock */
	__u64 rq_clock;     /* the scheduler's clock when it last read it */
	__u64 clock_offset; /* accounting clock - the scheduler's, at one moment */
	__u64 run_delay;    /* sched_info */
	__u64 last_queued;
	__u64 last_arrival;
	__u64 exec_ns;      /* se.sum_exec_runtime */
	__u64 stint_ns;     /* account_stint() */
	__u64 cpu_since;    /* accounting clock: the CPU's last switch, or since when we watch */
	__u64 stolen_ns;    /* switch-out: what interrupts took since the switch-in */
	__u32 prev_state;   /* switch-out: as sched_switch reports it */
	__u32 task_state;   /* switch-out: task->__state now */
	__u16 cpu;
	bool preempt;       /* switch-out: preempted, whatever its state says */
	bool throttled;     /* switch-out: its CPU limit stops it */
};

/* What the caller counts: bits of the account_*() results. */
enum account_note {
	ACCOUNT_GAP = 1,           /* a switch was missed; repaired from the kernel's sums */
	ACCOUNT_QUEUE_STALE = 2,   /* the kernel's wait was more than 1 ms too long and was cut */
	ACCOUNT_STATE_UNKNOWN = 4, /* a state bit that is not known, taken as sleep */
};

#define ACCOUNT_STALE_NS 1000000
/* A waking that comes just before the switch-out, while the state does not say so yet, is at most this old. */
#define ACCOUNT_WOKEN_NS 100000

/* account_frozen - the state of a thread that cgroup v2 marks as frozen: its freezer's own sleep is interruptible. So
 * marked are also those in D after vfork(), and those stopped. */
static __always_inline __u32 account_frozen(__u32 state)
{
	const __u32 sleeps = TASK_INTERRUPTIBLE | TASK_FREEZABLE;

	return (state & sleeps) == sleeps ? TASK_FROZEN : state;
}

/* account_state - the state a thread goes out with; never decided by on_rq: delayed-dequeue
 * sleepers (6.12) and proxy-execution donors are on the runqueue while blocked. */
static __always_inline enum slot_state account_state(bool preempt, __u32 prev_state,
						     __u32 task_state, __u8 *flags, __u32 *notes)
{
	if (preempt || !prev_state)
		return SLOT_RUNQUEUE;
	if (prev_state & (TASK_DEAD | TASK_EXIT_DEAD | TASK_EXIT_ZOMBIE))
		return SLOT_DEAD;
	/* A pending signal kept it runnable (before 6.15 prev_state does not say so), or another CPU
	 * is waking it already: it waits for its turn. */
	if (!task_state || task_state == TASK_WAKING)
		return SLOT_RUNQUEUE;
	if (prev_state & TASK_RTLOCK_WAIT) {
		*flags |= SLOT_RTLOCK;
		return SLOT_D;
	}
	if (prev_state & (TASK_STOPPED_BIT | TASK_TRACED_BIT | TASK_FROZEN | TASK_PARKED))
		return SLOT_STOPPED;
	if (prev_state & TASK_INTERRUPTIBLE)
		return SLOT_SLEEP;
	if (prev_state & TASK_UNINTERRUPTIBLE) /* with NOLOAD: an idle kernel thread */
		return prev_state & TASK_NOLOAD ? SLOT_SLEEP : SLOT_D;
	*notes |= ACCOUNT_STATE_UNKNOWN;
	return SLOT_SLEEP;
}

/* What account_stint() says where the thread's class does not keep it: more than there can be. */
#define ACCOUNT_STINT_UNKNOWN (~0ULL >> 1)

/* account_stint - how long a thread ran since it was last picked to run: only the fair class notes its sum then.
 * @exec_ns, @prev_exec_ns: its sum of running time, and that note; @sched_ext: BPF programs may have picked it */
static __always_inline __u64 account_stint(int prio, bool sched_ext, __u64 exec_ns, __u64 prev_exec_ns)
{
	return prio >= MAX_RT_PRIO && !sched_ext ? exec_ns - prev_exec_ns : ACCOUNT_STINT_UNKNOWN;
}

/* account_log2 - rounded down, 0 of 0: which slot of a histogram. */
static __always_inline __u32 account_log2(__u64 v)
{
	__u32 r = 0;

	if (v >> 32) /* as good as for ever */
		return 31;
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	if (v >> 4) {
		v >>= 4;
		r += 4;
	}
	if (v >> 2) {
		v >>= 2;
		r += 2;
	}
	return r + (v >> 1 & 1);
}

/* account_hist_slot - the histogram slot of a wait. */
static __always_inline __u32 account_hist_slot(__u64 wait_ns)
{
	__u32 r = account_log2(wait_ns >> HIST_SHIFT);

	return r < HIST_SLOTS ? r : HIST_SLOTS - 1;
}

/*
 * Difference of two readings that must not wrap: the kernel's clocks of two CPUs may disagree. Times are
 * less than 2^63 ns: the sign of their difference says which is more. Without a branch, of which each would double
 * what the verifier looks at in all that follows.
 */
static __always_inline __u64 account_sub(__u64 a, __u64 b)
{
	__u64 difference = a - b;

	barrier_var(difference); /* or the compiler makes a branch of it */
	return difference & ((difference >> 63) - 1);
}

static __always_inline __u64 account_min(__u64 a, __u64 b)
{
	return a - account_sub(a, b);
}

static __always_inline __u64 account_max(__u64 a, __u64 b)
{
	return a + account_sub(b, a);
}

/* The instant of a switch, which for a thread is not before its present state began: that may have
 * been timed elsewhere. */
static __always_inline __u64 account_now(const struct slot *s, const struct account_event *e)
{
	return account_max(e->now, s->since);
}

/* Adds @off ns off the CPU, the last @wait of them on the runqueue, of which a CPU limit stopped it for @throttled, as the
 * state in the slot. */
static __always_inline void account_off(struct slot *s, __u64 off, __u64 wait, __u64 throttled)
{
	__u64 blocked = off - wait;

	s->runq_ns += wait;
	s->throttled_ns += account_min(throttled, wait);
	if (s->state == SLOT_D)
		s->d_ns += blocked;
	else if (s->state == SLOT_STOPPED)
		s->stopped_ns += blocked;
	else
		s->sleep_ns += blocked;
}

/* Takes @steal ns out of the running time: the hypervisor ran somebody else while it had the CPU. */
static __always_inline void account_steal(struct slot *s, __u64 steal)
{
	steal = account_min(steal, s->run_ns);
	s->run_ns -= steal;
	s->steal_ns += steal;
}

/*
 * Its switch-out was missed: since `since` it ran, left, and waited for @delay_ns by the kernel's
 * sum. The kernel's sum of its running time tells the rest; what it was off the CPU for is unknown
 * and taken as sleep.
 */
static __always_inline void account_lost(struct slot *s, __u64 now, __u64 exec_ns, __u64 delay_ns)
{
	__u64 total = account_sub(now, s->since);
	__u64 run = account_min(account_sub(exec_ns, s->exec_ns), total);
	__u64 wait = account_min(account_sub(delay_ns, s->run_delay), total - run);

	s->run_ns += run;
	s->runq_ns += wait;
	s->sleep_ns += total - run - wait;
	s->exec_ns = exec_ns; /* once: its next switch-out may be missed, too */
}

/*
 * When a thread whose switch-in was missed came to this CPU, by the kernel, on our clock. What hid
 * the switch from its tracepoint can have hidden it from sched_info, whose time is then of an
 * earlier switch: the thread came not before the last switch seen here, and did not run longer
 * than the scheduler charged it for.
 */
static __always_inline __u64 account_arrival(__u64 not_before, const struct account_event *e)
{
	__u64 at = account_max(e->last_arrival + e->clock_offset, e->cpu_since);

	at = account_max(at, account_sub(e->now, e->stint_ns));
	return account_max(account_min(at, e->now), not_before);
}

/*
 * account_out - a thread leaves the CPU. Returns account_note bits.
 * A free slot is one at first sight: the thread runs since it came to this CPU.
 */
static __always_inline __u32 account_out(struct slot *s, const struct account_event *e)
{
	__u64 now = account_now(s, e);
	__u32 notes = 0;
	__u8 flags = 0;

	if (s->state == SLOT_RUNNING && (s->wake & WAKE_TIME_MASK) > s->since &&
	    account_sub(now, s->wake & WAKE_TIME_MASK) < ACCOUNT_WOKEN_NS)
		flags |= SLOT_WOKEN;
	if (s->state == SLOT_RUNNING && s->cpu == e->cpu) {
		__u64 stolen = account_min(e->stolen_ns, now - s->since);

		s->run_ns += now - s->since - stolen;
		s->irq_ns += stolen;
	} else if (s->state == SLOT_RUNNING || s->state == SLOT_LOST) {
		account_lost(s, now, e->exec_ns, e->run_delay);
		notes |= ACCOUNT_GAP;
	} else if (s->state == SLOT_FREE) {
		s->born_ns = account_arrival(0, e);
		s->run_ns += account_sub(now, s->born_ns);
	} else {
		/* Its switch-in was missed. */
		__u64 arrival = account_arrival(s->since, e);
		__u64 off = account_sub(arrival, s->since);
		__u64 wait = s->state == SLOT_RUNQUEUE
				     ? off
				     : account_min(account_sub(e->run_delay, s->run_delay), off);

		account_off(s, off, wait, s->flags & SLOT_THROTTLED ? wait : 0);
		s->run_ns += account_sub(now, arrival);
		notes |= ACCOUNT_GAP;
	}

	s->state = account_state(e->preempt, e->prev_state, e->task_state, &flags, &notes);
	if (s->state == SLOT_RUNQUEUE && e->throttled)
		flags |= SLOT_THROTTLED;
	s->flags = flags;
	s->since = now;
	s->cpu = e->cpu;
	s->run_delay = e->run_delay;
	s->exec_ns = e->exec_ns;
	return notes;
}

/*
 * account_stood - before account_in(): for how long a CPU limit stopped a thread that went out stopped. The kernel keeps
 * that for all of the runqueue that stand, @stood by now; from when it let them go on, it waited like any other.
 * @stood: 0: the kernel does not keep it
 */
static __always_inline void account_stood(struct slot *s, __u64 stood, __u16 cpu)
{
	s->throttle_ns = s->cpu == cpu && stood ? account_sub(stood, s->throttle_ns) : ~0ULL >> 1;
}

/*
 * account_wait_known - before account_in(): whether how long the thread waited follows from what was seen. If not, the
 * kernel's sum says it, and the event has last_queued and rq_clock.
 */
static __always_inline bool account_wait_known(const struct slot *s)
{
	if (s->state == SLOT_RUNQUEUE)
		return true;
	return s->state >= SLOT_D && s->state <= SLOT_STOPPED &&
	       ((s->wake & WAKE_TIME_MASK) > s->since || s->flags & SLOT_WOKEN);
}

/*
 * account_in - a thread gets the CPU. Returns account_note bits.
 * A free slot is one at first sight: no wait is known and none is counted.
 */
static __always_inline __u32 account_in(struct slot *s, const struct account_event *e)
{
	__u64 now = account_now(s, e), delay = e->run_delay;
	__u32 notes = 0;

	bool known = account_wait_known(s);

	/* The tracepoint runs before the kernel folds the wait that ends now into its sum. */
	if (!known && e->last_queued)
		delay += account_sub(e->rq_clock, e->last_queued);

	if (s->state == SLOT_FREE) {
		s->born_ns = now;
		s->exec_ns = e->exec_ns;
	} else if (s->state == SLOT_RUNNING || s->state == SLOT_LOST) {
		account_lost(s, now, e->exec_ns, delay);
		notes |= ACCOUNT_GAP;
	} else {
		__u64 off = now - s->since;
		__u64 wait = off;
		__u64 throttled = s->flags & SLOT_THROTTLED ? s->throttle_ns : 0;

		if (!known) {
			__u64 kernel_wait = account_sub(delay, s->run_delay);

			wait = account_min(kernel_wait, off);
			throttled = 0;
			if (kernel_wait - wait > ACCOUNT_STALE_NS)
				notes |= ACCOUNT_QUEUE_STALE;
		} else if (s->state != SLOT_RUNQUEUE) {
			wait = account_min(account_sub(now, s->wake & WAKE_TIME_MASK), off);
			/* Elsewhere its cgroup need not have stood, as it did where it slept. */
			throttled = s->wake & WAKE_THROTTLED && s->cpu == e->cpu ? wait : 0;
		}
		if (known) /* as the kernel will have it */
			delay += wait;
		account_off(s, off, wait, throttled);
		s->runq_hist[account_hist_slot(wait)]++;
		if (wait > s->runq_max_ns)
			s->runq_max_ns = wait;
	}

	s->state = SLOT_RUNNING;
	s->flags = 0;
	s->since = now;
	s->cpu = e->cpu;
	s->run_delay = delay;
	return notes;
}

#endif
