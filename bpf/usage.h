/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_USAGE_H
#define SYSTOP_BPF_USAGE_H

/* What a thread has used so far, by the kernel's count: shared by BPF programs and user space. */

#include <linux/types.h>

#define USAGE_UNKNOWN (~0ULL) /* this kernel does not count it */
#define USAGE_NONE (~1ULL)    /* a thread that exits has no memory any more */

/* As in /proc/PID/task/TID/io. */
struct usage_io {
	__u64 read_bytes;  /* from storage */
	__u64 write_bytes; /* pages that it made dirty, and direct writes */
};

/* The most threads that one run of the program reads. */
#define USAGE_BATCH 4096

/* Memory of the process, in pages: the kernel's counters, to which each CPU adds its changes in batches (see
 * collectors_usage.c). */
struct usage_memory {
	__u64 rss;  /* in RAM: anonymous, of files, and shared; USAGE_NONE; USAGE_UNKNOWN: also of kernel threads */
	__u64 swap;
	__u64 batched; /* its counters are per CPU, see percpu_counter in the kernel; otherwise threads keep some changes */
};

/* A requested thread, and the answer. */
struct usage {
	__u32 slot;
	__u32 read;        /* whether the thread was there; if it is dead, its usage is in its slot */
	struct usage_io io;
	struct usage_memory memory;
};

/* mm_struct.rss_stat: its counters, in the order of the kernel's MM_FILEPAGES, MM_ANONPAGES, MM_SWAPENTS, MM_SHMEMPAGES. */
enum { USAGE_FILE, USAGE_ANON, USAGE_SWAP, USAGE_SHMEM, USAGE_COUNTERS };

/* Argument of the program usage_read. */
struct usage_ask {
	__u32 nr;          /* of usage_asked, from the first on */
};

#endif
