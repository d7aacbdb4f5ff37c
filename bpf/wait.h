/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_WAIT_H
#define SYSTOP_BPF_WAIT_H

/*
 * What is told of single waits, sleeps and wakings, in a ring for each CPU that user space reads every 250 ms. Only
 * long ones are told, and wakers only where another one than the last time woke a thread: what happens most often on a
 * busy CPU costs no event.
 */

#include <linux/types.h>

/* Waits of so many ns and more are told, unless another number is asked for, which is not less than the second. */
#define WAIT_DEFAULT_NS 100000
#define WAIT_LEAST_NS 10000

/* Sleeps and D states are counted in histograms from here on. */
#define AWAY_NS 65536

enum wait_event_kind {
	WAIT_EVENT_BEHIND,  /* a wait that ended: @a ns of it behind the thread of slot @by, @b behind others */
	WAIT_EVENT_WAKEUP,  /* @a ns until an idle CPU took it; @b ns of a wait elsewhere before that one was idle */
	WAIT_EVENT_LIMIT,   /* @a ns stopped by a CPU limit */
	WAIT_EVENT_D,       /* was in D state for @a ns */
	WAIT_EVENT_SLEEP,
	WAIT_EVENT_WOKEN,   /* @by: WAKER() as in slot.h; woke it @a times one after the other, from its waking @b on */
};

/* Slots are not used again before what is told of them was read. */
struct wait_event {
	__u32 slot;
	__u32 by;
	__u64 a, b;
	__u8 kind;    /* enum wait_event_kind */
	__u8 context; /* WAIT_EVENT_WOKEN: enum wake_context */
	__u8 spare[6];
};

_Static_assert(sizeof(struct wait_event) == 32, "half a cache line");

/* Who had the CPU before, for long: so many of them; a power of two. One that was interrupted by others for moments
 * only is one. */
#define WAIT_RUNS 4
#define WAIT_RUN_NS 50000

struct wait_run {
	__u64 since, until;
	__u64 ns;    /* that it ran in this time */
	__u32 slot;
	__u32 started; /* low bits of its thread's start_ns: the slot may be another thread's by the end of the wait */
};

/* Of each CPU's ring; a power of two. Read every 250 ms: in that time there are no more than this, as each is paid for:
 * 25,000 a second, and so much at once; where there are more CPUs than a few, 75,000 a second on all of them. A wait can
 * have more than one. */
#define WAIT_EVENTS 8192
#define WAIT_PRICE_NS 40000
#define WAIT_PRICE_CPUS 3
#define WAIT_BURST_NS 50000000

#endif
