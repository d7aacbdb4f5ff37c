/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_TRUTH_H
#define SYSTOP_TESTS_TRUTH_H

#include <linux/types.h>

enum {
	TRUTH_UNKNOWN, /* no switch seen yet */
	TRUTH_RUNNING,
	TRUTH_READY,
	TRUTH_SLEEP,
	TRUTH_D,
	TRUTH_STOPPED,
	TRUTH_ENDED,
};

#define TRUTH_THREADS 65536
#define TRUTH_CGROUPS 4096
#define TRUTH_BUCKETS 32 /* of 1 us << N, the first from 0 on */

struct truth {
	__u64 since; /* CLOCK_BOOTTIME, ns, as all times here */
	__u64 woken;
	__u64 came;  /* last time it got the CPU */
	__u64 run_ns; /* including the time that interrupts took */
	__u64 runq_ns;
	__u64 d_ns;
	__u64 sleep_ns;
	__u64 stopped_ns;
	__u64 longest_ns; /* longest wait */
	__u64 waits;
	__u64 wakings;
	__u64 switches; /* switches away from the CPU */
	__u64 missed;   /* events out of sequence, */
	__u64 unknown_ns; /* and the time between them */
	__u32 state;
	__u32 buckets[TRUTH_BUCKETS];
};

/* As those of its threads. */
struct truth_cgroup {
	__u64 run_ns;
	__u64 runq_ns;
	__u64 d_ns;
	__u64 sleep_ns;
	__u64 unknown_ns;
};

#endif
