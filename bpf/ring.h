/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_RING_H
#define SYSTOP_BPF_RING_H

/*
 * The recorder: what happened on each CPU, in a ring that the programs overwrite and that is read only when the past is
 * requested. An event takes the number of slots in its row, consecutive, of two words each. The first slot:
 *
 *   a: time, low 40 bits of CLOCK_BOOTTIME ns | kind << 40 | detail << 44 | lap << 56
 *   b: value 0, 28 bits                       | value 1 << 28             | lap << 56
 *
 * Kinds that do not fit into 4 bits are stored as RING_KIND_LONG: the lower 8 bits of detail hold the kind, 4 bits of
 * detail are left. Each further slot has the kind RING_KIND_VALUES and two more values:
 *
 *   a: value 2, low 40 bits | kind << 40 | the other 12 bits << 44 | lap << 56
 *   b: value 3, 56 bits                                            | lap << 56
 *
 * The lap counts how often the ring was filled, low 8 bits. If a word's lap is not that of the place being read, the
 * slot is not written yet, half written, or overwritten.
 */

#include <linux/types.h>

struct ring_slot {
	__u64 a, b;
};

#define RING_TIME_BITS 40
#define RING_KIND_SHIFT 40
#define RING_DETAIL_SHIFT 44
#define RING_LAP_SHIFT 56
#define RING_VALUE_BITS 28
#define RING_DETAIL_MASK 0xfffU
#define RING_VALUE_MASK ((1U << RING_VALUE_BITS) - 1)
#define RING_VALUE_A_MASK ((1ULL << 52) - 1) /* of value 2 */

/* A tid with 6 bits attached: RING_TID(), RING_WITH(). */
#define RING_TID_BITS 22
#define RING_TID(value) ((value) & ((1U << RING_TID_BITS) - 1))
#define RING_WITH(value) ((value) >> RING_TID_BITS & 63)

/*
 * The events, one line each: id, name, track (THREAD: the thread that has the CPU, CPU, DEVICE: value 0 is its number),
 * shape, slots, names of its values (NULL: unused, or not meaningful by itself).
 *
 * A SLICE is recorded when it ends; the first value of its second slot is its duration in ns. A COUNTER's value is that
 * value, or value 0 if the event has one slot. A trace shows an event by its row unless the kind has a writer of its own.
 * To add an event, add a line here and record it.
 */
#define RING_EVENTS(_)                                                                                                           \
	_(SWITCH, "switch",     CPU,    INSTANT, 1, "next", "prev")        /* detail: enum ring_state of prev, RING_OTHER */     \
	_(WAKING, "waking",     THREAD, INSTANT, 1, "wakee", "waker")      /* with bits 0-5 and 6-11 of the CPU that the wakee   \
									    * ran on last; detail: enum wake_context */          \
	_(NEW,    "new",        THREAD, INSTANT, 1, "child", "parent")     /* detail: RING_THREAD */                             \
	_(EXEC,   "exec",       THREAD, INSTANT, 1, "tid", "old_tid")                                                            \
	_(RENAME, "rename",     THREAD, INSTANT, 1, "tid")                                                                       \
	_(SAMPLE, "sample",     THREAD, INSTANT, 1, "user", "kernel")      /* ids of stacks; detail: low bits of the tid,        \
									    * RING_USER_MODE */                                  \
	_(BLOCK,  "block",      THREAD, SLICE,   2, "user", "kernel", "off_ns", "blocked_ns") /* of the thread that the switch   \
									    * before brought; detail: low bits of the tid,       \
									    * RING_IN_D, RING_IO_WAIT */                         \
	_(IRQ,    "interrupt",  CPU,    SLICE,   1, NULL, "tid")           /* value 0 is its duration: ring_span(); recorded at  \
									    * its end; detail: source (irq.h) */                 \
	_(GAP,    "timer gap",  CPU,    SLICE,   2, "tid", NULL, "duration_ns") /* the thread that ran */

enum ring_kind {
	RING_NONE,
#define _(id, ...) RING_##id,
	RING_EVENTS(_)
#undef _
	RING_KINDS
};

