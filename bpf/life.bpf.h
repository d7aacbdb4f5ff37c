/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_LIFE_BPF_H
#define SYSTOP_BPF_LIFE_BPF_H

/*
 * A slot's life: taken from the free queue (or never used before), given to a thread by compare-and-exchange in its
 * task storage, closed by the switch that sees the thread dead, harvested by user space, and put back into the queue.
 * The storage is created with the thread, or by the iterator: before 6.4 it has no allocator of its own, and creating
 * it at a switch takes memory under the runqueue's lock, while waking kswapd for more memory needs that lock.
 */

#include "maps.bpf.h"
#include "order.bpf.h"
#include "scope.bpf.h"

/* Between slot_begin() and slot_end() seq is odd; a reader that sees the same even number before and after its copy
 * has a consistent slot. */
static __always_inline void slot_begin(struct slot *s)
{
	order_step(&s->seq);
}

static __always_inline void slot_end(struct slot *s)
{
	order_step(&s->seq);
}

/* slot_changed - after a change outside a switch: makes a reader in progress read again. */
static __always_inline void slot_changed(struct slot *s)
{
	order_add(&s->seq, 2);
}

/* Requests all cache lines that a switch-in needs at once, rather than waiting for one after the other; task_slot() touches line
 * 2. */
static __always_inline void slot_touch(const struct slot *s)
{
	asm volatile("" : : "r"(s->seq), "r"(s->runq_max_ns));
}

static __always_inline struct slot *slot_at(__u32 index)
{
	return index ? bpf_map_lookup_elem(&slots, &index) : 0;
}

static __always_inline __u64 *found_at(struct task_struct *t)
{
	__u32 at = t->pid & (FOUND_PER_SLOT * slots_max - 1);

	return bpf_map_lookup_elem(&found_slots, &at);
}

/*
 * task_slot - the slot of a thread, NULL: it has none yet.
 * @index: set to its index, or 0
 *
 * The found slot is read only once: a thread with the same entry, whose tid is FOUND_PER_SLOT * slots_max off, can
 * write its own slot there on another CPU between the comparison and a second read.
 */
static __always_inline struct slot *task_slot(struct task_struct *t, __u32 *index)
{
	__u64 *found = found_at(t);
	struct slot_ref *ref;
	struct slot *s;

	*index = found ? *(volatile __u64 *)found : 0;
	s = slot_at(*index);
	if (s && s->task == (__u64)t)
		return s;
	ref = bpf_task_storage_get(&refs, t, 0, 0);
	*index = ref ? ref->slot : 0;
	if (ref && found)
		*found = *index;
	return slot_at(*index);
}

static __always_inline __u32 task_slot_index(struct task_struct *t)
{
	__u32 index;

	task_slot(t, &index);
	return index;
}

/* A thread's counters, as kernels have them. */
struct task_struct___counts {
#define _(field, member, metric) unsigned long member;
	SLOT_COUNTS(_)
#undef _
} __attribute__((preserve_access_index));

/* slot_counts - copies what the kernel counted of the thread so far. */
static __always_inline void slot_counts(struct slot *s, struct task_struct *task)
{
	struct task_struct___counts *t = (void *)task;

#define _(field, member, metric)                                                                                         \
	s->field = sizeof(s->field) == 4 || bpf_core_field_exists(t->member) ? t->member : COUNT_UNKNOWN;
	SLOT_COUNTS(_)
#undef _
}

/* Fills in the thread's name and ids. The caller owns the slot. */
static __always_inline void slot_identify(struct slot *s, struct task_struct *t)
{
	for (int i = 0; i < (int)sizeof(s->comm); i++)
		s->comm[i] = t->comm[i];
	s->tid = t->pid;
	s->tgid = t->tgid;
	s->ppid = task_view(t)->real_parent->tgid;
	s->start_ns = t->start_boottime;
	s->pf_flags = t->flags;
	s->prio = t->prio;
	s->policy = t->policy;
	s->utime_ns = t->utime;
	s->stime_ns = t->stime;
	slot_counts(s, t);
}

