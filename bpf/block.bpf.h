/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_BLOCK_BPF_H
#define SYSTOP_BPF_BLOCK_BPF_H

/*
 * Where a thread was blocked, for sched_switch. The kernel stack is taken when the thread comes back: only then is it known that
 * the block was long. The user stack can only be taken when the thread leaves: it is taken and parked if one of the thread's last
 * blocks was long. Both are subject to budgets (struct block_budget): on an overloaded host most blocks are long. D states, which
 * are rarer and of more interest, have budgets of their own, and so have reports of blocks without a user stack: otherwise these
 * would use up the budget just before the next stack is parked, and no block would have its user stack.
 */

#include "maps.bpf.h"
#include "recorder.bpf.h"
#include "stack.bpf.h"

/* Settings, fixed at load. */
extern const volatile __u64 block_d_ns;     /* shortest blocks whose stack is taken */
extern const volatile __u64 block_sleep_ns;
extern const volatile __u32 self_tgid, starter_tgid; /* systop, and the parent of its helpers: blocks of all of them are not
						      * reported; self_tgid 0: they are */

/* Most budget that a quiet time saves up for a burst of stacks, ns: divided by the price, their number. */
#define BLOCK_BURST_NS 250000000

/* By slot: a user stack taken at a switch-out, kept until the block that begins there ends. */
struct parked {
	__u64 since;
	__u32 user;
	__u32 lost;
};

struct parked_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS_DEFAULT);
	__type(key, __u32);
	__type(value, struct parked);
};
extern struct parked_map parked_stacks SEC(".maps");

/* Price, in stacks, of a user stack parked without a reason to expect a long block: a CPU whose blocks are all short
 * walks few stacks in vain. */
#define BLOCK_GUESS_PRICE 4

/* The price of a stack: sleeps, which are more common and of less interest, get half as many. */
static __always_inline __u64 block_price(__u16 state)
{
	return state == SLOT_D ? shared.block_price_ns : 2 * shared.block_price_ns;
}

/* Whether the CPU can afford to park the stack of a thread that leaves it at @now. The price includes the report of its block. */
static __always_inline bool park_afford(struct cpu_slot *c, const struct slot *out, __u64 now)
{
	struct block_budget *b = out->state == SLOT_D ? &c->d_budget : &c->sleep_budget;

	if (out->long_block)
		return stack_afford(&b->parks_paid, now, BLOCK_BURST_NS, block_price(out->state));
	return stack_afford(&b->guesses_paid, now, BLOCK_BURST_NS, BLOCK_GUESS_PRICE * shared.block_price_ns);
}

/* The same for reporting a block whose user stack was not parked. */
static __always_inline bool block_afford(struct cpu_slot *c, __u64 now)
{
	struct block_budget *b = c->was_state == SLOT_D ? &c->d_budget : &c->sleep_budget;

	return stack_afford(&b->blocks_paid, now, BLOCK_BURST_NS, block_price(c->was_state));
}

/* After a long block, the user stacks of this many short ones are still taken: the next block may be long again. */
#define BLOCK_MEMORY 8

/* Saves values of the slot before its switch-in is accounted for: the report of the time off the CPU needs them. */
static __always_inline void block_begin(struct cpu_slot *c, const struct slot *in)
{
	c->was_since = in->since;
	c->was_blocked = in->d_ns + in->sleep_ns;
	c->was_runq = in->runq_ns;
	c->was_throttled = in->throttled_ns;
	c->was_state = in->state;
}

/* Sets was_blocked to the length of the block. Returns whether it was long enough for its stack to be taken. */
static __always_inline bool block_end(struct cpu_slot *c, struct slot *in)
{
	bool is_long;

	c->was_blocked = in->d_ns + in->sleep_ns - c->was_blocked;
	if (c->was_state != SLOT_D && c->was_state != SLOT_SLEEP)
		return false;
	is_long = c->was_blocked >= (c->was_state == SLOT_D ? block_d_ns : block_sleep_ns);
	if (is_long)
		in->long_block = BLOCK_MEMORY;
	else if (in->long_block)
		in->long_block--;
	return is_long && in->in_scope && shared.stack_generation;
}

/* Whether to take the user stack at this switch-out, for the block that begins: if one of the last blocks was long,
 * and at a thread's first and then every 32nd block, which may be the first long one. */
static __always_inline bool park_wanted(const struct slot *out)
{
	return (out->state == SLOT_D || out->state == SLOT_SLEEP) &&
	       (out->long_block || (out->voluntary & 31) == 1) && out->in_scope &&
	       shared.stack_generation;
}

/* Also called if samples met new files in this thread's stack: this walk can add them. It is inlined: kernels before 6.13
 * give sched_switch and everything it calls 512 bytes of stack together. */
static __always_inline int park(struct task_struct *prev, __u32 index, struct slot *out, struct cpu_slot *c)
{
	struct parked *p = bpf_map_lookup_elem(&parked_stacks, &index);
	__u8 lost = 0;

	c->files_met = 0;
	if (!p)
		return 0;
	p->user = stack_user(prev, c, UNWIND_SWITCH, &lost);
	p->lost = lost;
	p->since = out ? out->since : 0;
	if (out)
		out->parked = 1;
	return 0;
}

/* block_emit - a thread comes back from a long block: reports where it was, and what woke it. */
static __noinline int block_emit(struct task_struct *next, const struct slot *in, __u32 index, struct cpu_slot *c)
{
	__u32 cpu = in->cpu, context = UNWIND_SWITCH, at = index;
	struct frames *k = bpf_map_lookup_elem(&kernel_frames, &context);
	struct parked *parked = bpf_map_lookup_elem(&parked_stacks, &at);
	struct stack_event what = { .cpu = cpu, .slot = index }, *e;
	__u64 place, since;
	long bytes;

	if (!k || !parked || (self_tgid && (in->tgid == self_tgid || in->tgid == starter_tgid || in->ppid == starter_tgid)))
		return 0;
	what.kind = c->was_state == SLOT_D ? STACK_D : STACK_SLEEP;
	what.at = in->since;
	what.tid = in->tid;
	what.weight = c->was_blocked;
	what.wait = in->runq_ns - c->was_runq;
	what.runq_ns = in->runq_ns;
	since = what.at - what.weight - what.wait;
	if ((in->wake & WAKE_TIME_MASK) > since) {
		what.waker = in->waker;
		what.wake_context = in->wake >> WAKE_CONTEXT_SHIFT & 7;
	}
	if (parked->since == since) {
		what.user = parked->user;
		what.flags |= parked->lost;
	} else {
		what.flags |= STACK_NO_USER;
	}
	parked->since = 0;
	bytes = bpf_get_task_stack(next, k->frames, STACK_KERNEL_MAX * 8, 0);
	if (bytes > 0) {
		what.kernel = stack_kernel(k, (__u32)bytes / 8, c);
		what.flags |= what.kernel ? 0 : STACK_KERNEL_LOST;
	}
	e = stack_event(c, cpu, &place);
	if (!e)
		return 0;
	*e = what;
	stack_emit(e, place);
	record_two(c, cpu, what.at, RING_BLOCK,
		   (what.tid & RING_SAMPLE_TID) | (what.kind == STACK_D ? RING_IN_D : 0) |
			   (BPF_CORE_READ_BITFIELD(next, in_iowait) ? RING_IO_WAIT : 0),
		   what.user, what.kernel, what.weight + what.wait, what.weight);
	return 0;
}

#endif
