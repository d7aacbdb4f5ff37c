/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_WAIT_BPF_H
#define SYSTOP_BPF_WAIT_BPF_H

/*
 * Who ran instead of a thread that waited, for sched_switch, and who woke it, for sched_waking. The thread that had the
 * CPU before is at hand, and so is how long it had it; a slot is looked up only for a run, or a wait, that was long.
 */

#include "area.bpf.h"
#include "life.bpf.h"
#include "maps.bpf.h"
#include "order.bpf.h"

#include "account.h"
#include "wait.h"

/* Settings, fixed at load. */
extern const volatile __u64 wait_ns; /* waits are told from here on, */
extern const volatile __u64 wait_price_ns; /* of each that is told */
extern const volatile __u64 away_ns; /* so what is shorter is not looked at: the least of this and AWAY_NS */

/* Of a wait, what is worth to be told of one that ran long before: one in so many. */
#define WAIT_WORTH_PART 8

/*
 * Whether one more thing can be told at @now. On an overloaded host nearly every wait is long, and most wakings are by
 * another thread than the last one: so many are told that user space has read them before they are overwritten, and
 * the others are counted.
 */
static __always_inline bool wait_afford(struct cpu_slot *c, __u64 now)
{
	__u64 paid = c->waits_paid;

	if (paid + WAIT_BURST_NS < now)
		paid = now - WAIT_BURST_NS;
	if (paid > now) {
		c->loss[LOSS_WAITS]++;
		return false;
	}
	c->waits_paid = paid + wait_price_ns;
	return true;
}

/* Both programs that tell run with interrupts off: one at a time. */
static __always_inline void wait_push(struct cpu_slot *c, __u32 cpu, const struct wait_event *what)
{
	struct cpu_area *area = area_of(cpu);

	if (!area) {
		c->loss[LOSS_WAITS]++;
		return;
	}
	area->wait_events[c->wait_events & (WAIT_EVENTS - 1)] = *what;
	order_set(&c->wait_events, c->wait_events + 1);
}

/*
 * wait_ran - the thread of slot @slot had the CPU from @since to @now. What takes a branch is in functions of their own
 * here: the verifier walks what follows a branch once for each way, and much follows in sched_switch.
 */
__weak __noinline int wait_ran(struct cpu_slot *c, __u32 slot, __u64 since, __u64 now)
{
	struct wait_run *r;
	struct slot *s;

	if (!c || now - since < WAIT_RUN_NS)
		return 0;
	s = slot_at(slot);
	if (!s)
		return 0;
	r = &c->runs[(c->nr_runs - 1) & (WAIT_RUNS - 1)];
	if (r->slot != slot || r->started != (__u32)s->start_ns || account_sub(since, r->until) > WAIT_RUN_NS) {
		r = &c->runs[c->nr_runs & (WAIT_RUNS - 1)];
		c->nr_runs++;
		r->slot = slot;
		r->started = s->start_ns;
		r->since = since;
		r->ns = 0;
	}
	r->ns += now - since;
	r->until = now;
	return 0;
}

/*
 * Of those that had the CPU before, the ones that make up a good part of a wait: from @start on, @left ns of it are not
 * told yet. @told: ns at the end of the last one's run that are. One that has ended, and whose slot was read since,
 * is not named. Returns what is left then.
 */
static __always_inline __u64 wait_tell_before(struct cpu_slot *c, __u32 cpu, __u32 index, __u64 start, __u64 wait,
					      __u64 left, __u64 told)
{
	for (__u32 i = 1; i <= WAIT_RUNS; i++) {
		const struct wait_run *r = &c->runs[(c->nr_runs - i) & (WAIT_RUNS - 1)];
		struct wait_event e = { .slot = index, .kind = WAIT_EVENT_BEHIND, .by = r->slot };
		const struct slot *s;

		e.a = account_sub(account_min(r->ns, account_sub(r->until, account_max(r->since, start))), told);
		e.a = account_min(e.a, left);
		told = 0;
		if (!r->slot || e.a < wait / WAIT_WORTH_PART || e.a < WAIT_RUN_NS)
			continue;
		s = slot_at(r->slot);
		if (!s || s->state == SLOT_FREE || (__u32)s->start_ns != r->started)
			continue;
		wait_push(c, cpu, &e);
		left -= e.a;
	}
	return left;
}

