/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_RING_H
#define SYSTOP_BPF_RING_H

/*
 * The recorder: what happened on each CPU, in a ring that the programs overwrite and that is read only when the past is
 * requested. An event takes one slot of two words:
 *
 *   a: time, low 40 bits of CLOCK_BOOTTIME ns | kind << 40 | detail << 44 | lap << 56
 *   b: first, 28 bits                         | second << 28              | lap << 56
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

/* A tid with 6 bits attached: RING_TID(), RING_WITH(). */
#define RING_TID_BITS 22
#define RING_TID(value) ((value) & ((1U << RING_TID_BITS) - 1))
#define RING_WITH(value) ((value) >> RING_TID_BITS & 63)

enum ring_kind {
	RING_SWITCH = 1, /* next, prev; detail: enum ring_state of prev, RING_OTHER */
	RING_WAKING,     /* wakee, with bits 0-5 of the CPU it ran on last; waker, with bits 6-11; detail: enum
			  * wake_context */
	RING_NEW,        /* child, parent; detail: RING_THREAD */
	RING_EXEC,       /* tid now, tid before */
	RING_RENAME,     /* tid */
	RING_SAMPLE,     /* ids of user and kernel stack; detail: low bits of the tid, RING_USER_MODE */
	RING_BLOCK,      /* the same, of the thread that the switch before brought and the block it came from;
			  * detail: low bits of the tid, RING_IN_D, RING_IO_WAIT */
	RING_BLOCK_TIME, /* of that block: time off the CPU, and blocked part of it: ring_span() */
	RING_IRQ,        /* duration: ring_span(), interrupted tid; recorded at its end; detail: source (irq.h) */
	RING_KINDS
};

/* How a thread left its CPU. */
enum ring_state {
	RING_PREEMPTED,
	RING_YIELDED, /* runnable, left voluntarily */
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
