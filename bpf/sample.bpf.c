/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler of each CPU: records what runs there, with its stacks, and updates what sched_switch would write only
 * when the running thread leaves: a lone busy thread may not leave for seconds. It also runs at each event of a kind in
 * SLOT_COUNTS whose stacks are taken: the perf event's cookie identifies the kind.
 */

#include "maps.bpf.h"

#include "clock.bpf.h"
#include "irq.bpf.h"
#include "life.bpf.h"
#include "recorder.bpf.h"
#include "scope.bpf.h"
#include "stack.bpf.h"

/* systop and the parent of its helpers: neither they nor the helpers are sampled. 0: they are. */
extern const volatile __u32 self_tgid, starter_tgid;

static __always_inline bool is_self(struct task_struct *t)
{
	__u32 tgid;

	if (!self_tgid)
		return false;
	tgid = t->tgid;
	return tgid == self_tgid || tgid == starter_tgid ||
	       (__u32)task_view(t)->real_parent->tgid == starter_tgid;
}

/* Updates the running thread's slot. Returns its index, 0: it has none. */
static __always_inline __u32 sample_slot(struct task_struct *t, struct cpu_slot *c)
{
	struct slot *s;

	/* Not in the middle of sched_switch, which only an NMI could interrupt. */
	if (c->switches != c->switches_done)
		return 0;
	if (!c->since) { /* no switch since the start: the current thread has run all the time */
		c->current_task = (__u64)t;
		c->current_slot = task_slot_index(t);
		c->current_idle = !t->pid;
		c->since = shared.started_ns;
	}
	if (c->current_task != (__u64)t)
		return 0;
	s = slot_at(c->current_slot);
	if (!s)
		return 0;
	slot_begin(s);
	s->utime_ns = t->utime;
	s->stime_ns = t->stime;
	slot_counts(s, t);
	s->policy = t->policy;
	s->prio = t->prio;
	if (scope_changed(s, t))
		scope_decide(t, s, c, c->current_slot);
	slot_end(s);
	return c->current_slot;
}

static __always_inline enum sample_class sample_class(struct task_struct *t, __u32 slot)
{
	if (!t->pid)
		return SAMPLE_IDLE;
	if (t->flags & PF_VCPU)
		return SAMPLE_GUEST;
	if (is_self(t))
		return SAMPLE_SELF;
	if (!slot)
		return SAMPLE_MISSED;
	return t->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER) ? SAMPLE_KERNEL : SAMPLE_THREAD;
}

/* Whether user code was interrupted: then there is no kernel stack. The registers have the order of asm/ptrace.h,
 * and have to be read as whole words. */
static __always_inline bool in_user_code(const __u64 *regs)
{
#if defined(__TARGET_ARCH_x86)
	__u64 cs = regs[17];

	barrier_var(cs);
	return (cs & 3) == 3;
#elif defined(__TARGET_ARCH_arm64)
	__u64 pstate = regs[33];

	barrier_var(pstate);
	return !(pstate & 0xf);
#else
	return false;
#endif
}

/* A sample in an interrupt on an idle CPU: no thread's time, but it shows where interrupts spend theirs. */
static __noinline int sample_idle(const __u64 *ctx, struct cpu_slot *c, struct frames *k, struct stack_event *what)
{
	long bytes = bpf_get_stack((void *)ctx, k->frames, STACK_KERNEL_MAX * 8, 0);
	struct stack_event *e;
	__u64 place;

	if (bytes <= 0)
		return 0;
	what->kernel = stack_kernel(k, (__u32)bytes / 8, c);
	what->flags = what->kernel ? 0 : STACK_KERNEL_LOST;
	e = stack_event(c, what->cpu, &place);
	if (!e)
		return 0;
	*e = *what;
	stack_emit(e, place);
	return 0;
}

/* Most budget that a quiet time saves up for a burst of stacks of counted events, ns. */
#define COUNTED_BURST_NS 250000000

/* The kind of event that runs the program: enum stack_kind. It is called wherever the kind is needed: with a variable,
 * the verifier would walk the rest of the program once for each kind. */
