/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which interrupt a CPU is, for sched_waking: most threads are woken there, and the thread that
 * runs meanwhile has nothing to do with it. Left out where the kernel has no such tracepoint.
 */

#include "maps.bpf.h"

#include "clock.bpf.h"

static __always_inline int enter_hard(__u32 context, __u32 number)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);

	if (c)
		c->hardirq = WAKE_SOURCE(context, number);
	return 0;
}

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq)
{
	return enter_hard(WAKE_IRQ, irq);
}

SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit)
{
	return enter_hard(0, 0);
}

SEC("?tp_btf/local_timer_entry")
int BPF_PROG(local_timer_entry)
{
	return enter_hard(WAKE_TIMER, 0);
}

SEC("?tp_btf/local_timer_exit")
int BPF_PROG(local_timer_exit)
{
	return enter_hard(0, 0);
}

SEC("?tp_btf/reschedule_entry")
int BPF_PROG(reschedule_entry)
{
	return enter_hard(WAKE_IPI, 0);
}

SEC("?tp_btf/reschedule_exit")
int BPF_PROG(reschedule_exit)
{
	return enter_hard(0, 0);
}

SEC("?tp_btf/call_function_single_entry")
int BPF_PROG(call_function_single_entry)
{
	return enter_hard(WAKE_IPI, 0);
}

SEC("?tp_btf/call_function_single_exit")
int BPF_PROG(call_function_single_exit)
{
	return enter_hard(0, 0);
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vector)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);

	if (c)
		c->softirq = WAKE_SOURCE(WAKE_SOFTIRQ, vector);
	return 0;
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(softirq_exit)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);

	if (c)
		c->softirq = 0;
	return 0;
}
