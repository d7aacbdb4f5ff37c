/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_IRQS_H
#define SYSTOP_COLLECT_IRQS_H

#include <stdbool.h>
#include <stdint.h>

#include "irq.h"

struct cpu_area;
struct cpu_slot;
struct irqs;
struct model;

struct irqs_memory {
	struct cpu_area *const *areas; /* mapped, one a possible CPU; NULL: it was never online */
	uint64_t *lines;             /* mapped: source of each line's number; 0: none yet */
	uint32_t *nr_given;          /* mapped: sources that lines have */
	uint32_t named;              /* and may have; what comes then is one more */
	const char *path;            /* of /proc/interrupts */
	const struct cpu_slot *cpus; /* mapped, one a possible CPU */
	int nr_cpus;
};

/* irqs_new - before the programs are attached: if the host has more lines than can have a source each, those of one device
 * get one. @mem is borrowed. NULL: out of memory. Ticks show sources that live as long as this. */
struct irqs *irqs_new(const struct irqs_memory *mem);
void irqs_free(struct irqs *q);

/* irqs_source - by number; NULL: there are no more. @number: of the line; of others one that no line has. */
struct irq_source;
const struct irq_source *irqs_source(struct irqs *q, uint32_t source, int *number);

/* irqs_tick - hands what each source did since the last tick to the model; NULL: from now on. 0 or -errno. */
int irqs_tick(struct irqs *q, struct model *model);

/*
 * irqs_timers_unseen - whether no timer's interrupt was seen so far, though CPUs that have one were busy for @busy_ns.
 * So it is under Hyper-V, whose own vectors have no tracepoints. Elsewhere (Xen) the timer is a line, which is seen.
 */
bool irqs_timers_unseen(const struct irqs *q, uint64_t busy_ns);

#endif
