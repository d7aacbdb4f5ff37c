/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_STACK_BPF_H
#define SYSTOP_BPF_STACK_BPF_H

/*
 * Takes stacks, gives equal ones the same id, and reports them to user space through a ring of events on each CPU. A kernel stack
 * of 10 frames costs 1.3 us, a user stack 2 us and 0.04 us per frame: only samples, long blocks and counted events have stacks,
 * the latter two within budgets.
 */

#include "area.bpf.h"
#include "maps.bpf.h"
#include "order.bpf.h"
#include "stack.h"
#include "unwind.bpf.h"

/* Size of the dictionary, chosen by the number of CPUs. Fixed at load. */
extern const volatile __u32 stack_index_bits;

/* Frames of the longest kernel stack that the kernel takes, at most STACK_KERNEL_MAX. Fixed at load. */
extern const volatile __u32 stack_kernel_max;

struct stacks_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 2 * STACK_HALF(STACK_INDEX_BITS));
	__type(key, __u32);
	__type(value, struct stack_entry);
};
extern struct stacks_map stacks SEC(".maps");

struct stack_lines_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 2 * STACK_LINES_HALF(STACK_INDEX_BITS));
	__type(key, __u32);
	__type(value, struct stack_line);
};
extern struct stack_lines_map stack_lines SEC(".maps");

/* --- The dictionary */

/* A stack that needs an id. */
struct stack_new {
	__u64 hash;
	__u32 check;
	__u32 nr;
	__u32 tgid;       /* of anonymous frames, or 0 */
	__u32 end, flags;
};

/* Copies the frames into new lines. Returns the first line, or -1 if there is no room. */
static __always_inline __s64 stack_store(const __u64 *frames, __u32 nr, __u32 half)
{
	__u32 lines = (nr + STACK_LINE_FRAMES - 1) / STACK_LINE_FRAMES, first, at;

	first = __sync_fetch_and_add(&shared.stack_lines[half & 1], lines);
	if (first + lines > STACK_LINES_HALF(stack_index_bits))
		return -1;
	first += (half & 1) * STACK_LINES_HALF(stack_index_bits);
	for (__u32 i = 0; i < STACK_USER_MAX / STACK_LINE_FRAMES; i++) {
		struct stack_line *line;

		if (i >= lines)
			break;
		at = first + i;
		line = bpf_map_lookup_elem(&stack_lines, &at);
		if (line)
			__builtin_memcpy(line, frames + i * STACK_LINE_FRAMES, sizeof(*line));
	}
	return first;
}

/* stack_intern - the id of a stack, a new one if it was not met before. 0: lost, and counted as such. */
__weak __noinline __u32 stack_intern(struct frames *f, struct stack_new *n, struct cpu_slot *c)
{
	__u32 generation = shared.stack_generation, half = generation & 1, at, step, index;
	struct stack_entry *e;
	__s64 line;

	if (!f || !n || !c)
		return 0;
	step = (__u32)(n->hash >> 40) | 1;
	index = n->hash;

	for (int i = 0; i < STACK_PROBES; i++) {
		index = (index + step) & (STACK_HALF(stack_index_bits) - 1);
		at = half * STACK_HALF(stack_index_bits) + index;
		e = bpf_map_lookup_elem(&stacks, &at);
		if (!e)
			return 0;
		if (!e->hash && __sync_val_compare_and_swap(&e->hash, 0, n->hash) == 0)
			goto taken;
		if (e->hash != n->hash)
			continue;
		if (e->flags & STACK_READY && (e->check != n->check || e->nr != n->nr)) {
			c->loss[LOSS_STACK_COLLISION]++;
			return 0;
		}
		return generation << stack_index_bits | index;
	}
	c->loss[LOSS_STACK_FULL]++;
	return 0;
taken:
	line = stack_store(f->frames, n->nr, half);
	if (line < 0) {
		c->loss[LOSS_STACK_FULL]++;
		e->hash = 0;
		return 0;
	}
	__sync_fetch_and_add(&shared.stack_entries[half & 1], 1);
	e->line = line;
	e->check = n->check;
	e->tgid = n->tgid;
	e->nr = n->nr;
	e->end = n->end;
	order_set(&e->hash, n->hash); /* everything else becomes visible before the flags */
	e->flags = n->flags | STACK_READY;
	return generation << stack_index_bits | index;
}

/* --- Taking stacks */

/* stack_user - the id of the current thread's user stack. @flags: STACK_USER_LOST is added if it is lost, STACK_NO_USER if
 * it has no frame that can be followed. 0 without these flags: the thread has no user stack, or it execs. */
static __noinline __u32 stack_user(struct task_struct *t, struct cpu_slot *c, __u32 context,
				   __u8 *flags)
{
	struct unwind *u = unwind_user(t, context);
	struct stack_new n = {};
	__u32 id;

	if (!u || !u->nr) {
		if (t->mm && !(t->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) && (!u || u->end != STACK_EXEC))
			*flags |= STACK_NO_USER;
		return 0;
	}
	n.nr = u->nr;
	n.tgid = u->flags & STACK_ANONYMOUS ? u->tgid : 0;
	n.end = u->end;
	n.flags = u->flags;
	n.hash = u->hash;
	n.check = u->check;
	stack_hash_end(&n.hash, &n.check, n.tgid, n.end);
	id = stack_intern(&u->frames, &n, c);
	if (!id)
		*flags |= STACK_USER_LOST;
	return id;
}

/* stack_kernel - the id of the @nr kernel frames in @k. 0: lost, and counted as such. */
__weak __noinline __u32 stack_kernel(struct frames *k, __u32 nr, struct cpu_slot *c)
{
	struct stack_new n = { .nr = nr, .end = nr < stack_kernel_max ? STACK_COMPLETE : STACK_TOO_DEEP };

	if (!k || !c)
		return 0;
	for (__u32 i = 0; i < STACK_KERNEL_MAX; i++) {
		if (i >= nr)
			break;
		stack_hash(&n.hash, &n.check, k->frames[i]);
	}
	stack_hash_end(&n.hash, &n.check, 0, n.end);
	return stack_intern(k, &n, c);
}

/* stack_afford - whether the CPU can afford one more stack at @now. @paid: time up to which its stacks are paid for, at
 * most @burst ns before @now; @price: of this one, ns */
static __always_inline bool stack_afford(__u64 *paid, __u64 now, __u64 burst, __u64 price)
{
	__u64 from = *paid;

	if (from + burst < now)
		from = now - burst;
	if (from > now)
		return false;
	*paid = from + price;
	return true;
}

/* --- Events */

/* The next event of this CPU's ring; stack_emit() publishes it. NULL: lost, counted. */
static __always_inline struct stack_event *stack_event(struct cpu_slot *c, __u32 cpu, __u64 *place)
{
	struct cpu_area *area = area_of(cpu);

	if (!area) {
		c->loss[LOSS_STACK_EVENTS]++;
		return NULL;
	}
	*place = __sync_fetch_and_add(&c->stack_events, 1);
	return &area->stack_events[*place & (STACK_EVENTS - 1)];
}

static __always_inline void stack_emit(struct stack_event *e, __u64 place)
{
	order_set(&e->seq, place + 1); /* everything else is written */
}

#endif
