// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A scheduler of BPF programs for the tests in guests: a thread stays on its CPU if the kernel lets it; the rest is
 * sched_ext's default, one queue for all CPUs, first come first served.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct task_struct;

struct sched_ext_ops { /* of the kernel's type, what is used: libbpf finds members by their names */
	__s32 (*select_cpu)(struct task_struct *p, __s32 cpu, __u64 flags);
	char name[128];
};

SEC("struct_ops/select_cpu")
__s32 BPF_PROG(select_cpu, struct task_struct *p, __s32 cpu, __u64 flags)
{
	return cpu;
}

SEC(".struct_ops")
struct sched_ext_ops scheduler = {
	.select_cpu = (void *)select_cpu,
	.name = "fifo",
};

char LICENSE[] SEC("license") = "GPL";
