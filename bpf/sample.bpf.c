/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few times a second on every CPU: brings up to date what sched_switch would only write when the
 * running thread leaves, which a lone busy thread may not do for seconds.
 */

#include "maps.bpf.h"

#include "life.bpf.h"
#include "scope.bpf.h"

SEC("perf_event")
int sample(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct task_struct *t = bpf_get_current_task_btf();
	struct scope_facts facts;
	struct slot *s;

	/* Not in the middle of sched_switch, which only an NMI could interrupt. */
	if (!c || c->switches != c->switches_done)
		return 0;
	if (!c->since) { /* no switch since the start: what runs now did so all the time */
		c->current_task = (__u64)t;
		c->current_slot = task_slot(t);
		c->current_idle = !t->pid;
		c->since = shared.started_ns;
	}
	if (c->current_task != (__u64)t)
		return 0;
	s = slot_at(c->current_slot);
	if (!s)
		return 0;
	facts = scope_facts(t);
	slot_begin(s);
	s->utime_ns = t->utime;
	s->stime_ns = t->stime;
	s->policy = t->policy;
	s->prio = t->prio;
	if (s->scope_key != scope_key(facts, c))
		scope_decide(facts.cgroups, facts.cred, s, c);
	slot_end(s);
	return 0;
}
