/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_PROC_MEMORY_FACTS_H
#define SYSTOP_PROC_MEMORY_FACTS_H

#include "model/memory_facts.h"

/* memory_facts_process - of a process, from /proc/TGID/smaps_rollup: takes 0.1 s for 50 GiB, and may block on a sick one.
 * memory_facts_cgroup - from memory.stat of the cgroup's folder @memory, and cpu.pressure, memory.pressure and io.pressure
 * in @pressure; "": there is none. What cannot be read is unknown. */
void memory_facts_process(pid_t tgid, struct memory_facts *f);
void memory_facts_cgroup(const char *memory, const char *pressure, struct memory_facts *f);

#endif
