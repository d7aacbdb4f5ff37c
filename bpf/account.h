/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_ACCOUNT_H
#define SYSTOP_BPF_ACCOUNT_H

/*
 * Where the time of threads and CPUs goes: pure functions of a slot and of what a switch saw. They read no kernel memory and call
 * no helper, so that the BPF programs and tests/unit compile the same text.
 *
 * A thread is always in one state. The next switch closes the state: only then is its length known. Time off the CPU is split by
 * how the thread left:
 *
 *   left runnable: all of it is runqueue time;
 *   left blocked:  it is runqueue time from the wakeup on; the time before belongs to the blocked state. A wakeup
 *                  on another CPU can come just before the switch, before the state says that the thread blocks.
 *
 * All instants are the tracepoints' own: the kernel's sums (sched_info, sum_exec_runtime) use the runqueue's clock, which after a
 * preempting wakeup stands at the time of the wakeup. The sums are used only for what was not seen: if no wakeup was seen, the
 * wait is what the kernel's sum of waits grew by, at most the time off the CPU. Since 6.12 this can be too long: sched_info counts
 * a delayed-dequeue sleeper that is migrated as queued while it sleeps.
 */

#include "kernel.h"
#include "slot.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#ifndef barrier_var
#define barrier_var(var) __asm__ volatile("" : "+r"(var))
#endif

/* What one switch saw of one thread. Scheduler times use the clock of this CPU's runqueue. */
struct account_event {
	__u64 now;          /* accounting clock */
	__u64 rq_clock;     /* the scheduler's clock as last read by the scheduler */
	__u64 clock_offset; /* accounting clock - the scheduler's, at one moment */
	__u64 run_delay;    /* sched_info */
	__u64 last_queued;
	__u64 last_arrival;
	__u64 exec_ns;      /* se.sum_exec_runtime */
	__u64 stint_ns;     /* account_stint() */
	__u64 cpu_since;    /* accounting clock: the CPU's last switch, or the start of our measurement */
	__u64 other_ns;     /* if a switch since then was missed: how long the thread that came then had the CPU; 0: unknown */
	__u64 stolen_ns;    /* switch-out: time that interrupts took since the switch-in */
	__u32 prev_state;   /* switch-out: as sched_switch reports it */
	__u32 task_state;   /* switch-out: task->__state now */
	__u16 cpu;
	bool preempt;       /* switch-out: preempted, whatever its state says */
	bool throttled;     /* switch-out: its CPU limit stops it */
};

/* What the caller counts: bits returned by the account_*() functions. */
enum account_note {
	ACCOUNT_GAP = 1,           /* a switch was missed; repaired from the kernel's sums */
	ACCOUNT_QUEUE_STALE = 2,   /* the kernel's wait was more than 1 ms too long and was cut */
	ACCOUNT_STATE_UNKNOWN = 4, /* unknown state bit, taken as sleep */
};

#define ACCOUNT_STALE_NS 1000000
/* A wakeup just before the switch-out, which the thread's state does not show yet, is at most this old. */
#define ACCOUNT_WOKEN_NS 100000

/* account_frozen - the state of a thread that cgroup v2 marks as frozen: the freezer's own sleep is interruptible.
 * Threads in D after vfork() and stopped threads have the mark, too. */
static __always_inline __u32 account_frozen(__u32 state)
{
	const __u32 sleeps = TASK_INTERRUPTIBLE | TASK_FREEZABLE;

	return (state & sleeps) == sleeps ? TASK_FROZEN : state;
}

/* account_state - the state a thread leaves with. on_rq never decides it: delayed-dequeue sleepers (6.12) and
 * proxy-execution donors are on the runqueue while blocked. */
