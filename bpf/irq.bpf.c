/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts: how long each takes, which thread it interrupts, and, for sched_waking, which one a CPU is in: most wakeups happen
 * in interrupts, and the current thread has nothing to do with them. Tracepoints that the kernel does not have are left out.
 * Programs are attached in the order of this file: if the beginning of an interrupt is seen, so is its end.
 */

#include "maps.bpf.h"

#include "clock.bpf.h"
#include "irq.bpf.h"
#include "steal.bpf.h"
#include "unwind.bpf.h"

const volatile bool preempt_rt;
const volatile __u32 irq_named = IRQ_NAMED;

/* The line of the CPUs' timers, where they have no vector of their own (arm64). Fixed at load. */
const volatile __u32 timer_line = IRQ_NO_LINE;

struct irq_lines_map irq_lines SEC(".maps");

static __always_inline int enter_hard(__u32 wake_source, __u32 source, bool timer)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	__u64 now;

	if (!c)
		return 0;
	now = clock_now(c);
	c->hardirq = wake_source;
	irq_enter(c, now, source);
	if (timer) {
		c->timer_at = now;
		tick_seen(c, cpu, now, IRQ_GAP_NS);
	}
	return 0;
}

/* A thread that is alone on its CPU does not switch: the tick adds the files that its samples could not. */
static __noinline int files_enter(struct task_struct *t, struct cpu_slot *c)
{
	c->files_met = 0;
	unwind_user(t, UNWIND_SWITCH);
	return 0;
}

static __always_inline int leave_hard(__u32 source, bool timer)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct task_struct *t = bpf_get_current_task_btf();

	if (!c)
		return 0;
	c->hardirq = 0;
	irq_leave(c, cpu, clock_now(c), source, t->pid, true);
	if (timer)
		steal_see(c, t);
	if (timer && samples_wait && c->files_met)
		files_enter(t, c);
	return 0;
}

/* The first comparison is decided at load: where timers have a vector, the verifier removes what depends on it. */
static __always_inline bool is_timer(__u32 irq)
{
	return timer_line != IRQ_NO_LINE && irq == timer_line;
}

SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int irq)
{
	return leave_hard(irq_line(irq), is_timer(irq));
}

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq)
{
	bool timer = is_timer(irq);

	return enter_hard(timer ? WAKE_SOURCE(WAKE_TIMER, 0) : WAKE_SOURCE(WAKE_IRQ, irq), irq_line(irq), timer);
}

/* The CPU's own vectors: tracepoint name, source, and context of wakeups in it. */
#define VECTOR(name, source, wake)                                \
	SEC("?tp_btf/" #name "_exit")                             \
	int BPF_PROG(name##_exit)                                 \
	{                                                         \
		return leave_hard(source, (source) == IRQ_LOC);   \
	}                                                         \
	SEC("?tp_btf/" #name "_entry")                            \
	int BPF_PROG(name##_entry)                                \
	{                                                         \
		return enter_hard(WAKE_SOURCE(wake, 0), source, (source) == IRQ_LOC); \
	}

VECTOR(local_timer, IRQ_LOC, WAKE_TIMER)
VECTOR(reschedule, IRQ_RES, WAKE_IPI)
VECTOR(call_function, IRQ_CAL, WAKE_IPI)
VECTOR(call_function_single, IRQ_CAL, WAKE_IPI)
VECTOR(irq_work, IRQ_IWI, WAKE_IPI)

/* Whether the softirqs that run now are the thread's own work, and take nothing from it. With threaded interrupts,
 * ktimers runs them, too. */
static __always_inline bool in_ksoftirqd(const struct task_struct *t)
{
	__u64 comm = *(__u64 *)t->comm;

	return t->flags & PF_KTHREAD && (comm == *(__u64 *)"ksoftirqd" || comm == *(__u64 *)"ktimers/");
}

/* The running time of the current thread, without interrupts. */
static __always_inline __u64 ran_so_far(const struct cpu_slot *c, const struct slot *s, __u64 now)
{
	return s->run_ns + account_sub(account_sub(now, s->since), c->hardirq_ns + c->softirq_ns - c->irq_charged);
}

/* A preemptible softirq ends. The slot holds how long its thread had run when the softirq began. */
static __noinline int leave_preemptible(struct cpu_slot *c, __u32 cpu, __u32 vector, struct task_struct *t)
{
	__u32 index;
	struct slot *s = task_slot(t, &index);
	struct irq_level level = { .source = vector };
	__u64 now, own;

	if (!s) {
		c->loss[LOSS_IRQ] += shared.seeded;
		return 0;
	}
	if (!s->softirq) /* it began before the programs were attached */
		return 0;
	now = clock_now(c);
	own = account_sub(ran_so_far(c, s, now), s->softirq_began);
	level.began = now - own;
	s->softirq = 0;
	irq_count(c, cpu, &level, own, t->pid);
	return 0;
}

static __noinline int enter_preemptible(struct cpu_slot *c, __u32 vector)
{
	__u32 index;
	struct slot *s = task_slot(bpf_get_current_task_btf(), &index);

	if (!s)
		return 0;
	s->softirq_began = ran_so_far(c, s, clock_now(c));
	s->softirq = WAKE_SOURCE(WAKE_SOFTIRQ, vector);
	return 0;
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, unsigned int vector)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct task_struct *t = bpf_get_current_task_btf();

	if (!c)
		return 0;
	if (preempt_rt)
		return leave_preemptible(c, cpu, vector, t);
	c->softirq = 0;
	irq_leave(c, cpu, clock_now(c), vector, t->pid, !in_ksoftirqd(t));
	return 0;
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vector)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);

	if (!c)
		return 0;
	if (preempt_rt)
		return enter_preemptible(c, vector);
	c->softirq = WAKE_SOURCE(WAKE_SOFTIRQ, vector);
	irq_enter(c, clock_now(c), vector);
	return 0;
}
