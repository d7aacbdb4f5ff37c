/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_USAGE_H
#define SYSTOP_BPF_USAGE_H

/* What the kernel says a thread used so far: shared by BPF programs and user space. */

#include <linux/types.h>

#define USAGE_UNKNOWN (~0ULL) /* this kernel does not count it */

/* As in /proc/PID/task/TID/io. */
struct usage_io {
	__u64 read_bytes;  /* from storage */
	__u64 write_bytes; /* pages that it made dirty, and direct writes */
};

/* Threads that one run of the program reads. */
#define USAGE_BATCH 4096

/* A thread that is asked for, and the answer. */
struct usage {
	__u32 slot;
	__u32 read;        /* whether it was there: a dead thread's is in usage_ended */
	struct usage_io io;
};

/* Argument of the program usage_read. */
struct usage_ask {
	__u32 nr;          /* of usage_asked, from the first on */
};

#endif
