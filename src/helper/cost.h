/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_COST_H
#define SYSTOP_HELPER_COST_H

#include <stdint.h>
#include <sys/types.h>

/* What the starter and its helpers cost. The starter knows who runs and who ended, in memory that systop reads. */

/* cost_init - before the starter is forked. 0 or -errno: then the cost is not known, and 0. */
int cost_init(void);

/* The starter's: helper @slot runs as @pid; it ended, and is not waited for yet. */
void cost_started(unsigned int slot, pid_t pid);
void cost_ended(unsigned int slot);

/* cost_cpu_ns - CPU time of all helpers there were, and of @starter (0: it ended), since the start; it never falls. */
uint64_t cost_cpu_ns(pid_t starter);

#endif
