/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_MEMORY_H
#define SYSTOP_PROC_MEMORY_H

#include <stdint.h>

struct cgroup_mounts;

/* memory_spare - bytes that systop uses by default: 1 % of the host's memory, but at most 25 % of what each cgroup
 * it is in has left beyond systop's needs (memory.max, memory.current, and v1's files). */
uint64_t memory_spare(const struct cgroup_mounts *mounts);

/* memory_check - 0, or -ENOMEM after fail() if a cgroup it is in has a limit below systop's needs. */
int memory_check(const struct cgroup_mounts *mounts);

#endif
