/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_KERNEL_H
#define SYSTOP_BPF_KERNEL_H

/*
 * The few kernel types the programs read. Only the fields in use are declared: CO-RE finds their offsets in the running
 * kernel's BTF. Renamed fields are ___flavors, with the commit. Every number is unsigned here, whatever it is in the
 * kernel: libbpf then follows a change of its width (on_cpu is one byte since 7.2), and refuses to load one that is
 * signed.
 */

#include <linux/types.h>
#include <stdbool.h>

#ifdef __bpf__
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct kernfs_node {
	__u64 id;
	const char *name;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* CGROUP_SUBSYS_COUNT, a build option */
	struct cgroup *dfl_cgrp;
};

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t euid;
};

struct rq {
	__u64 clock;
	__u64 prev_steal_time;    /* CONFIG_PARAVIRT: the hypervisor's sum at the last tick */
	__u64 prev_steal_time_rq; /* CONFIG_PARAVIRT_TIME_ACCOUNTING: the sum when `clock` was last read */
};

struct cfs_rq {
	struct rq *rq;
	unsigned int throttle_count; /* CONFIG_CFS_BANDWIDTH */
	__u64 throttled_clock_self; /* since 6.6; since when its own threads are stopped; 0: they are not */
	__u64 throttled_clock_self_time; /* how long they were stopped before that */
};

struct sched_entity {
	__u64 sum_exec_runtime;
	__u64 prev_sum_exec_runtime;
	__u64 nr_migrations;
	struct cfs_rq *cfs_rq; /* CONFIG_FAIR_GROUP_SCHED */
};

struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

struct maple_tree {
	void *ma_root;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};

struct super_block {
	__u32 s_dev;
};

struct timespec64 {
	__u64 tv_sec;
};

struct inode {
	unsigned long i_ino;
	__u64 i_size;
	__u32 i_generation;
	struct super_block *i_sb;
	struct timespec64 i_mtime;
};

struct inode___mid { /* 6.7: 12cd44023651 */
	struct timespec64 __i_mtime;
};

struct inode___new { /* 6.11: 3aa63a569c64 */
	__u64 i_mtime_sec;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct inode *f_inode;
	struct path f_path;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

/* On x86 and arm64 the context is a structure with a vdso. */
typedef struct {
	void *vdso;
} mm_context_t;

/* A process's mapping for uprobes: the trampoline of uretprobes, then copies of instructions. */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct mm_struct {
	struct maple_tree mm_mt; /* since 6.1: d4af56c5c7c6 */
	unsigned long start_stack;
	unsigned long arg_start, arg_end;
	unsigned long task_size;
	mm_context_t context;
	struct uprobes_state uprobes_state; /* CONFIG_UPROBES */
};

struct mm_struct___number { /* CONFIG_PER_VMA_LOCK, since 6.4: 5e31275cc997 */
	unsigned int mm_lock_seq;
};

struct seqcount {
	unsigned int sequence;
};

struct mm_struct___count { /* 6.14: eb449bd96954; odd while the mappings change */
	struct seqcount mm_lock_seq;
};

/* A function call whose return address a uretprobe replaced by that of a trampoline. */
struct return_instance {
	unsigned long stack; /* the stack pointer when the function was entered */
	unsigned long orig_ret_vaddr;
	struct return_instance *next; /* an earlier call */
};

/* What uprobes keep about a thread that met one. */
struct uprobe_task {
	void *active_uprobe; /* the instruction that it replaced is being executed: */
	unsigned long vaddr; /* its place, */
	unsigned long xol_vaddr; /* and that of the copy */
	struct return_instance *return_instances; /* innermost call first */
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	unsigned int softirq_disable_cnt; /* CONFIG_PREEMPT_RT: the softirq part of preempt_count, kept per thread */
	unsigned int in_execve : 1;
	unsigned int in_iowait : 1;
	unsigned int frozen : 1; /* CONFIG_CGROUPS: frozen by cgroup v2's freezer, or already stopped */
	unsigned char throttled; /* since 6.18; stopped by its CPU limit, on its way to user mode */
	unsigned int on_cpu;
	unsigned int wake_cpu;
	unsigned int prio; /* to be read as int: a deadline thread's is -1 */
	struct sched_entity se;
	unsigned int policy;
	struct sched_info sched_info;
	struct mm_struct *mm;
	unsigned int exit_state;
	unsigned int pid;
	unsigned int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	__u64 utime;
	__u64 stime;
	__u64 start_time;
	__u64 start_boottime;
	const struct cred *cred;
	char comm[16];
	struct css_set *cgroups;
	struct uprobe_task *utask; /* CONFIG_UPROBES */
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long bp;
	unsigned long bx;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};

struct pt_regs {
	struct user_pt_regs user_regs;
};
#endif

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_prog_aux {
	__u32 id;
};

struct bpf_prog {
	struct bpf_prog_aux *aux;
};

struct bpf_iter__bpf_prog {
	struct bpf_iter_meta *meta;
	struct bpf_prog *prog;
};

#ifdef __bpf__
#pragma clang attribute pop
#endif

/* task_struct.__state and sched_switch's prev_state, since 5.16 (include/linux/sched.h). */
enum {
	TASK_INTERRUPTIBLE = 0x1,
	TASK_UNINTERRUPTIBLE = 0x2,
	TASK_STOPPED_BIT = 0x4,
	TASK_TRACED_BIT = 0x8,
	TASK_EXIT_DEAD = 0x10,
	TASK_EXIT_ZOMBIE = 0x20,
	TASK_PARKED = 0x40,
	TASK_DEAD = 0x80,
	TASK_WAKEKILL = 0x100,
	TASK_WAKING = 0x200,
	TASK_NOLOAD = 0x400,
	TASK_NEW = 0x800,
	TASK_RTLOCK_WAIT = 0x1000,
	TASK_FREEZABLE = 0x2000,
	TASK_FROZEN = 0x8000, /* since 6.1: f5d39b020809 */
};

/* task_struct.flags */
enum {
	PF_VCPU = 0x1,
	PF_IO_WORKER = 0x10,
	PF_USER_WORKER = 0x4000, /* since 6.4: 54e6842d0775 */
	PF_KTHREAD = 0x200000,
};

/* task_struct.softirq_disable_cnt: the thread runs a softirq rather than only disabling them. */
#define SOFTIRQ_SERVING 0x100

/* Priorities below are real time: CPU limits of cgroups do not stop them. */
#define MAX_RT_PRIO 100

#endif
