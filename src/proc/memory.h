/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_MEMORY_H
#define SYSTOP_PROC_MEMORY_H

#include <stdint.h>

struct cgroup_mounts;

/* memory_spare - bytes that systop takes without being asked to: 1 % of the host's memory, but not more than 25 % of
 * what any cgroup that it is in may still take, beyond what it needs (memory.max, memory.current, and those of v1). */
uint64_t memory_spare(const struct cgroup_mounts *mounts);

/* memory_check - 0, or -ENOMEM after fail() if a cgroup that it is in may not take what systop needs. */
int memory_check(const struct cgroup_mounts *mounts);

#endif