static __always_inline enum slot_state account_state(bool preempt, __u32 prev_state,
						     __u32 task_state, __u8 *flags, __u32 *notes)
{
	if (preempt || !prev_state)
		return SLOT_RUNQUEUE;
	if (prev_state & (TASK_DEAD | TASK_EXIT_DEAD | TASK_EXIT_ZOMBIE))
		return SLOT_DEAD;
	/* A pending signal kept it runnable (before 6.15 prev_state does not show that), or another CPU is waking it
	 * already: it waits on the runqueue. */
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

/* A time that is unknown: longer than any real one. */
#define ACCOUNT_UNKNOWN (~0ULL >> 1)

/* account_stint - how long a thread ran since it was last picked to run, or ACCOUNT_UNKNOWN. Only the fair class keeps the sum of
 * that time. @exec_ns, @prev_exec_ns: the thread's sum of running time, now and when it was picked; @sched_ext: BPF programs may
 * have picked it */
static __always_inline __u64 account_stint(int prio, bool sched_ext, __u64 exec_ns, __u64 prev_exec_ns)
{
	return prio >= MAX_RT_PRIO && !sched_ext ? exec_ns - prev_exec_ns : ACCOUNT_UNKNOWN;
}

/* The functions below take times, which are less than 2^63 ns: the sign of a difference shows which one is larger. They have no
 * branches: each would double what the verifier has to walk after it. */

/* Whether @a is larger than @b, 0 or 1. */
static __always_inline __u64 account_above(__u64 a, __u64 b)
{
	__u64 difference = b - a;

	barrier_var(difference); /* or the compiler makes it a branch */
	return difference >> 63;
}

/* Difference of two readings, 0 if negative: the kernel's clocks of two CPUs may disagree. */
static __always_inline __u64 account_sub(__u64 a, __u64 b)
{
	__u64 difference = a - b;

	barrier_var(difference); /* or the compiler makes it a branch */
	return difference & ((difference >> 63) - 1);
}

static __always_inline __u64 account_min(__u64 a, __u64 b)
{
	return a - account_sub(a, b);
}

/* account_log2 - the logarithm of @v, rounded down and at most 31; 0 for 0. Finds the slot of a histogram. */
static __always_inline __u32 account_log2(__u64 v)
{
	__u32 r = 0;

	v = account_min(v, ~0U);
	for (__u32 bits = 16; bits; bits /= 2) {
		__u32 shift = account_above(v, (1ULL << bits) - 1) * bits;

		v >>= shift;
		r += shift;
	}
	barrier_var(r); /* or the compiler leaves out what shows the verifier the bound */
	return r & 31;
}

/* account_hist_slot - the histogram slot of a wait of @wait_ns. */
static __always_inline __u32 account_hist_slot(__u64 wait_ns)
{
	__u32 r;

	if (wait_ns >> HIST_SHIFT <= 1) /* most waits: they need no search */
		return 0;
	r = account_log2(wait_ns >> HIST_SHIFT);
	return r < HIST_SLOTS ? r : HIST_SLOTS - 1;
}

static __always_inline __u64 account_max(__u64 a, __u64 b)
{
	return a + account_sub(b, a);
}

/* The instant of a switch, at the earliest the start of the thread's present state: the clock of another CPU, which may be ahead,
 * may have timed that. */
static __always_inline __u64 account_now(const struct slot *s, const struct account_event *e)
{
	return account_max(e->now, s->since);
}

/* Adds @off ns off the CPU to the state in the slot. The last @wait of them were on the runqueue; a CPU limit
 * stopped the thread for @throttled of those. */
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

/* Takes @steal ns out of the running time: the hypervisor ran something else while the thread had the CPU. */
static __always_inline void account_steal(struct slot *s, __u64 steal)
{
	steal = account_min(steal, s->run_ns);
	s->run_ns -= steal;
	s->steal_ns += steal;
}

/*
 * The thread's switch-out was missed: after `since` it ran, left and waited. The kernel's sums of its running time (@exec_ns) and
 * of its waits (@delay_ns) show for how long. The running time is at most what it was when the CPU found that the thread had left
 * (lost_ns): what it ran unseen after that is in no CPU's running time. The rest of the time off the CPU is unknown and counted as
 * sleep.
 */
static __always_inline void account_lost(struct slot *s, __u64 now, __u64 exec_ns, __u64 delay_ns)
{
	__u64 total = account_sub(now, s->since);
	__u64 seen = s->state == SLOT_LOST ? account_min(s->lost_ns, total) : total;
	__u64 run = account_min(account_sub(exec_ns, s->exec_ns), seen);
	__u64 wait = account_min(account_sub(delay_ns, s->run_delay), total - run);

	s->run_ns += run;
	s->runq_ns += wait;
	s->sleep_ns += total - run - wait;
	s->lost_ns = run;
	s->exec_ns = exec_ns; /* only once: its next switch-out may be missed, too */
}

/*
 * When a thread whose switch-in was missed came to this CPU: sched_info's time, on the accounting clock. If the kernel skipped the
 * tracepoint, it may have skipped sched_info, too, whose time then belongs to an earlier switch. Hence two bounds: the thread came
 * after the thread of the last switch seen here had run (other_ns), and did not run longer than the scheduler charged it for
 * (stint_ns).
 */
static __always_inline __u64 account_arrival(__u64 not_before, const struct account_event *e)
{
	__u64 at = account_max(e->last_arrival + e->clock_offset, e->cpu_since + e->other_ns);

	at = account_max(at, account_sub(e->now, e->stint_ns));
	return account_max(account_min(at, e->now), not_before);
}

/*
 * account_cpu - adds the time since the CPU's last switch to its running and idle sums.
 * @idle: its idle thread leaves; @gap: a switch since then was missed; @ran: how long the thread that came at the last switch seen
 * had the CPU, at most
 */
static __always_inline void account_cpu(struct cpu_slot *c, const struct account_event *e, bool idle, bool gap, __u64 ran)
{
	__u64 since = e->cpu_since;

	/* Up to the missed switch, the CPU ran the thread of the last one seen for @ran ns; it counts as idle for the rest. */
	if (gap && c->since) {
		__u64 until = idle ? e->now : account_arrival(since, e);

		ran = c->current_idle ? 0 : account_min(ran, account_sub(until, since));
		c->run_ns += ran;
		c->idle_ns += account_sub(until, since) - ran;
		since = until;
	}
	if (idle) {
		c->idle_ns += account_sub(e->now, since);
		c->busy_since = e->now;
	} else {
		c->run_ns += account_sub(e->now, since);
	}
}

/*
 * account_out - a thread leaves the CPU. Returns account_note bits. A free slot means that the thread is seen for the first time:
 * it has run since it came to this CPU.
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
	} else if (s->state == SLOT_RUNNING) {
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

		if (s->state == SLOT_LOST)
			account_lost(s, arrival, e->exec_ns, e->run_delay);
		else
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
 * account_stood - before account_in(), for a thread that a CPU limit stopped when it left: sets throttle_ns to how long it was
 * stopped. The kernel keeps one sum for all threads of the cgroup's runqueue; when that goes on, the thread waits like any other.
 * @stood: the sum now, ns; 0: the kernel does not keep it
 */
static __always_inline void account_stood(struct slot *s, __u64 stood, __u16 cpu)
{
	s->throttle_ns = s->cpu == cpu && stood ? account_sub(stood, s->throttle_ns) : ACCOUNT_UNKNOWN;
}

/*
 * account_wait_known - before account_in(): whether the length of the thread's wait follows from what was seen. If not,
 * it comes from the kernel's sum, and the event has to have last_queued and rq_clock.
 */
static __always_inline bool account_wait_known(const struct slot *s)
{
	if (s->state == SLOT_RUNQUEUE)
		return true;
	return s->state >= SLOT_D && s->state <= SLOT_STOPPED &&
	       ((s->wake & WAKE_TIME_MASK) > s->since || s->flags & SLOT_WOKEN);
}

/*
 * account_in - a thread gets the CPU. Returns account_note bits. A free slot means that the thread is seen for the first time: its
 * wait is unknown and not counted.
 */
static __always_inline __u32 account_in(struct slot *s, const struct account_event *e)
{
	__u64 now = account_now(s, e), delay = e->run_delay;
	__u32 notes = 0;

	bool known = account_wait_known(s);

	/* The tracepoint runs before the kernel adds the wait that ends now to its sum. */
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
			/* Its cgroup was throttled on the CPU where it slept, which says nothing about another CPU. */
			throttled = s->wake & WAKE_THROTTLED && s->cpu == e->cpu ? wait : 0;
		}
		if (known) /* as the kernel is about to add it */
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
