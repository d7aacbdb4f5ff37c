/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where threads are blocked now, including blocks from before systop's start: an iterator over all threads that writes
 * the stacks of the requested ones. It can wait for a sick process's memory until that process recovers, so a helper
 * that holds nothing else runs it.
 */

#include "maps.bpf.h"

#include "life.bpf.h"
#include "unwind.bpf.h"

/* By slot: start of the block whose stacks are wanted, 0: none. Written by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SLOTS_DEFAULT);
	__type(key, __u32);
	__type(value, __u64);
} blocked_wanted SEC(".maps");

static __always_inline bool is_blocked(const struct slot *s, __u64 since)
{
	return s->since == since && (s->state == SLOT_D || s->state == SLOT_SLEEP);
}

struct blocked_loop {
	struct task_struct *task;
};

static __always_inline long read_other(void *to, __u32 bytes, __u64 from, struct task_struct *t)
{
	return bpf_copy_from_user_task(to, bytes, (void *)from, t, 0);
}

static long blocked_step(__u32 i, struct blocked_loop *loop)
{
	__u32 context = UNWIND_BLOCKED;
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);

	return u ? unwind_step(u, UNWIND_BLOCKED, read_other, loop->task) : 1;
}

/* Walks the thread's user stack into the scratch of UNWIND_BLOCKED, which the caller owns. */
static __always_inline void read_user(struct task_struct *t, struct unwind *u)
{
	struct blocked_loop loop = { t };

	u->nr = 0;
	u->flags = 0;
	if (unwind_start(u, t))
		bpf_loop(STACK_STEPS_MAX + 1, blocked_step, &loop, 0);
	unwind_finish(UNWIND_BLOCKED);
}

/* barrier_var() makes the verifier see the bound of the register that is used. */
static __always_inline void write_frames(struct seq_file *to, struct frames *f, __u64 nr)
{
	__u64 bytes = nr * sizeof(f->frames[0]);

	barrier_var(bytes);
	if (bytes <= sizeof(*f))
		bpf_seq_write(to, f->frames, bytes);
}

SEC("?iter.s/task")
int blocked_task(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct blocked_record r = {};
	__u32 context = UNWIND_BLOCKED;
	struct unwind *u = bpf_map_lookup_elem(&unwinds, &context);
	struct frames *k = bpf_map_lookup_elem(&kernel_frames, &context);
	__u64 *wanted, since;
	struct slot *s;
	long bytes;
	bool own;

	if (!t || !u || !k)
		return 0;
	r.slot = task_slot_index(t);
	s = slot_at(r.slot);
	wanted = bpf_map_lookup_elem(&blocked_wanted, &r.slot);
	if (!s || !wanted || !*wanted)
		return 0;
	since = *wanted;
	r.since = since & ~BLOCKED_NO_USER;
	if (!is_blocked(s, r.since))
		return 0;
	own = !__sync_lock_test_and_set(&u->busy, 1);
	if (own && !(since & BLOCKED_NO_USER)) {
		shared.peek_slot = r.slot;
		read_user(t, u);
		shared.peek_slot = 0;
		r.nr_user = u->nr;
		r.user_end = u->end;
		r.user_flags = u->flags;
		r.tgid = u->tgid;
	} else {
		r.notes = STACK_NO_USER;
	}
	bytes = bpf_get_task_stack(t, k->frames, STACK_KERNEL_MAX * 8, 0);
	r.nr_kernel = bytes > 0 ? (__u32)bytes / 8 : 0;
	if (is_blocked(s, r.since)) { /* blocked throughout: these are its stacks */
		bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
		write_frames(ctx->meta->seq, &u->frames, r.nr_user);
		write_frames(ctx->meta->seq, k, r.nr_kernel);
	}
	if (own)
		u->busy = 0;
	return 0;
}
