/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/irq_past.h"

#include <string.h>

const struct tick *irq_past_at(const struct tick *t, uint64_t seq)
{
	return seq == t->seq ? t : tick_head(t, seq);
}

uint64_t irq_past_first(const struct tick *t)
{
	uint64_t oldest;

	tick_past(t, &oldest);
	return oldest < t->seq ? oldest : t->seq; /* paused for longer than is remembered: itself */
}

uint64_t irq_past_since(const struct tick *t)
{
	const struct tick *first = irq_past_at(t, irq_past_first(t));

	return first->boottime_ns - first->interval_ns;
}

const struct irq_values *irq_values_of(const struct tick *t, int source)
{
	for (size_t i = 0; i < t->nr_irqs; i++)
		if (t->irqs[i].source->index == source)
			return &t->irqs[i];
	return NULL;
}

void irq_bursts_add(struct irq_bursts *b, const struct irq_burst *one)
{
	int at = b->nr;

	while (at && b->at[at - 1].ns <= one->ns) /* of equal ones the last that came */
		at--;
	if (at == IRQ_BURSTS)
		return;
	if (b->nr < IRQ_BURSTS)
		b->nr++;
	memmove(&b->at[at + 1], &b->at[at], (b->nr - at - 1) * sizeof(b->at[0]));
	b->at[at] = *one;
}

void irq_past_bursts(const struct tick *t, int source, struct irq_bursts *b)
{
	for (uint64_t seq = irq_past_first(t); seq <= t->seq; seq++) {
		const struct tick *then = irq_past_at(t, seq);

		for (size_t i = 0; then && i < then->nr_irqs; i++) {
			const struct irq_values *v = &then->irqs[i];
			const struct irq_burst one = { v->source, v->max_ns, v->max_cpu,
						       { .tid = v->max_tid, .at = v->max_at } };

			if (v->max_ns && (source == IRQ_ALL || source == v->source->index))
				irq_bursts_add(b, &one);
		}
	}
}

void irq_past_hist(const struct tick *t, int source, uint64_t hist[IRQ_HIST_SLOTS])
{
	memset(hist, 0, IRQ_HIST_SLOTS * sizeof(*hist));
	for (uint64_t seq = irq_past_first(t); seq <= t->seq; seq++) {
		const struct tick *then = irq_past_at(t, seq);
		const struct irq_values *v = then ? irq_values_of(then, source) : NULL;

		for (int i = 0; v && i < IRQ_HIST_SLOTS; i++)
			hist[i] += v->hist[i];
	}
}

uint64_t irq_past_time(const struct tick *t, int source, int nr, uint64_t *ns)
{
	uint64_t first = irq_past_first(t), most = 0;

	for (int i = 0; i < nr; i++) {
		uint64_t ago = nr - 1 - i;
		const struct tick *then = ago <= t->seq - first ? irq_past_at(t, t->seq - ago) : NULL;
		const struct irq_values *v = then ? irq_values_of(then, source) : NULL;

		ns[i] = v ? v->ns : then ? 0 : VALUE_NA;
		if (v && v->ns > most)
			most = v->ns;
	}
	return most;
}

void irq_past_gaps(const struct tick *t, struct irq_bursts *b)
{
	for (uint64_t seq = irq_past_first(t); seq <= t->seq; seq++) {
		const struct tick *then = irq_past_at(t, seq);

		for (size_t i = 0; then && i < then->nr_cpus; i++) {
			const struct cpu_values *cpu = &then->cpus[i];
			const struct irq_burst one = { NULL, cpu->gap_ns, cpu->cpu,
						       { .tid = cpu->gap_tid, .at = cpu->gap_at } };

			if (cpu->gap_ns != VALUE_NA && cpu->gap_ns >= IRQ_GAP_NS)
				irq_bursts_add(b, &one);
		}
	}
}
