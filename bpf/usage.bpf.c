/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads used so far, read for the refresh: user space runs the program with a list of slots. Threads are reached by the
 * address in their slot, which is followed as in a view (view.bpf.h): the answer counts only if the slot has the address
 * afterwards as well, since a thread's memory is freed only after its last switch, which clears the address.
 */

#include "maps.bpf.h"

#include "life.bpf.h"
#include "usage.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, USAGE_BATCH);
	__type(key, __u32);
	__type(value, struct usage);
} usage_asked SEC(".maps");

static __always_inline void usage_io(struct task_struct *task, struct usage_io *io)
{
	struct task_struct___io *t = (void *)task;

	io->read_bytes = bpf_core_field_exists(t->ioac.read_bytes) ? VIEW_FIELD(t, ioac.read_bytes) : USAGE_UNKNOWN;
	io->write_bytes = bpf_core_field_exists(t->ioac.write_bytes) ? VIEW_FIELD(t, ioac.write_bytes) : USAGE_UNKNOWN;
}

struct percpu_counter {
	__u64 count;
} __attribute__((preserve_access_index));

struct mm_struct___percpu { /* since 6.2: f1a7941243c1 */
	struct percpu_counter rss_stat[USAGE_COUNTERS];
} __attribute__((preserve_access_index));

struct atomic_number {
	__u64 counter;
} __attribute__((preserve_access_index));

struct mm_rss_stat {
	struct atomic_number count[USAGE_COUNTERS];
} __attribute__((preserve_access_index));

struct mm_struct___atomic {
	struct mm_rss_stat rss_stat;
} __attribute__((preserve_access_index));

/* A counter can be below 0 for a moment: a CPU added what it freed before another one added what it allocated. */
static __always_inline __u64 at_least_0(__u64 pages)
{
	return pages >> 63 ? 0 : pages;
}

#define COUNTER(m, i)                                                                                                    \
	at_least_0(bpf_core_field_exists(((struct mm_struct___percpu *)(m))->rss_stat[i].count)                          \
			   ? VIEW_FIELD((struct mm_struct___percpu *)(m), rss_stat[i].count)                             \
			   : VIEW_FIELD((struct mm_struct___atomic *)(m), rss_stat.count[i].counter))

static __always_inline bool has_counters(void)
{
	struct mm_struct___percpu *percpu = 0;
	struct mm_struct___atomic *atomic = 0;

	return bpf_core_field_exists(percpu->rss_stat[0].count) || bpf_core_field_exists(atomic->rss_stat.count[0].counter);
}

/* Kernel threads have no memory of their own, but may use another's for a while. */
static __always_inline void usage_memory(struct task_struct *t, struct usage_memory *to)
{
	struct mm_struct *mm = VIEW_FIELD(t, mm), *m;
	bool kthread = VIEW_FIELD(t, flags) & PF_KTHREAD;

	to->rss = to->swap = mm || kthread ? USAGE_UNKNOWN : USAGE_NONE;
	if (!mm || !has_counters() || kthread)
		return;
	m = VIEW(mm);
	to->rss = COUNTER(m, USAGE_FILE) + COUNTER(m, USAGE_ANON) + COUNTER(m, USAGE_SHMEM);
	to->swap = COUNTER(m, USAGE_SWAP);
	to->batched = bpf_core_field_exists(((struct mm_struct___percpu *)m)->rss_stat[0].count);
	if (VIEW_FIELD(t, mm) != mm) /* it called exec or ended: this may have been freed */
		to->rss = to->swap = USAGE_UNKNOWN;
}

static long usage_one(__u32 i, void *unused)
{
	struct usage *u = bpf_map_lookup_elem(&usage_asked, &i);
	struct slot *s = u ? slot_at(u->slot) : 0;
	struct task_struct *t;
	__u64 address;

	if (!s)
		return 0;
	u->read = 0;
	address = *(volatile __u64 *)&s->task;
	if (!address)
		return 0;
	t = (struct task_struct *)address;
	t = VIEW(t);
	usage_io(t, &u->io);
	usage_memory(t, &u->memory);
	u->read = *(volatile __u64 *)&s->task == address;
	return 0;
}

SEC("syscall")
int usage_read(struct usage_ask *ask)
{
	if (kernel_reads || has_rdonly_cast)
		bpf_loop(ask->nr, usage_one, 0, 0);
	return 0;
}
