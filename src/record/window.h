/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORD_WINDOW_H
#define SYSTOP_RECORD_WINDOW_H

#include <stdint.h>

#include "model/event.h"

struct cpu_slot;
struct rings;

/* Not 0: reading ends with that. */
typedef int window_fn(void *arg, int cpu, const struct event *e);

/*
 * window_read - what the recorder has of @from to @to, CLOCK_BOOTTIME ns: CPU after CPU, the events of each in the
 * order of their time. @cpus: mapped, one a possible CPU; @most: slots of all CPUs that are read at most, which is 10 ns each:
 * then the oldest are left out. @since: from when on all is there, whatever the ring it is in. Returns 0, what @fn
 * returned, or -errno.
 */
int window_read(const struct rings *rings, const struct cpu_slot *cpus, int nr_cpus, uint64_t from, uint64_t to,
		uint64_t most, uint64_t *since, window_fn *fn, void *arg);

#endif
