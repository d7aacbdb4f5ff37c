/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_COST_H
#define SYSTOP_HELPER_COST_H

#include <stdint.h>
#include <sys/types.h>

/* What the starter and its helpers cost. The starter records which helpers run and which have ended, in memory that
 * systop reads. */

/* cost_init - call before the starter is forked. Without memory the cost is unknown, and reported as 0. */
void cost_init(void);

/* For the starter. cost_started - helper @slot runs as @pid. cost_ended - it has ended; call before waiting for it. */
void cost_started(unsigned int slot, pid_t pid);
void cost_ended(unsigned int slot);

/* cost_cpu_ns - CPU time of @starter (0: it has ended) and of all helpers that ever ran, since their start; never decreases. */
uint64_t cost_cpu_ns(pid_t starter);

/* cost_private_bytes - private memory of the starter and the helpers that run now. */
uint64_t cost_private_bytes(pid_t starter);

/* process_private_bytes, process_cpu_ns - private memory, and CPU time, of any process, even of one that has ended but was
 * not waited for. 0: it does not exist. process_state - the state of a process or thread, as in /proc/PID/stat: 'R'; '\0':
 * it does not exist. A process that /proc hides has the memory and state of one that does not exist. */
uint64_t process_private_bytes(pid_t pid);
uint64_t process_cpu_ns(pid_t pid);
char process_state(pid_t tid);

#endif
