/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_MEMORY_H
#define SYSTOP_COLLECT_MEMORY_H

#include "collect/files.h"
#include "collect/irqs.h"
#include "collect/slots.h"
#include "collect/stacks.h"
#include "collect/unwind_tables.h"

struct cpu_area;
struct systop;

/* The maps that the programs share with this process, in its memory, as their readers want them. */
struct collect_memory {
	struct slots_memory slots;
	struct cpu_slot *cpus;
	struct stacks_memory stacks;
	struct unwind_tables_memory tables;
	struct files_memory files;
	struct irqs_memory irqs;
	uint64_t *blocked_wanted; /* one a slot */
};

/* memory_bytes - what all maps take, as the kernel counts it. */
uint64_t memory_bytes(const struct systop *skel);

/* memory_map - of a loaded object; @areas: see areas_list(). 0 or -errno; memory_unmap in any case. */
int memory_map(struct collect_memory *m, struct systop *skel, struct cpu_area *const *areas, int nr_cpus,
	       int table_mib);
void memory_unmap(const struct collect_memory *m, struct systop *skel);

#endif
