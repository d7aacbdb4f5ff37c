/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_STEAL_BPF_H
#define SYSTOP_BPF_STEAL_BPF_H

/*
 * Steal: the CPU had something to run, but the hypervisor ran something else. The kernel reads the hypervisor's sum
 * whenever it reads the runqueue's clock, and so before each switch. The stolen time belongs to the thread that had the
 * CPU, also if that is the idle thread: a CPU that wakes up may not get a real one at once.
 */

#include "maps.bpf.h"

#include "account.h"

/* Whether there can be a hypervisor; without one there is nothing to read. Fixed at load. */
extern const volatile bool steals;

/* ns stolen from the CPU of @rq since boot, as the kernel last read it; 0: the kernel does not know. */
static __always_inline __u64 steal_total(const struct rq *rq)
{
	__u64 total = 0;

	if (bpf_core_field_exists(rq->prev_steal_time_rq))
		total = rq->prev_steal_time_rq;
	/* Without CONFIG_PARAVIRT_TIME_ACCOUNTING, or with no-steal-acc: as of the last tick. */
	if (!total && bpf_core_field_exists(rq->prev_steal_time))
		total = rq->prev_steal_time;
	return total;
}

/* steal_see - at the CPU's timer: updates the sum for a reader during a long run. */
static __always_inline void steal_see(struct cpu_slot *c, struct task_struct *current)
{
	if (!steals)
		return;
	c->steal_seen = steal_total(task_view(current)->se.cfs_rq->rq);
	if (!c->steal_charged && c->steal_seen) { /* as in steal_take(): there may be no switch for long */
		c->steal_charged = c->steal_seen;
		shared.steal_known = 1;
	}
}

/*
 * steal_take - takes the growth of @total out of the @ran ns just added to the CPU's running or idle time, and to the
 * running time of @s. What exceeds @ran was stolen earlier and noticed only now: it is left for the next runs.
 */
static __noinline int steal_take(struct cpu_slot *c, struct slot *s, __u64 total, __u64 ran, bool idle)
{
	__u64 steal;

	c->steal_seen = total;
	if (!c->steal_charged || total < c->steal_charged) { /* what was stolen before the start is not charged */
		c->steal_charged = total;
		shared.steal_known = 1;
		return 0;
	}
	steal = account_min(total - c->steal_charged, ran);
	c->steal_charged += steal;
	c->steal_ns += steal;
	if (idle)
		c->idle_ns -= steal;
	else
		c->run_ns -= steal;
	if (s)
		account_steal(s, steal);
	return 0;
}

#endif
