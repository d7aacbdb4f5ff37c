/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_COLLECT_INTERNAL_H
#define SYSTOP_COLLECT_COLLECT_INTERNAL_H

/* Shared by collect.c and the rows of collectors*.c. */

#include <stdint.h>

#include "collect/budget.h"
#include "collect/collect.h"
#include "collect/collector.h"
#include "collect/load.h"
#include "collect/memory.h"
#include "collect/self.h"

struct ring_buffer;
struct shared;

struct collect {
	struct systop *skel;
	struct load load;
	const struct collect_options *options; /* NULL after the start */
	struct model *model;
	struct cgroups *cgroups;
	struct online *online;
	struct memory memory;
	struct self self;
	uint64_t now;               /* accounting clock at the last tick */
	uint64_t read_ns;           /* CLOCK_MONOTONIC when the rows were last read */
	uint64_t bpf_bytes;

	/* Mapped memory that every collector may read. */
	struct shared *shared;
	struct cpu_slot *cpus_memory; /* one per possible CPU */
	int nr_cpus;
	struct slot *threads;
	uint32_t max_threads;

	/* The collectors' states. */
	union {
		void *states[COLLECTOR_COUNT];
		struct {
#define _(name, type, frees) struct type *name;
			COLLECTORS(_)
#undef _
		};
	};
	struct collector_set set;

	uint64_t seed_missed;
	struct budget budget;
	int frequency;              /* requested samples per second on each CPU, */
	int rarely, more_rarely;    /* divided by both: 1 unless samples are shed */
	int waits_rarely;           /* one wait in this many is reported: 1 unless waits are shed */
	struct unwind_file *unwind_files; /* mapped */
	struct bpf_link *peek_link;
	struct ring_buffer *file_events;
	collect_file *report_file;
	void *report_arg;
};

/* collect_map - maps a map's memory until the end. NULL with errno. */
static inline void *collect_map(struct collect *c, const struct bpf_map *map, int prot)
{
	return memory_map(&c->memory, map, prot);
}

#endif