/* Returns an empty slot that only the caller knows, 0: all are in use. */
static __always_inline __u32 slot_take(void)
{
	__u32 index = 0;
	struct slot *s;

	if (bpf_map_pop_elem(&free_slots, &index)) {
		if (shared.slots_used + 1 >= slots_max)
			return 0;
		index = __sync_fetch_and_add(&shared.slots_used, 1) + 1;
		if (index >= slots_max)
			return 0;
	}
	s = slot_at(index);
	if (!s)
		return 0;
	s->state = SLOT_FREE;
	s->flags = 0;
	s->cpu = 0;
	/* Everything after seq, state, flags and cpu. */
	__builtin_memset(&s->since, 0, sizeof(*s) - __builtin_offsetof(struct slot, since));
	return index;
}

/* Gives a slot that only the caller knows to a thread. Returns the other slot if another CPU was quicker. */
static __always_inline __u32 slot_give(struct slot_ref *ref, __u32 index, struct task_struct *t)
{
	__u32 other = __sync_val_compare_and_swap(&ref->slot, 0, index);
	struct slot *s = slot_at(index);

	if (s && !other)
		s->task = (__u64)t;
	if (!other)
		return index;
	if (s)
		s->state = SLOT_FREE; /* seed_task() has filled it in */
	bpf_map_push_elem(&free_slots, &index, 0);
	return other;
}

/* How -p and -t cover the thread: enum pid_scope, 0: not at all. @parent: the slot of the thread that created it, NULL:
 * unknown */
static __always_inline __u8 slot_pid_scope(struct task_struct *t, struct slot *parent)
{
	__u32 id = t->tgid; /* one variable for all saves stack, which is short before Linux 6.13 */
	__u8 *given;

	if (!(scope_kinds & SCOPE_PID))
		return 0;
	if (parent && parent->pid_scope == SCOPE_PROCESS)
		return SCOPE_PROCESS;
	given = bpf_map_lookup_elem(&scope_pids, &id);
	if (given && *given & SCOPE_PROCESS)
		return SCOPE_PROCESS;
	/* The thread's parent had no slot, or the thread had none at its birth. Children from before the start are not covered. */
	if (!parent && task_view(t)->group_leader->start_time >= shared.started_ns) {
		id = task_view(t)->real_parent->tgid;
		given = bpf_map_lookup_elem(&scope_pids, &id);
		if (given && *given & SCOPE_PROCESS)
			return SCOPE_PROCESS;
	}
	id = t->pid;
	given = bpf_map_lookup_elem(&scope_pids, &id);
	return given ? *given & SCOPE_THREAD : 0;
}

/* slot_new - a slot for a thread that has none, in state SLOT_FREE. @parent: the slot of the thread that created it,
 * or NULL. @switches: called for a switch, which is counted as lost if there is no slot. Returns its index, or 0. */
static __always_inline __u32 slot_new(struct task_struct *t, struct slot *parent, struct cpu_slot *c,
					      bool switches)
{
	struct slot_ref *ref = bpf_task_storage_get(&refs, t, 0, storage_at_switch ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	struct slot *s;
	__u32 index;

	if (!ref) { /* before seeding, no thread has storage */
		c->loss[LOSS_NO_STORAGE] += switches && shared.seeded;
		return 0;
	}
	index = slot_take();
	s = slot_at(index);
	if (!s) {
		c->loss[LOSS_NO_SLOT] += switches;
		return 0;
	}
	slot_identify(s, t);
	s->pid_scope = slot_pid_scope(t, parent);
	scope_decide(t, s, c, index);
	return slot_give(ref, index, t);
}

/* Hands a dead thread's slot to user space; nothing writes to it any more. */
static __always_inline void slot_bury(struct slot_ref *ref, __u32 index)
{
	__u32 at = __sync_fetch_and_add(&shared.dead_head, 1) % slots_max;
	__u64 *entry = bpf_map_lookup_elem(&dead_ring, &at);

	ref->slot = 0;
	if (entry)
		*entry = index;
}

#endif
