/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_MEMORY_FACTS_H
#define SYSTOP_MODEL_MEMORY_FACTS_H

#include "model/tick.h"

/* What a helper reads about the memory of one process or cgroup: exact, and by purpose. Reading it for all of them would
 * take too long. */

enum memory_fact {
	MEMORY_RSS,       /* of a process: in its page tables, */
	MEMORY_PSS,       /* and the same with shared pages divided by the processes that share them */
	MEMORY_ANONYMOUS,
	MEMORY_FILE,      /* of a cgroup: caches of files, */
	MEMORY_SHARED,    /* shared memory, which is a part of these, */
	MEMORY_KERNEL,    /* and memory of the kernel that is charged to it */
	MEMORY_SWAP,
	MEMORY_FACTS
};

struct memory_facts {
	uint64_t bytes[MEMORY_FACTS]; /* VALUE_NA: unknown, or does not apply */
	struct {
		uint64_t some, full;  /* of a cgroup: share of the last 10 s, hundredths of a percent; VALUE_NA: unknown */
	} pressure[PRESSURE_COUNT];
};

#endif
