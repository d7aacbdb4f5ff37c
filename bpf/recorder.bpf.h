/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_RECORDER_BPF_H
#define SYSTOP_BPF_RECORDER_BPF_H

/* Writes events into the ring of their CPU (ring.h): 10 ns each. */

#include "maps.bpf.h"
#include "ring.h"

/* log2 of the slots of each CPU's ring, fixed at load; 0: nothing is recorded. */
extern const volatile __u32 ring_bits;

/* Each ring is a map of its own, created after the first screen is shown. */
struct ring_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1024);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct ring_slot));
};

struct rings_map {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 4);
	__array(values, struct ring_map);
};
extern struct rings_map rings SEC(".maps");

/*
 * record_place - takes the next place of the CPU's ring. @alone: interrupts are off. Then only an NMI can interrupt, and if
 * samples do not come by NMI, plain instructions take the place: a locked one waits for the cache lines of all earlier writes.
 */
static __always_inline __u64 record_place(struct cpu_slot *c, bool alone)
{
	__u64 place;

	if (!alone || !shared.sampler_timer)
		return __sync_fetch_and_add(&c->records, 1);
	place = *(volatile __u64 *)&c->records;
	*(volatile __u64 *)&c->records = place + 1;
	return place;
}

static __always_inline void record_slot(void *ring, __u64 place, __u64 a, __u64 b)
{
	__u32 index = place & ((1U << ring_bits) - 1);
	struct ring_slot *s = bpf_map_lookup_elem(ring, &index);
	__u64 lap = place >> ring_bits << RING_LAP_SHIFT;

	if (!s)
		return;
	*(volatile __u64 *)&s->a = a | lap;
	*(volatile __u64 *)&s->b = b | lap;
}

static __always_inline __u64 record_head(const struct cpu_slot *c, __u64 at, enum ring_kind kind, __u32 detail)
{
	return ((at + c->suspended_ns) & ((1ULL << RING_TIME_BITS) - 1)) | ring_kind_word(kind, detail);
}

static __always_inline __u64 record_pair(__u64 first, __u64 second)
{
	return (first & RING_VALUE_MASK) | (second & RING_VALUE_MASK) << RING_VALUE_BITS;
}

/* record_at - records an event of one slot, of this CPU at @at, on the accounting clock. @alone: as in record_place(). */
static __always_inline void record_at(struct cpu_slot *c, __u32 cpu, __u64 at, enum ring_kind kind, __u32 detail,
				      __u64 first, __u64 second, bool alone)
{
	void *ring;

	if (!ring_bits)
		return;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (ring)
		record_slot(ring, record_place(c, alone), record_head(c, at, kind, detail), record_pair(first, second));
}

/* A reader takes the number of slots from the event's row. */
#define record_at(c, cpu, at, kind, ...)                                                                                 \
	({                                                                                                               \
		_Static_assert(!(RING_TWO_SLOTS >> (kind) & 1), "its row has one slot");                                 \
		record_at(c, cpu, at, kind, __VA_ARGS__);                                                                \
	})
#define record(c, cpu, at, kind, detail, first, second) record_at(c, cpu, at, kind, detail, first, second, false)

/* record_two - records an event of two slots: @third has 52 bits, @fourth 56. */
static __always_inline void record_two(struct cpu_slot *c, __u32 cpu, __u64 at, enum ring_kind kind, __u32 detail,
				       __u64 first, __u64 second, __u64 third, __u64 fourth)
{
	__u64 place;
	void *ring;

	if (!ring_bits)
		return;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!ring)
		return;
	place = __sync_fetch_and_add(&c->records, 2);
	record_slot(ring, place, record_head(c, at, kind, detail), record_pair(first, second));
	record_slot(ring, place + 1, ring_values_word(third), fourth & ((1ULL << RING_LAP_SHIFT) - 1));
}

#define record_two(c, cpu, at, kind, ...)                                                                                \
	({                                                                                                               \
		_Static_assert(RING_TWO_SLOTS >> (kind) & 1, "its row has two slots");                                   \
		record_two(c, cpu, at, kind, __VA_ARGS__);                                                               \
	})

/* How a thread leaves: by its slot's state, refined by the kernel's bits. */
static __always_inline __u32 record_state(__u8 state, bool preempt, __u32 prev_state)
{
	switch (state) {
	case SLOT_RUNQUEUE:
		return preempt ? RING_PREEMPTED : RING_YIELDED;
	case SLOT_SLEEP:
		return prev_state & TASK_NOLOAD ? RING_IDLE : RING_SLEEP;
	case SLOT_D:
		return RING_D;
	case SLOT_STOPPED:
		return prev_state & TASK_PARKED ? RING_PARKED : RING_STOPPED;
	default:
		return RING_DEAD;
	}
}

/* Flag in record_switch()'s @how. */
#define RECORD_IN_SCOPE 256

/*
 * record_switch - from prev, the upper half of @tids, to next. A switch with one thread in scope is recorded with both
 * tids. Between two threads out of scope only the first switch is recorded, as RING_OTHER: what follows is out of
 * scope, and the chain stays complete. @how: enum ring_state, RECORD_IN_SCOPE if either thread is in scope
 */
static __always_inline void record_switch(struct cpu_slot *c, __u32 cpu, __u64 at, __u64 tids, __u32 how)
{
	__u32 other = 0;

	if (scope_kinds) {
		if (how & RECORD_IN_SCOPE) {
			c->ring_other = 0;
		} else {
			if (c->ring_other)
				return;
			c->ring_other = 1;
			other = RING_OTHER;
		}
	}
	record_at(c, cpu, at, RING_SWITCH, (how & RING_STATE_MASK) | other, tids & 0xffffffff, tids >> 32, true);
}

/* record_waking - @cpu: where it happens; @last: CPU that the woken thread ran on last. */
static __always_inline void record_waking(struct cpu_slot *c, __u32 cpu, __u64 at, __u32 tid, __u32 last, __u32 waker,
					  __u32 context)
{
	record(c, cpu, at, RING_WAKING, context, RING_TID(tid) | (last & 63) << RING_TID_BITS,
	       RING_TID(waker) | (last >> 6 & 63) << RING_TID_BITS);
}

#endif
