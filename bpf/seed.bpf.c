/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives slots to the threads that existed before the probes, once the probes are attached. A switch that comes first
 * makes the slot itself; the compare-and-exchange keeps one of the two. Run again for threads that do not switch, when
 * the scope changed, they were moved to another cgroup, or their parent ended.
 */

#include "maps.bpf.h"

#include "account.h"
#include "clock.bpf.h"
#include "life.bpf.h"

static __always_inline __u64 seed_stint(const struct task_struct *t)
{
	return account_stint(t->prio, sched_ext_ran, t->se.sum_exec_runtime, t->se.prev_sum_exec_runtime);
}

/* Since when the thread has been in its state, on the scheduler's clock. */
static __always_inline __u64 seed_since(struct task_struct *t, struct slot *s)
{
	__u64 arrival = t->sched_info.last_arrival, stint;

	if (s->state == SLOT_RUNNING)
		return arrival;
	if (s->state == SLOT_RUNQUEUE)
		return t->sched_info.last_queued ? t->sched_info.last_queued : arrival;
	stint = seed_stint(t);
	if (stint != ACCOUNT_UNKNOWN)
		return arrival + stint;
	s->flags |= SLOT_SINCE_EARLY;
	return arrival;
}

/* The thread has a slot: updates what may have changed while it sleeps, as its next switch would. */
static __always_inline void seed_again(struct task_struct *t, struct slot *s, struct cpu_slot *c, __u32 index)
{
	__u32 ppid = task_view(t)->real_parent->tgid;

	if (s->ppid != ppid || s->prio != (__s16)t->prio || s->policy != t->policy) {
		s->ppid = ppid;
		s->prio = t->prio;
		s->policy = t->policy;
		slot_changed(s);
	}
	if (scope_changed(s, t)) {
		scope_decide(t, s, c, index);
		slot_changed(s);
	}
}

SEC("iter/task")
int seed_task(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	__u32 cpu = bpf_get_smp_processor_id(), index, notes = 0;
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct slot_ref *ref;
	struct slot *s;
	__u64 now, since;
	__u8 flags = 0;
	__u32 state;

	if (!t || !c || t->exit_state || (t->__state & (TASK_NEW | TASK_DEAD)))
		return 0;
	ref = bpf_task_storage_get(&refs, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!ref)
		return 0;
	s = slot_at(ref->slot);
	if (s) {
		seed_again(t, s, c, ref->slot);
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
	scope_decide(t, s, c, index);

	state = t->__state;
	if (bpf_core_field_exists(t->frozen) && BPF_CORE_READ_BITFIELD(t, frozen))
		state = account_frozen(state);
	s->state = t->on_cpu ? SLOT_RUNNING : account_state(false, state, state, &flags, &notes);
	s->flags = flags;
	s->run_delay = t->sched_info.run_delay;
	s->exec_ns = t->se.sum_exec_runtime;
	s->migrations = t->se.nr_migrations;
	s->cpu = t->wake_cpu;

	now = clock_now(c);
	if (!c->clock_seen) /* no switch on this CPU yet */
		clock_follow(c, now, task_view(bpf_get_current_task_btf())->se.cfs_rq->rq);
	/* Readers show all that a slot first seen after the start holds as growth since the last refresh: its times begin now. */
	s->sighted = shared.seeded;
	since = s->sighted ? now : seed_since(t, s) + c->clock_offset;
	s->since = since < now ? since : now;
	s->born_ns = s->since;
	if (s->state == SLOT_RUNNING) /* the sum at `since`: readers add the time after it. Below 0 if interrupts took some of it */
		s->exec_ns -= now - s->since;
	slot_give(ref, index, t);
	return 0;
}

/* A thread, or all threads of a process, are moved to another cgroup. Threads that switch notice it themselves. */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(cgroup_attach_task, struct cgroup *to, const char *path, struct task_struct *t, bool process)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct cgroup_move *m;

	__sync_fetch_and_add(&shared.scope_gen, 1);
	if (!c)
		return 0;
	m = bpf_ringbuf_reserve(&cgroup_moves, __builtin_offsetof(struct cgroup_move, was), 0);
	if (!m) {
		shared.moves_lost = 1;
		return 0;
	}
	m->slot = m->spare = 0;
	m->tid = process ? t->tgid : t->pid;
	m->process = process;
	m->at = clock_now(c);
	bpf_ringbuf_submit(m, BPF_RB_NO_WAKEUP);
	return 0;
}

/* All threads of a cgroup (v1) are moved because its CPUs went offline. */
SEC("tp_btf/cgroup_transfer_tasks")
int BPF_PROG(cgroup_transfer_tasks)
{
	__sync_fetch_and_add(&shared.scope_gen, 1);
	shared.moves_lost = 1; /* each thread has to be checked */
	return 0;
}
