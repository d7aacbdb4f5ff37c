/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORD_WINDOW_H
#define SYSTOP_RECORD_WINDOW_H

#include <stdint.h>

#include "model/event.h"

struct cpu_slot;
struct rings;

/* A result other than 0 ends reading and is returned. */
typedef int window_fn(void *arg, int cpu, const struct event *e);

/*
 * window_read - reads the recorder's events from @from to @to, CLOCK_BOOTTIME ns: CPU by CPU, those of each in order of
 * time. @cpus: mapped, one per possible CPU; @most: limit of slots read on all CPUs, at 10 ns each: beyond it the oldest are left
 * out. @since: set to the time from which on all rings are complete. Returns 0, the result of @fn, or -errno.
 */
int window_read(const struct rings *rings, const struct cpu_slot *cpus, int nr_cpus, uint64_t from, uint64_t to,
		uint64_t most, uint64_t *since, window_fn *fn, void *arg);

#endif
