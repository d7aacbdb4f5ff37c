/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_CLOCK_BPF_H
#define SYSTOP_BPF_CLOCK_BPF_H

/* The single clock read of a program, and what the programs cost. */

#include "maps.bpf.h"

#include "account.h"

/* A CPU without an event for this long may have been suspended. */
#define CLOCK_SUSPEND_CHECK_NS 10000000
/* The smallest change of CLOCK_BOOTTIME - CLOCK_MONOTONIC that counts as a suspend. The clocks are read in this order, so the
 * difference is too small by the time between the two reads, seconds in a guest at worst, and never too large. */
#define CLOCK_SUSPEND_MIN_NS 1000000
/* One in this many runs of a program reads the clock at its end, too. */
#define CLOCK_COST_EVERY 64

/*
 * clock_follow_suspend - at each event, at @now. The accounting clock is CLOCK_MONOTONIC, which stands still during a suspend; the
 * recorder uses CLOCK_BOOTTIME, which does not. Reading CLOCK_BOOTTIME at each event would cost another function call.
 */
static __always_inline void clock_follow_suspend(struct cpu_slot *c, __u64 now)
{
	if (now - c->last_ns > CLOCK_SUSPEND_CHECK_NS || shared.suspended_ns > c->suspended_ns + CLOCK_SUSPEND_MIN_NS) {
		__u64 boot = bpf_ktime_get_boot_ns(), suspended = boot - bpf_ktime_get_ns();

		if ((__s64)(suspended - c->suspended_ns) > CLOCK_SUSPEND_MIN_NS)
			c->suspended_ns = suspended;
	}
	c->last_ns = now;
}

static __always_inline __u64 clock_now(struct cpu_slot *c)
{
	__u64 now = bpf_ktime_get_ns();

	clock_follow_suspend(c, now);
	return now;
}

/* How long the smallest distance of the two clocks is trusted, as they drift apart by ppm, and how often it is
 * measured. */
#define CLOCK_WINDOW_NS 1000000000
#define CLOCK_FOLLOW_NS 50000

/*
 * clock_follow - keeps the distance between the accounting clock and the scheduler's, for times that only the kernel
 * keeps. The scheduler's clock never gives the instant of a switch: after a preempting wakeup the kernel does not
 * update it, and it stands at the time of the wakeup, up to a tick earlier. Hence the smallest recent distance is used.
 */
static __always_inline void clock_follow(struct cpu_slot *c, __u64 now, const struct rq *rq)
{
	__u64 distance;

	if (now - c->clock_seen < CLOCK_FOLLOW_NS)
		return;
	c->clock_seen = now;
	distance = now - rq->clock;
	if (now - c->clock_window > CLOCK_WINDOW_NS) {
		bool recent = now - c->clock_window < 4ULL * CLOCK_WINDOW_NS;

		c->clock_before = recent ? c->clock_least : distance;
		c->clock_least = distance;
		c->clock_window = now;
	} else if (distance < c->clock_least) {
		c->clock_least = distance;
	}
	c->clock_offset = c->clock_least < c->clock_before ? c->clock_least : c->clock_before;
}

/* clock_cost - adds to the estimate of the programs' run time. @runs: of this program on this CPU */
static __always_inline void clock_cost(struct cpu_slot *c, __u64 runs, __u64 began)
{
	if (!(runs % CLOCK_COST_EVERY))
		c->bpf_ns += (bpf_ktime_get_ns() - began) * CLOCK_COST_EVERY;
}

#endif
