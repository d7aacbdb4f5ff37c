/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_IRQ_BPF_H
#define SYSTOP_BPF_IRQ_BPF_H

/*
 * Which interrupts a CPU is in, and how long each took. An interrupted interrupt stands still: each one is charged with
 * its own time only. Softirqs in ksoftirqd are that thread's own running time, and so are all softirqs where they are
 * preemptible (PREEMPT_RT).
 */

#include "area.bpf.h"
#include "maps.bpf.h"

#include "account.h"
#include "clock.bpf.h"
#include "life.bpf.h"
#include "recorder.bpf.h"

extern const volatile bool preempt_rt;

/* Number of sources for lines, at most IRQ_NAMED. Fixed at load. */
extern const volatile __u32 irq_named;

/* Source of each line, by its number; 0: not met yet. */
struct irq_lines_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, IRQ_LINES_MAX);
	__type(key, __u32);
	__type(value, __u64);
};
extern struct irq_lines_map irq_lines SEC(".maps");

static __always_inline __u32 irq_line(__u32 number)
{
	__u64 *source = bpf_map_lookup_elem(&irq_lines, &number), mine;
	__u32 others = IRQ_LINES + irq_named;

	if (!source)
		return others;
	if (*source)
		return *source;
	mine = IRQ_LINES + __sync_fetch_and_add(&shared.irq_lines, 1);
	if (mine > others)
		mine = others;
	__sync_val_compare_and_swap(source, 0, mine); /* another CPU may have been quicker */
	return *source;
}

static __always_inline struct irq_level *irq_level(struct cpu_slot *c, __u32 index)
{
	if (index >= IRQ_LEVELS)
		return NULL;
	barrier_var(index); /* or the compiler leaves out what shows the verifier the bound */
	return &c->irq_levels[index & (IRQ_LEVELS - 1)];
}

/* irq_enter - an interrupt begins at @now. */
static __always_inline void irq_enter(struct cpu_slot *c, __u64 now, __u32 source)
{
	__u32 depth = c->irq_depth;
	struct irq_level *outer = irq_level(c, depth - 1), *level = irq_level(c, depth);

	if (!shared.seeded) /* the threads that it interrupts are not known yet */
		return;
	/* The depth is raised first: an interrupt can come in the middle of this function, as softirqs begin and end with
	 * interrupts on. */
	*(volatile __u32 *)&c->irq_depth = depth + 1;
	if (outer)
		outer->own_ns += account_sub(now, c->irq_at);
	if (level) {
		level->began = now;
		level->own_ns = 0;
		level->source = source;
	}
	c->irq_at = now;
	clock_cost(c, c->interrupts, now);
}

static __always_inline void irq_count(struct cpu_slot *c, __u32 cpu, const struct irq_level *level, __u64 own, __u32 tid)
{
	struct cpu_area *area = area_of(cpu);
	struct irq_slot *s;
	__u32 slot;

	if (!area) {
		c->loss[LOSS_IRQ]++;
		return;
	}
	s = &area->irqs[level->source & (IRQ_SOURCES - 1)];
	if (!s->count) /* another interrupt may come in the middle of this function */
		__sync_fetch_and_or(&area->irqs_met[level->source / 64 & (IRQ_SOURCES / 64 - 1)], 1ULL << (level->source & 63));
	s->count++;
	s->ns += own;
	slot = account_log2(own >> IRQ_HIST_SHIFT);
	if (slot >= IRQ_HIST_SLOTS)
		slot = IRQ_HIST_SLOTS - 1;
	s->hist[slot]++;
	if (own > s->max_ns) {
		s->max_ns = own;
		s->max_at = level->began;
		s->max_tid = tid;
	}
}

/* irq_leave - the innermost interrupt, of @source, ends at @now. @steals: @tid, which ran, lost the time; false for
 * softirqs in ksoftirqd. */
