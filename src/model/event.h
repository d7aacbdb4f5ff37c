/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_EVENT_H
#define SYSTOP_MODEL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring.h" /* enum ring_kind, enum ring_state */

/* An event on a CPU, as recorded. Threads are identified by their tids; the events do not record which thread had a
 * tid at what time. */
struct event {
	uint64_t at;         /* CLOCK_BOOTTIME ns */
	uint8_t kind;        /* enum ring_kind */
	uint8_t state;       /* RING_SWITCH: enum ring_state of @other */
	uint8_t context;     /* RING_WAKING: enum wake_context of the waker */
	bool outside;        /* RING_SWITCH: the next thread is out of scope and not identified */
	bool thread;         /* RING_NEW: a thread of the parent's process; else the first of a new process */
	bool user_mode;      /* RING_SAMPLE: user code was interrupted */
	bool in_d;           /* RING_BLOCK: it was in D state rather than asleep */
	bool io_wait;        /* RING_BLOCK: waiting for a disk, according to the kernel */
	uint16_t source;     /* RING_IRQ: irq.h */
	uint16_t last_cpu;   /* RING_WAKING: CPU that the wakee ran on last */
	uint32_t tid;        /* next thread, wakee, child, thread that called exec or was renamed; with stacks: only
			      * its low bits (RING_SAMPLE_TID) */
	uint32_t other;      /* previous thread, waker, parent, tid before exec */
	uint32_t user, kernel; /* RING_SAMPLE, RING_BLOCK: stack ids, 0: none */
	uint64_t off_ns, blocked_ns; /* RING_BLOCK: time off the CPU until now, and the blocked part of it; RING_IRQ and
				      * other slices: off_ns is their duration until now */
	uint64_t values[RING_VALUES_MAX]; /* as recorded; event_rows describes them */
};

enum event_track { EVENT_THREAD, EVENT_CPU, EVENT_DEVICE };
enum event_shape { EVENT_SLICE, EVENT_INSTANT, EVENT_COUNTER };

/* A row of RING_EVENTS (ring.h). */
struct event_row {
	const char *name;
	enum event_track track;
	enum event_shape shape;
	int slots;
	const char *values[RING_VALUES_MAX]; /* names; NULL: unused */
};

/* The row of each kind; RING_NONE has none. */
extern const struct event_row event_rows[RING_KINDS];

/* event_measure - index of the value that is a slice's duration, or a counter's value. */
static inline int event_measure(const struct event_row *row)
{
	return row->slots > 1 ? 2 : 0;
}

/* event_begins_wait - whether its thread waits for a CPU from now on: it is woken, or new. */
static inline bool event_begins_wait(const struct event *e)
{
	return e->kind == RING_WAKING || e->kind == RING_NEW;
}

/* event_fn - receives one event; those of a CPU come in order of time. A result other than 0 ends reading and is
 * returned. */
typedef int event_fn(void *arg, const struct event *e);

/* What could not be read. */
struct event_loss {
	uint64_t overwritten; /* while reading */
	uint64_t torn;        /* half written, or not written at all, or of unknown time */
	uint64_t gaps;        /* switches whose prev is not the previous switch's next */
};

/* Position in a CPU's ring: @head slots written. */
struct event_mark {
	uint64_t at; /* CLOCK_BOOTTIME ns */
	uint64_t head;
};

#endif
