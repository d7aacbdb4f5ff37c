/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_WAIT_BPF_H
#define SYSTOP_BPF_WAIT_BPF_H

/*
 * What ran instead of a waiting thread, for sched_switch, and what woke it, for sched_waking. The thread that had the
 * CPU before is at hand, and so is the length of its run; only after a long run or wait is another slot looked up.
 */

#include "area.bpf.h"
#include "life.bpf.h"
#include "maps.bpf.h"
#include "order.bpf.h"

#include "account.h"
#include "wait.h"

/* Settings, fixed at load. */
extern const volatile __u64 wait_ns; /* shortest waits to be reported */
extern const volatile __u64 away_ns; /* smaller of wait_ns and AWAY_NS: anything shorter is ignored */

/* A thread that ran earlier is reported if it accounts for at least one part in this many of the wait. */
#define WAIT_WORTH_PART 8
/* Shorter runs than one part in this many are skipped: half of all remembered runs, if that short, are not worth it together. */
#define WAIT_SHORT_PART (WAIT_WORTH_PART * WAIT_RUNS / 2)

/*
 * Whether one more event can be reported at @now. On an overloaded host nearly every wait is long, and most wakeups
 * have another waker than the last one. The budget keeps events few enough for user space to read them before they are
 * overwritten; the others are counted as lost.
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
	c->waits_paid = paid + shared.wait_price_ns;
	return true;
}

/* Whether one more thread can be named for a wait. Half of the budget is kept for other waits. */
static __always_inline bool wait_afford_share(struct cpu_slot *c, __u64 now)
{
	if (c->waits_paid + WAIT_BURST_NS / 2 > now)
		return false;
	c->waits_paid += shared.wait_price_ns;
	return true;
}

/* Both programs that report run with interrupts off, so never at once on a CPU. */
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
 * wait_ran - the thread of slot @slot had the CPU from @since to @now. Everything with branches is in a function of its
 * own here: the verifier walks what follows a branch once for each way, and much follows in sched_switch.
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

/* Adds @ns of the CPU's long run number @i (1: the newest) to its thread's share. Returns 0: there is no share left. */
__weak __noinline int wait_share(struct cpu_slot *c, __u32 i, __u64 ns)
{
	struct wait_share *share;
	const struct wait_run *r;

	if (!c)
		return 0;
	r = &c->runs[(c->nr_runs - i) & (WAIT_RUNS - 1)];
	for (__u32 k = 0; k < WAIT_SHARES; k++) {
		share = &c->shares[k];
		if (k >= c->nr_shares) {
			*share = (struct wait_share){ ns, r->slot, r->started };
			c->nr_shares = k + 1;
			return 1;
		}
		if (share->slot == r->slot && share->started == r->started) {
			share->ns += ns;
			return 1;
		}
	}
	return 0;
}

/* Charges part of a wait of slot @index to share @i, if that is at least @least ns; @left: ns of the wait not charged yet. A
 * thread that has ended, and whose slot was read since, is not named. Returns the ns still not charged. */
__weak __noinline __u64 wait_emit_share(struct cpu_slot *c, __u32 index, __u32 i, __u64 least, __u64 left)
{
	struct wait_event e = { .slot = index, .kind = WAIT_EVENT_BEHIND };
	const struct wait_share *share;
	const struct slot *s;

	if (!c || i >= WAIT_SHARES)
		return left;
	share = &c->shares[i];
	e.by = share->slot;
	e.a = account_min(share->ns, left);
	if (e.a < least || e.a < WAIT_RUN_NS)
		return left;
	s = slot_at(share->slot);
	if (!s || s->state == SLOT_FREE || (__u32)s->start_ns != share->started || !wait_afford_share(c, c->last_ns))
		return left;
	wait_push(c, bpf_get_smp_processor_id(), &e);
	return left - e.a;
}

/*
 * Charges the rest of a wait, @e->b, to earlier long runs on this CPU: those of @e->by, which had the CPU last, are added to
 * @e->a; other threads that ran for at least 1 / WAIT_WORTH_PART of the wait get an event each. The wait began at @start.
 * @charged: ns at the end of the newest run that are already charged.
 */
static __always_inline void wait_emit_before(struct cpu_slot *c, struct wait_event *e, __u64 start, __u64 wait, __u64 charged)
{
	const struct slot *by = slot_at(e->by);
	__u64 own;

	if (!by)
		return;
	c->shares[0] = (struct wait_share){ 0, e->by, by->start_ns };
	c->nr_shares = 1;
	c->skipped_runs = 0;
	for (__u32 i = 1; i <= WAIT_RUNS; i++) {
		const struct wait_run *r = &c->runs[(c->nr_runs - i) & (WAIT_RUNS - 1)];
		__u64 ns;

		if (!r->slot || r->until <= start)
			break;
		ns = account_sub(account_min(r->ns, r->until - account_max(r->since, start)), i == 1 ? charged : 0);
		if (ns >= wait / WAIT_SHORT_PART && wait_share(c, i, ns))
			c->skipped_runs = 0;
		else if (c->skipped_runs++ >= WAIT_SKIPS)
			break;
	}
	own = account_min(c->shares[0].ns, e->b);
	e->a += own;
	e->b -= own;
	for (__u32 i = 1; i < WAIT_SHARES && i < c->nr_shares; i++)
		e->b = wait_emit_share(c, e->slot, i, wait / WAIT_WORTH_PART, e->b);
}

/*
 * wait_emit - a thread got the CPU from that of slot @by (0: the idle thread, or one without a slot), which had had it
 * for @ran ns. The wait is charged to that thread for the time that it ran, then to earlier long runs; no thread is named
 * for the rest. A hog is named even if a kernel thread that had waited for it, too, ran in between.
 */
__weak __noinline int wait_emit(struct cpu_slot *c, struct slot *in, __u32 index, __u32 by, __u64 ran)
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
	} else if (by || !c->current_idle ||
		   /* The thread stood in another CPU's runqueue, and an idle CPU took it: it was not woken. */
		   (c->was_state == SLOT_RUNQUEUE && c->was_moved && c->was_since != in->born_ns)) {
		e.kind = WAIT_EVENT_BEHIND;
		e.by = by;
		e.a = by ? account_min(wait, ran) : 0;
		e.b = wait - e.a;
		if (by && e.b)
			wait_emit_before(c, &e, account_sub(in->since, wait), wait, ran < WAIT_RUN_NS ? 0 : ran);
	} else {
		e.kind = WAIT_EVENT_WAKEUP;
		e.a = account_min(wait, ran);
		e.b = wait - e.a;
	}
	wait_push(c, in->cpu, &e);
	return 0;
}

/* Whether the thread's last waker was another one. Interrupts are distinguished by their source, not by the thread
 * that they interrupted. */
static __always_inline bool woken_by_other(const struct slot *s, __u32 context, __u32 waker)
{
	__u32 was = s->wake >> WAKE_CONTEXT_SHIFT & 7;

	return was != context || (context == WAKE_THREAD ? s->waker != waker
							 : (s->waker ^ waker) >> WAKER_TID_BITS);
}

/* waker_emit - the waker changes now: reports the former one, and how often it woke the thread. */
__weak __noinline int waker_emit(struct cpu_slot *c, __u32 cpu, struct slot *s, __u32 index, __u64 now)
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
