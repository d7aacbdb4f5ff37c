// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An independent measurement for the tests (tests/bpf/truth.py): each thread's times by the tracepoints' own clock at
 * its wakeups and switches, and nothing else. It shares no line with the code it checks: a table of threads by number,
 * no repairs, no histogram finer than powers of two.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "truth.h"

struct kernfs_node {
	__u64 id;
} __attribute__((preserve_access_index));

struct cgroup {
	struct kernfs_node *kn;
} __attribute__((preserve_access_index));

struct css_set {
	struct cgroup *dfl_cgrp;
} __attribute__((preserve_access_index));

struct task_struct {
	int pid;
	unsigned int __state;
	struct css_set *cgroups;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRUTH_THREADS);
	__type(key, __u32);
	__type(value, struct truth);
} threads SEC(".maps");

/* By cgroup (v2), for all threads that ever were in it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRUTH_CGROUPS);
	__type(key, __u64);
	__type(value, struct truth_cgroup);
} cgroups SEC(".maps");

static const struct truth nothing;
static const struct truth_cgroup nothing_either;

static struct truth *truth_of(__u32 tid)
{
	struct truth *t = bpf_map_lookup_elem(&threads, &tid);

	if (t || !tid)
		return t;
	bpf_map_update_elem(&threads, &tid, &nothing, BPF_NOEXIST);
	return bpf_map_lookup_elem(&threads, &tid);
}

static struct truth_cgroup *group_of(struct task_struct *p)
{
	__u64 id = p->cgroups->dfl_cgrp->kn->id;
	struct truth_cgroup *g = bpf_map_lookup_elem(&cgroups, &id);

	if (g)
		return g;
	bpf_map_update_elem(&cgroups, &id, &nothing_either, BPF_NOEXIST);
	return bpf_map_lookup_elem(&cgroups, &id);
}

static void wait_ends(struct truth *t, struct truth_cgroup *g, __u64 wait)
{
	__u32 bucket = 0;

	t->runq_ns += wait;
	if (g)
		__sync_fetch_and_add(&g->runq_ns, wait);
	t->waits++;
	if (wait > t->longest_ns)
		t->longest_ns = wait;
	for (__u64 rest = wait >> 10; rest > 1 && bucket < TRUTH_BUCKETS - 1; rest >>= 1)
		bucket++;
	t->buckets[bucket & (TRUTH_BUCKETS - 1)]++;
}

static void missed(struct truth *t, struct truth_cgroup *g, __u64 now)
{
	t->missed++;
	t->unknown_ns += now - t->since;
	if (g)
		__sync_fetch_and_add(&g->unknown_ns, now - t->since);
}

/* sched_switch's prev_state, as include/linux/sched.h has it. */
static __u32 state_of(bool preempt, __u32 prev_state, __u32 now)
{
	if (preempt || !prev_state || !now || now == 0x200 /* TASK_WAKING */)
		return TRUTH_READY;
	if (prev_state & (0x10 | 0x20 | 0x80))
		return TRUTH_ENDED;
	if (prev_state & (0x4 | 0x8 | 0x40 | 0x8000))
		return TRUTH_STOPPED;
	/* 0x1000: on a lock of PREEMPT_RT, where other kernels spin. */
	return prev_state & 0x1000 || (prev_state & (0x2 | 0x400)) == 0x2 ? TRUTH_D : TRUTH_SLEEP;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *p)
{
	struct truth *t = truth_of(p->pid);

	if (t) {
		t->woken = bpf_ktime_get_boot_ns();
		__sync_fetch_and_add(&t->wakings, 1);
	}
	return 0;
}

/* The number may have been another thread's. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(born, struct task_struct *p)
{
	struct truth *t = truth_of(p->pid);

	if (t) {
		t->state = TRUTH_READY;
		t->since = bpf_ktime_get_boot_ns();
	}
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	__u64 now = bpf_ktime_get_boot_ns();
	struct truth *t = truth_of(prev->pid);
	struct truth_cgroup *g;

	if (t) {
		g = group_of(prev);
		if (t->state == TRUTH_RUNNING) {
			t->run_ns += now - t->since;
			if (g)
				__sync_fetch_and_add(&g->run_ns, now - t->since);
		} else if (t->state) {
			missed(t, g, now);
		}
		t->state = state_of(preempt, prev_state, prev->__state);
		t->since = now;
		t->switches++;
	}
	t = truth_of(next->pid);
	if (t) {
		__u64 until = t->woken > t->since ? t->woken : t->since;

		g = group_of(next);
		if (t->state == TRUTH_RUNNING) {
			missed(t, g, now);
		} else if (t->state == TRUTH_READY) {
			wait_ends(t, g, now - t->since);
		} else if (t->state && until == t->since) {
			/* No wakeup since: it was woken while it left, before its state showed that. */
			if (t->woken > t->came)
				wait_ends(t, g, now - t->since);
			else
				missed(t, g, now);
		} else if (t->state) {
			*(t->state == TRUTH_D	       ? &t->d_ns
			  : t->state == TRUTH_STOPPED ? &t->stopped_ns
						      : &t->sleep_ns) += until - t->since;
			if (g && t->state != TRUTH_STOPPED)
				__sync_fetch_and_add(t->state == TRUTH_D ? &g->d_ns : &g->sleep_ns, until - t->since);
			wait_ends(t, g, now - until);
		}
		t->state = TRUTH_RUNNING;
		t->since = t->came = now;
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
