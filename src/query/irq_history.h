/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_IRQ_HISTORY_H
#define SYSTOP_QUERY_IRQ_HISTORY_H

/* What interrupts did in the refreshes that are remembered, up to the one shown: all functions take that one. */

#include "model/tick.h"
#include "query/interrupted_who.h"

/* An interrupt that took long; or a busy CPU's timer that did not come for long, or its ksoftirqd that waited. */
struct irq_burst {
	const struct irq_source *source; /* NULL: a gap of the timer, or a wait */
	uint64_t ns;
	int cpu;
	struct interrupted_who who; /* whom it interrupted, and when it began; of a gap: who ran at its end, and when */
};

#define IRQ_BURSTS 8

/* The longest ones, the longest first. Initialise with zeroes. */
struct irq_bursts {
	struct irq_burst at[IRQ_BURSTS];
	int nr;
};

/* irq_bursts_add - if it is one of the longest. */
void irq_bursts_add(struct irq_bursts *b, const struct irq_burst *one);

#define IRQ_ALL (-1)

/* irq_history_since - when the oldest of them began: CLOCK_BOOTTIME ns. irq_history_first - its number. */
uint64_t irq_history_since(const struct tick *t);
uint64_t irq_history_first(const struct tick *t);

/* irq_values_of - what a source (its index) did in a refresh, NULL: nothing. */
const struct irq_values *irq_values_of(const struct tick *t, int source);

/* irq_history_bursts - the longest of each refresh: of a source, or of IRQ_ALL. */
void irq_history_bursts(const struct tick *t, int source, struct irq_bursts *b);

/* irq_history_hist - how long those of a source took. */
void irq_history_hist(const struct tick *t, int source, struct hist *hist);

/* irq_history_time - ns of a source in each of the last @nr refreshes, oldest first; VALUE_NA: not remembered. Returns
 * the most. */
uint64_t irq_history_time(const struct tick *t, int source, int nr, uint64_t *ns);

/* irq_history_starved - the longest wait for its CPU of each ksoftirqd, if it was IRQ_GAP_NS and more: of those that
 * did something in this refresh, in the last IRQ_STARVED ones. Of them who.at is the end of the refresh. 0 or -ENOMEM.
 */
#define IRQ_STARVED 30
int irq_history_starved(const struct tick *t, struct irq_bursts *b);

/* irq_history_gaps - times of IRQ_GAP_NS and more in which a busy CPU had no timer interrupt. */
void irq_history_gaps(const struct tick *t, struct irq_bursts *b);

#endif