/*
 * wait_tell - a thread got the CPU from the one of slot @by (0: the idle thread, or one without), which had had it for
 * @ran ns. A wait is charged to that one for as long as it ran, then to those before it that ran for long; for the rest
 * nobody is named. A hog is named, too, where a kernel thread that had waited for it, as well, came first.
 */
__weak __noinline int wait_tell(struct cpu_slot *c, struct slot *in, __u32 index, __u32 by, __u64 ran)
{
	struct wait_event e = { .slot = index };
	__u64 wait, blocked;
	bool was_blocked;

	if (!c || !in || in->since - c->was_since < away_ns || !in->in_scope)
		return 0;
	was_blocked = c->was_state == SLOT_D || c->was_state == SLOT_SLEEP;
	wait = in->runq_ns - c->was_runq;
	blocked = c->was_blocked;
	if (was_blocked && blocked >= AWAY_NS) {
		bool d = c->was_state == SLOT_D;
		__u32 slot = account_hist_slot(blocked);

		c->away_hist[d][slot < HIST_SLOTS ? slot : 0]++;
		if (blocked >= (d ? block_d_ns : block_sleep_ns) && wait_afford(c, in->since)) {
			e.kind = d ? WAIT_EVENT_D : WAIT_EVENT_SLEEP;
			e.a = blocked;
			wait_push(c, in->cpu, &e);
		}
	}
	if (wait < wait_ns || !wait_afford(c, in->since))
		return 0;
	e.b = 0;
	if (in->throttled_ns != c->was_throttled) {
		e.kind = WAIT_EVENT_LIMIT;
		e.a = in->throttled_ns - c->was_throttled;
		e.b = wait - e.a;
	} else if (by || !c->current_idle) {
		e.kind = WAIT_EVENT_BEHIND;
		e.by = by;
		e.a = by ? account_min(wait, ran) : 0;
		e.b = wait - e.a;
		if (by && e.b)
			e.b = wait_tell_before(c, in->cpu, index, account_sub(in->since, wait), wait, e.b,
					       ran < WAIT_RUN_NS ? 0 : ran);
	} else {
		e.kind = WAIT_EVENT_WAKEUP;
		e.a = account_min(wait, ran);
		e.b = wait - e.a;
	}
	wait_push(c, in->cpu, &e);
	return 0;
}

/* Whether the last one that woke the thread was another one. Interrupts are told apart by what they are, not by the
 * thread that they interrupted. */
static __always_inline bool woken_by_other(const struct slot *s, __u32 context, __u32 waker)
{
	__u32 was = s->wake >> WAKE_CONTEXT_SHIFT & 7;

	return was != context || (context == WAKE_THREAD ? s->waker != waker
							 : (s->waker ^ waker) >> WAKER_TID_BITS);
}

/* woken_tell - another one wakes the thread now: the one that did so far, and how often. */
__weak __noinline int woken_tell(struct cpu_slot *c, __u32 cpu, struct slot *s, __u32 index, __u64 now)
{
	struct wait_event e = { .slot = index, .kind = WAIT_EVENT_WOKEN };

	if (!c || !s)
		return 0;
	e.by = s->waker;
	e.context = s->wake >> WAKE_CONTEXT_SHIFT & 7;
	e.a = s->wakeups - s->waker_since;
	e.b = s->waker_since;
	s->waker_since = s->wakeups;
	if (e.a && s->in_scope && wait_afford(c, now))
		wait_push(c, cpu, &e);
	return 0;
}

#endif
