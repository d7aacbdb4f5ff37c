/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_EVENT_H
#define SYSTOP_MODEL_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h" /* enum ring_kind, enum ring_state */

/* What happened on a CPU, as the recorder has it. Threads are told by their numbers: who had one when is not
 * in it. */
struct event {
	uint64_t at;         /* CLOCK_BOOTTIME ns */
	uint8_t kind;        /* enum ring_kind */
	uint8_t state;       /* RING_SWITCH: enum ring_state of @other */
	uint8_t context;     /* RING_WAKING: enum wake_context, where it was done */
	bool outside;        /* RING_SWITCH: the next thread is one out of scope, which is not told */
	bool thread;         /* RING_NEW: of the parent's process; else the first of its own */
	bool user_mode;      /* RING_SAMPLE: user code was interrupted */
	bool in_d;           /* RING_BLOCK: it was in D state, not asleep */
	bool io_wait;        /* RING_BLOCK: for a disk, the kernel says */
	uint16_t source;     /* RING_IRQ: irq.h */
	uint16_t last_cpu;   /* RING_WAKING: where the thread that is woken was last */
	uint32_t tid;        /* next thread, who is woken, child, who did exec or got another name; of stacks: its low
			      * bits (RING_SAMPLE_TID) */
	uint32_t other;      /* previous thread, waker, parent, number before exec */
	uint32_t user, kernel; /* RING_SAMPLE, RING_BLOCK: ids of stacks, 0: none */
	uint64_t off_ns, blocked_ns; /* RING_BLOCK: off the CPU until now, and how long of that blocked; RING_IRQ: it
				      * took off_ns until now */
};

/* event_fn - one event; those of a CPU come in the order of their time. Not 0: reading ends with that. */
typedef int event_fn(void *arg, const struct event *e);

/* What could not be read. */
struct event_loss {
	uint64_t overwritten; /* while it was read */
	uint64_t torn;        /* half written, or not at all */
	uint64_t gaps;        /* switches that the one before does not lead to */
};

/* How far a CPU's ring had come: @head slots written. */
struct event_mark {
	uint64_t at; /* CLOCK_BOOTTIME ns */
	uint64_t head;
};

#endif
