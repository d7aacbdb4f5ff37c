/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_SCHED_EXT_H
#define SYSTOP_PROC_SCHED_EXT_H

#include <stdbool.h>

#define SCHED_EXT_DIR "/sys/kernel/sched_ext"

/* Whether a scheduler made of BPF programs (sched_ext, Linux 6.12) has threads, or some of them. */
struct sched_ext {
	bool on;      /* now, or it is about to come or go; */
	bool ran;     /* or one did since the host was started */
	char ops[64]; /* its name, fit for a terminal; "-": not known */
};

/* sched_ext_read - @dir: SCHED_EXT_DIR; where it is missing there is none. */
void sched_ext_read(const char *dir, struct sched_ext *s);

#endif
