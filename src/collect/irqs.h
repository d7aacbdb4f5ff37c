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
	struct cpu_area *const *areas; /* mapped, by possible CPU; NULL: it was never online */
	uint64_t *lines;             /* mapped: source of each line by number; 0: none yet */
	uint32_t *nr_given;          /* mapped: number of sources in use by lines, */
	uint32_t named;              /* and its maximum; further lines share another one */
	const char *path;            /* of /proc/interrupts */
	const struct cpu_slot *cpus; /* mapped, one per possible CPU */
	int nr_cpus;
};

/* irqs_new - before the programs are attached: if the host has more lines than sources, lines of a device share one.
 * @mem is borrowed. NULL: out of memory. Ticks refer to sources, which live as long as this. */
struct irqs *irqs_new(const struct irqs_memory *mem);
void irqs_free(struct irqs *q);

/* irqs_source - by number; NULL: no more. @number: of the line; for other sources a number that no line has. */
struct irq_source;
const struct irq_source *irqs_source(struct irqs *q, uint32_t source, int *number);

/* irqs_device - the device of a line, or of all lines that share its source; "": it has none, or had no interrupt. Raw bytes. */
const char *irqs_device(struct irqs *q, uint32_t line);

/* irqs_capture - reads what each source did so far, for the next irqs_tick(), which otherwise reads it itself: call it at the
 * instant at which the tick ends; may be repeated. */
void irqs_capture(struct irqs *q);

/* irqs_tick - passes the activity of each source since the last tick to the model; NULL: only sets the baseline. 0 or
 * -errno. */
int irqs_tick(struct irqs *q, struct model *model);

/* irqs_ipis_are_lines - whether interrupts from other CPUs are lines here (arm64), rather than vectors of their own. */
bool irqs_ipis_are_lines(void);

/*
 * irqs_timers_unseen - whether no timer interrupt was seen so far, although CPUs with a timer were busy for @busy_ns.
 * This is the case under Hyper-V, whose own vectors have no tracepoints. Elsewhere (Xen) the timer is a line, which is
 * seen.
 */
bool irqs_timers_unseen(const struct irqs *q, uint64_t busy_ns);

#endif