/* The kinds whose rows have two slots, a bit each. */
enum {
	RING_TWO_SLOTS = 0
#define _(id, name, track, shape, slots, ...) | ((slots) == 2) << RING_##id
	RING_EVENTS(_)
#undef _
};

/* Stored in place of a kind, see above. */
#define RING_KIND_VALUES 14
#define RING_KIND_LONG 15
#define RING_KIND_LONG_BITS 8

/* The most slots and values of an event. */
#define RING_SLOTS_MAX 2
#define RING_VALUES_MAX (2 * RING_SLOTS_MAX)

_Static_assert(RING_KINDS <= 1 << RING_KIND_LONG_BITS, "a kind fits");

/* ring_kind_word - kind and detail, as part of word a. ring_kind, ring_detail - those of a word a. */
static inline __u64 ring_kind_word(__u32 kind, __u32 detail)
{
	if (kind >= RING_KIND_VALUES) {
		detail = kind | detail << RING_KIND_LONG_BITS;
		kind = RING_KIND_LONG;
	}
	return (__u64)kind << RING_KIND_SHIFT | (__u64)(detail & RING_DETAIL_MASK) << RING_DETAIL_SHIFT;
}

static inline __u32 ring_kind(__u64 a)
{
	__u32 kind = a >> RING_KIND_SHIFT & 15;

	return kind == RING_KIND_LONG ? a >> RING_DETAIL_SHIFT & ((1U << RING_KIND_LONG_BITS) - 1) : kind;
}

static inline __u32 ring_detail(__u64 a)
{
	__u32 detail = a >> RING_DETAIL_SHIFT & RING_DETAIL_MASK;

	return (a >> RING_KIND_SHIFT & 15) == RING_KIND_LONG ? detail >> RING_KIND_LONG_BITS : detail;
}

/* ring_values_word - the first value of a further slot, 52 bits, as word a. ring_value_a - the value of such a word. */
static inline __u64 ring_values_word(__u64 value)
{
	return (value & ((1ULL << RING_TIME_BITS) - 1)) | (__u64)RING_KIND_VALUES << RING_KIND_SHIFT |
	       (value >> RING_TIME_BITS & RING_DETAIL_MASK) << RING_DETAIL_SHIFT;
}

static inline __u64 ring_value_a(__u64 a)
{
	return (a & ((1ULL << RING_TIME_BITS) - 1)) | (a >> RING_DETAIL_SHIFT & RING_DETAIL_MASK) << RING_TIME_BITS;
}

/* How a thread left its CPU. */
enum ring_state {
	RING_PREEMPTED, /* in the kernel */
	RING_YIELDED,   /* runnable: it yielded, or was preempted on its way to user mode */
	RING_SLEEP,
	RING_D,
	RING_STOPPED,
	RING_PARKED,
	RING_IDLE,    /* kernel thread: D that does not count as load */
	RING_DEAD,
	RING_STATES
};

#define RING_STATE_MASK 15
#define RING_OTHER 16     /* next is any thread out of scope, and so are those after it */
#define RING_THREAD 1     /* of the parent's process */
#define RING_USER_MODE 0x800
#define RING_IN_D 0x800
#define RING_IO_WAIT 0x400
#define RING_SAMPLE_TID 0x3ff

/* A span of time in 28 bits, exact to one part in two million: 22 bits, to be shifted left by the upper 6. */
#define RING_SPAN_BITS 22

static inline __u32 ring_span(__u64 ns)
{
	__u32 shift = 0;

	if (ns >> 54)
		ns = (1ULL << 54) - 1;
	for (__u32 step = 32; step; step /= 2) {
		if (ns >> (RING_SPAN_BITS + step - 1)) {
			ns >>= step;
			shift += step;
		}
	}
	return shift << RING_SPAN_BITS | ns;
}

static inline __u64 ring_span_ns(__u32 span)
{
	return (__u64)(span & ((1U << RING_SPAN_BITS) - 1)) << (span >> RING_SPAN_BITS & 63);
}

#endif
