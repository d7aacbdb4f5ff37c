// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The floor of every comparison: the two programs that no such tool can do without, empty. They show the cost of being
 * called at all.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("tp_btf/sched_switch")
int empty_switch(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_waking")
int empty_waking(void *ctx)
{
	return 0;
}

/* The same for interrupts, instead of the two above: "empty irq". */
SEC("?tp_btf/softirq_entry")
int empty_softirq_entry(void *ctx)
{
	return 0;
}

SEC("?tp_btf/softirq_exit")
int empty_softirq_exit(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
