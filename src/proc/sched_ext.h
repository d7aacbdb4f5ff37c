/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_SCHED_EXT_H
#define SYSTOP_PROC_SCHED_EXT_H

#include <stdbool.h>

#define SCHED_EXT_DIR "/sys/kernel/sched_ext"

/* Whether a scheduler made of BPF programs (sched_ext, Linux 6.12) has all threads, or some of them. */
struct sched_ext {
	bool on;      /* now, or about to start or stop */
	bool ran;     /* now, or earlier since boot */
	char ops[64]; /* its name, safe for a terminal; "-": unknown */
};

/* sched_ext_read - @dir: SCHED_EXT_DIR; if it does not exist there is no such scheduler. */
void sched_ext_read(const char *dir, struct sched_ext *s);

#endif
