/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_WAIT_H
#define SYSTOP_BPF_WAIT_H

/*
 * Reports of single waits, sleeps and wakeups, in a ring for each CPU that user space reads every 250 ms. Only long
 * waits and sleeps are reported, and wakers only when they change: what happens most often on a busy CPU costs no
 * event.
 */

#include <linux/types.h>

/* Shortest reported wait in ns, by default, and the least that can be requested. */
#define WAIT_DEFAULT_NS 100000
#define WAIT_LEAST_NS 10000

/* Sleeps and D states of at least this many ns are counted in histograms. */
#define AWAY_NS 65536

enum wait_event_kind {
	WAIT_EVENT_BEHIND,  /* a wait that ended: @a ns of it behind the thread of slot @by, @b behind others */
	WAIT_EVENT_WAKEUP,  /* @a ns until an idle CPU took it; @b ns of waiting before that CPU was idle */
	WAIT_EVENT_LIMIT,   /* @a ns stopped by a CPU limit, @b ns of waiting otherwise */
	WAIT_EVENT_D,       /* was in D state for @a ns */
	WAIT_EVENT_SLEEP,
	WAIT_EVENT_WOKEN,   /* @by: WAKER() as in slot.h; woke it @a times in a row, beginning with its wakeup number
			     * @b */
};

/* A slot is not reused before the events that refer to it were read. */
struct wait_event {
	__u32 slot;
	__u32 by;
	__u64 a, b;
	__u8 kind;    /* enum wait_event_kind */
	__u8 context; /* WAIT_EVENT_WOKEN: enum wake_context */
	__u8 spare[6];
};

_Static_assert(sizeof(struct wait_event) == 32, "half a cache line");

/* Long runs remembered per CPU; a power of two: of threads with time slices of 3 ms, those of 100 ms. A run that others
 * interrupt only briefly counts as one. */
#define WAIT_RUNS 32
#define WAIT_RUN_NS 50000
/* Threads among these to which one wait can be charged: the one that had the CPU last, and others. */
#define WAIT_SHARES 4
/* The most runs skipped in a row: if more are short, or of other threads, no thread is the reason for the wait before them. */
#define WAIT_SKIPS 3

struct wait_run {
	__u64 since, until;
	__u64 ns;    /* running time in this interval */
	__u32 slot;
	__u32 started; /* low bits of its thread's start_ns: the slot may belong to another thread by the end of the
		        * wait */
};

/* How long a thread ran during the wait that ends. */
struct wait_share {
	__u64 ns;
	__u32 slot;
	__u32 started;
};

/* Events of each CPU's ring; a power of two. Read every 250 ms. The price keeps events fewer than that: 25,000 a
 * second and a burst of WAIT_BURST_NS; from WAIT_PRICE_CPUS CPUs on, 75,000 a second on all together. A wait can
 * take more than one event. */
#define WAIT_EVENTS 8192
#define WAIT_PRICE_NS 40000
#define WAIT_PRICE_CPUS 3
#define WAIT_BURST_NS 50000000

#endif