static __always_inline __u64 sampled_kind(const __u64 *ctx)
{
	return bpf_get_attach_cookie((void *)ctx);
}

/* Whether the stack of this minor page fault is taken. */
static __always_inline bool fault_is_taken(struct cpu_slot *c)
{
	__u32 point = c->fault_points % FAULT_POINTS;

	if (!point)
		c->fault_taken = bpf_get_prandom_u32() % FAULT_POINTS;
	c->fault_points++;
	return point == c->fault_taken;
}

/* Whether the budget for stacks of counted events has room for one more. */
static __always_inline bool counted_afford(const __u64 *ctx, struct cpu_slot *c, __u64 now)
{
	__u64 *paid = sampled_kind(ctx) == STACK_COUNTED + COUNT_minor_faults ? &c->minors_paid : &c->counted_paid;

	return stack_afford(paid, now, COUNTED_BURST_NS, shared.counted_price_ns);
}

SEC("perf_event")
int sample(const __u64 *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), context = UNWIND_SAMPLE, index;
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct frames *k = bpf_map_lookup_elem(&kernel_frames, &context);
	struct task_struct *t = bpf_get_current_task_btf();
	struct stack_event what = { .kind = sampled_kind(ctx), .weight = 1, .cpu = cpu }, *e;
	enum sample_class class;
	__u64 place, times;
	struct slot *s;
	long bytes;

	if (!c || !k || (sampled_kind(ctx) == STACK_COUNTED + COUNT_minor_faults && !fault_is_taken(c)))
		return 0;
	what.at = bpf_ktime_get_ns();
	if (shared.sampler_timer && sampled_kind(ctx) == STACK_SAMPLE)
		tick_seen(c, cpu, what.at, shared.sampler_gap_ns);
	index = sample_slot(t, c);
	class = sample_class(t, index);
	times = account_sub(1, sampled_kind(ctx)); /* a counted event is no sample of what the CPU does */
	c->samples[class < SAMPLE_CLASSES ? class : 0] += times;
	s = slot_at(index);
	what.irq = irq_sampled(c);
	if (!kernel_reads || !shared.stack_generation || class == SAMPLE_SELF)
		return 0;
	if (class == SAMPLE_IDLE && what.irq && !scope_kinds)
		return sample_idle(ctx, c, k, &what);
	if (!s || !s->in_scope)
		return 0;
	if (sampled_kind(ctx) >= STACK_COUNTED && !counted_afford(ctx, c, what.at)) {
		c->counted_skipped++;
		return 0;
	}
	what.slot = index;
	what.tid = s->tid;
	what.runq_ns = s->runq_ns;
	if (class == SAMPLE_GUEST)
		what.flags |= STACK_GUEST;
	bytes = in_user_code(ctx) ? 0 : bpf_get_stack((void *)ctx, k->frames, STACK_KERNEL_MAX * 8, 0);
	if (bytes > 0 && k->frames[0] - shared.entry_from < shared.entry_to - shared.entry_from) {
		c->samples[class < SAMPLE_CLASSES ? class : 0] -= times;
		c->samples[SAMPLE_ENTRY] += times;
		class = SAMPLE_ENTRY;
	}
	if (bytes > 0) {
		what.kernel = stack_kernel(k, (__u32)bytes / 8, c);
		what.flags |= what.kernel ? 0 : STACK_KERNEL_LOST;
	} else {
		what.flags |= STACK_USER_MODE;
	}
	if (class == SAMPLE_ENTRY)
		what.flags |= STACK_NO_USER;
	else
		what.user = stack_user(t, c, context, &what.flags);
	e = stack_event(c, cpu, &place);
	if (!e)
		return 0;
	*e = what;
	stack_emit(e, place);
	if (sampled_kind(ctx) == STACK_SAMPLE)
		record(c, cpu, what.at, RING_SAMPLE,
		       (what.tid & RING_SAMPLE_TID) | (what.flags & STACK_USER_MODE ? RING_USER_MODE : 0), what.user,
		       what.kernel);
	c->sample_ns += account_sub(bpf_ktime_get_ns(), what.at);
	return 0;
}
