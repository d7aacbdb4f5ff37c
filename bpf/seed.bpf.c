/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Enters the threads that existed before the probes, after the probes are attached. A switch that
 * comes first makes the slot itself; the compare-and-exchange keeps either. Run again when the
 * scope changed, for the threads that do not switch.
 */

#include "maps.bpf.h"

#include "account.h"
#include "clock.bpf.h"
#include "life.bpf.h"

/* Since when the thread is in the state it has, on the scheduler's clock. */
static __always_inline __u64 seed_since(struct task_struct *t, struct slot *s)
{
	__u64 arrival = t->sched_info.last_arrival, stint;

	if (s->state == SLOT_RUNNING)
		return arrival;
	if (s->state == SLOT_RUNQUEUE)
		return t->sched_info.last_queued ? t->sched_info.last_queued : arrival;
	stint = account_stint(t->prio, sched_ext_ran, t->se.sum_exec_runtime, t->se.prev_sum_exec_runtime);
	if (stint != ACCOUNT_STINT_UNKNOWN)
		return arrival + stint;
	s->flags |= SLOT_SINCE_MIN;
	return arrival;
}

SEC("iter/task")
int seed_task(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	__u32 cpu = bpf_get_smp_processor_id(), index, notes = 0;
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct scope_facts facts;
	struct slot_ref *ref;
	struct slot *s;
	__u64 now, since;
	__u8 flags = 0;
	__u32 state;

	if (!t || !c || t->exit_state || (t->__state & (TASK_NEW | TASK_DEAD)))
		return 0;
	facts = scope_facts(t);
	ref = bpf_task_storage_get(&refs, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!ref)
		return 0;
	s = slot_at(ref->slot);
	if (s) { /* it has one: the scope may have changed while it sleeps */
		if (s->scope_key != scope_key(facts, c)) {
			scope_decide(facts.cgroups, facts.cred, s, c, ref->slot); /* as its next switch would */
			slot_changed(s);
		}
		return 0;
	}
	index = slot_take();
	s = slot_at(index);
	if (!s) {
		c->loss[LOSS_NO_SLOT]++;
		return 0;
	}
	slot_identify(s, t);
	s->pid_scope = slot_pid_scope(t, 0);
	scope_decide(facts.cgroups, facts.cred, s, c, index);

	state = t->__state;
	if (bpf_core_field_exists(t->frozen) && BPF_CORE_READ_BITFIELD(t, frozen))
		state = account_frozen(state);
	s->state = t->on_cpu ? SLOT_RUNNING : account_state(false, state, state, &flags, &notes);
	s->flags = flags;
	s->run_delay = t->sched_info.run_delay;
	s->exec_ns = t->se.sum_exec_runtime;
	s->voluntary = t->nvcsw;
	s->involuntary = t->nivcsw;
	s->utime_ns = t->utime;
	s->stime_ns = t->stime;
	s->migrations = t->se.nr_migrations;
	s->cpu = t->wake_cpu;

	now = clock_now(c);
	since = seed_since(t, s) + c->clock_offset;
	s->since = since < now ? since : now;
	s->born_ns = s->since;
	slot_give(ref, index, t);
	return 0;
}
