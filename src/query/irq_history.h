/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_IRQ_HISTORY_H
#define SYSTOP_QUERY_IRQ_HISTORY_H

/* Interrupts in the remembered refreshes up to the one shown, which all functions take. */

#include "model/tick.h"
#include "query/interrupted_who.h"

/* A long interrupt, a gap in a busy CPU's timer interrupts, or a wait of its ksoftirqd. */
struct irq_burst {
	const struct irq_source *source; /* NULL: a gap of the timer, or a wait */
	uint64_t ns;
	int cpu;
	struct interrupted_who who; /* the interrupted thread and the start; for a gap: the thread that ran at its
				     * end, and the end */
};

#define IRQ_BURSTS 8

/* The longest bursts, longest first. Initialise with zeroes. */
struct irq_bursts {
	struct irq_burst at[IRQ_BURSTS];
	int nr;
};

/* irq_bursts_add - adds @one if it is among the longest. */
void irq_bursts_add(struct irq_bursts *b, const struct irq_burst *one);

/* irq_bursts_name - as interrupted_who_find(): without memory the threads only have numbers. */
int irq_bursts_name(const struct tick *any, struct irq_bursts *b);

#define IRQ_ALL (-1)

/* irq_history_since - start of the oldest refresh, CLOCK_BOOTTIME ns.
 * irq_history_first - its number. */
uint64_t irq_history_since(const struct tick *t);
uint64_t irq_history_first(const struct tick *t);

/* irq_values_of - values of a source (by index) in a refresh, NULL: none. */
const struct irq_values *irq_values_of(const struct tick *t, int source);

/* irq_history_bursts - the longest interrupts of each refresh: of a source, or of IRQ_ALL. */
void irq_history_bursts(const struct tick *t, int source, struct irq_bursts *b);

/* irq_history_hist - durations of a source's interrupts. */
void irq_history_hist(const struct tick *t, int source, struct hist *hist);

/* irq_history_time - ns a second of a source in each of the last @nr refreshes, oldest first; VALUE_NA: not remembered.
 * Returns the maximum. */
uint64_t irq_history_time(const struct tick *t, int source, int nr, uint64_t *ns);

/* irq_history_starved - the longest wait of each ksoftirqd or ktimers for its CPU in the last IRQ_STARVED refreshes, if at least
 * IRQ_GAP_NS. Covers only threads that were active in @t. who.at is the end of the refresh. 0 or -ENOMEM. */
#define IRQ_STARVED 30
int irq_history_starved(const struct tick *t, struct irq_bursts *b);

/* irq_history_gaps - gaps of at least IRQ_GAP_NS without a timer interrupt on a busy CPU. */
void irq_history_gaps(const struct tick *t, struct irq_bursts *b);

#endif