static __always_inline void irq_leave(struct cpu_slot *c, __u32 cpu, __u64 now, __u32 source, __u32 tid, bool steals)
{
	__u32 depth = c->irq_depth - 1;
	struct irq_level *level = irq_level(c, depth);
	__u64 own;

	if (!c->irq_depth) /* it began before the programs were attached */
		return;
	if (!level) {
		c->loss[LOSS_IRQ]++;
		c->irq_depth = depth;
		return;
	}
	own = level->own_ns + account_sub(now, c->irq_at);
	c->irq_at = now;
	if (level->source != source) { /* an end was missed: start afresh */
		c->loss[LOSS_IRQ]++;
		c->irq_depth = 0;
		return;
	}
	/* One sum per kind: an interrupt cannot come in the middle of another one of its kind. */
	if (source >= IRQ_SOFTIRQS)
		c->hardirq_ns += own;
	else if (steals)
		c->softirq_ns += own;
	irq_count(c, cpu, level, own, tid);
	record(c, cpu, now, RING_IRQ, source, ring_span(account_sub(now, level->began)), tid);
	/* Last, as the next interrupt overwrites this level. */
	*(volatile __u32 *)&c->irq_depth = depth;
	c->interrupts++;
	clock_cost(c, c->interrupts, now);
}

/* softirq_runs - whether the thread runs a preemptible softirq. */
static __always_inline bool softirq_runs(struct task_struct *t)
{
	return preempt_rt && bpf_core_field_exists(t->softirq_disable_cnt) && t->softirq_disable_cnt & SOFTIRQ_SERVING;
}

/* softirq_now - the current softirq: WAKE_SOURCE(), 0: none. A preemptible softirq belongs to its thread: a thread
 * that preempts it is not in it, and can run another one. */
static __always_inline __u32 softirq_now(const struct cpu_slot *c)
{
	struct task_struct *t;
	const struct slot *s;
	__u32 index;

	if (!preempt_rt)
		return c->softirq;
	t = bpf_get_current_task_btf();
	if (!softirq_runs(t))
		return 0;
	s = task_slot(t, &index);
	return s ? s->softirq : 0;
}

/* irq_sampled - the source that a sampler's interrupt interrupted, + 1; 0: none. */
static __always_inline __u32 irq_sampled(struct cpu_slot *c)
{
	__u32 depth = c->irq_depth;
	struct irq_level *level = irq_level(c, depth - 1);

	/* The innermost one may be the sampler's own. */
	if (shared.sampler_seen && level && level->source >= IRQ_SOFTIRQS)
		level = irq_level(c, depth - 2);
	return level ? level->source + 1 : 0;
}

__weak __noinline int record_gap(struct cpu_slot *c, __u32 cpu, __u64 now, __u64 gap)
{
	if (c)
		record_two(c, cpu, now, RING_GAP, 0, RING_TID((__u32)bpf_get_current_pid_tgid()), 0, gap, 0);
	return 0;
}

/*
 * tick_seen - the CPU's timer fired at @now. It fires every few ms while the CPU is busy. If it does not for @least ns,
 * interrupts were off, or a hypervisor ran another guest.
 */
static __always_inline void tick_seen(struct cpu_slot *c, __u32 cpu, __u64 now, __u64 least)
{
	__u64 gap = account_sub(now, account_max(c->tick_at, c->busy_since));

	if (gap >= least && c->tick_at && !c->current_idle && !c->tickless) {
		record_gap(c, cpu, now, gap);
		if (gap > c->gap_ns) {
			c->gap_ns = gap;
			c->gap_at = now;
			c->gap_tid = bpf_get_current_pid_tgid();
		}
	}
	c->tick_at = now;
}

/* irq_none - at a switch: no interrupt can be in progress, except for preemptible softirqs, which are not counted
 * here. */
static __always_inline void irq_none(struct cpu_slot *c)
{
	if (c->irq_depth) {
		c->loss[LOSS_IRQ]++;
		c->irq_depth = 0;
	}
}

#endif
