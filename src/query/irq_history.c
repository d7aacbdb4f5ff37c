/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/irq_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t irq_history_first(const struct tick *t)
{
	uint64_t oldest;

	tick_past(t, &oldest);
	return oldest < t->seq ? oldest : t->seq; /* a pause longer than the history: only the shown refresh */
}

uint64_t irq_history_since(const struct tick *t)
{
	const struct tick *first = tick_head(t, irq_history_first(t));

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

	while (at && b->at[at - 1].ns <= one->ns) /* equal bursts: the latest first */
		at--;
	if (at == IRQ_BURSTS)
		return;
	if (b->nr < IRQ_BURSTS)
		b->nr++;
	memmove(&b->at[at + 1], &b->at[at], (b->nr - at - 1) * sizeof(b->at[0]));
	b->at[at] = *one;
}

int irq_bursts_name(const struct tick *any, struct irq_bursts *b)
{
	struct interrupted_who *who[IRQ_BURSTS];

	for (int i = 0; i < b->nr; i++)
		who[i] = &b->at[i].who;
	return interrupted_who_find(any, who, b->nr);
}

void irq_history_bursts(const struct tick *t, int source, struct irq_bursts *b)
{
	for (uint64_t seq = irq_history_first(t); seq <= t->seq; seq++) {
		const struct tick *then = tick_head(t, seq);

		for (size_t i = 0; then && i < then->nr_irqs; i++) {
			const struct irq_values *v = &then->irqs[i];
			const struct irq_burst one = { v->source, v->max_ns, v->max_cpu,
						       { .tid = v->max_tid, .at = v->max_at } };

			if (v->max_ns && (source == IRQ_ALL || source == v->source->index))
				irq_bursts_add(b, &one);
		}
	}
}

void irq_history_hist(const struct tick *t, int source, struct hist *hist)
{
	*hist = (struct hist){ 0 };
	for (uint64_t seq = irq_history_first(t); seq <= t->seq; seq++) {
		const struct tick *then = tick_head(t, seq);
		const struct irq_values *v = then ? irq_values_of(then, source) : NULL;

		if (v)
			hist_add(hist, &v->hist);
	}
}

uint64_t irq_history_time(const struct tick *t, int source, int nr, uint64_t *ns)
{
	uint64_t first = irq_history_first(t), most = 0;

	for (int i = 0; i < nr; i++) {
		uint64_t ago = nr - 1 - i;
		const struct tick *then = ago <= t->seq - first ? tick_head(t, t->seq - ago) : NULL;
		const struct irq_values *v = then ? irq_values_of(then, source) : NULL;

		ns[i] = v ? (uint64_t)(1e9 * v->ns / then->interval_ns) : then ? 0 : VALUE_NA;
		if (v && ns[i] > most)
			most = ns[i];
	}
	return most;
}

void irq_history_gaps(const struct tick *t, struct irq_bursts *b)
{
	for (uint64_t seq = irq_history_first(t); seq <= t->seq; seq++) {
		const struct tick *then = tick_head(t, seq);

		for (size_t i = 0; then && i < then->nr_cpus; i++) {
			const struct cpu_values *cpu = &then->cpus[i];
			const struct irq_burst one = { NULL, cpu->gap_ns, cpu->cpu,
						       { .tid = cpu->gap_tid, .at = cpu->gap_at } };

			if (cpu->gap_ns != VALUE_NA && cpu->gap_ns >= IRQ_GAP_NS)
				irq_bursts_add(b, &one);
		}
	}
}

/* Finds the ksoftirqd and ktimers threads that were active: at most two for each CPU. */
static size_t find_softirq_threads(const struct tick *t, const struct row **rows)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_active && nr < 2 * t->nr_cpus; i++) {
		const struct life *l = t->active[i].thread;

		if (life_runs_softirqs(l))
			rows[nr++] = &t->active[i];
	}
	return nr;
}

static void add_longest_wait(const struct tick *t, const struct life *l, const struct values past[IRQ_STARVED],
			     struct irq_bursts *b)
{
	struct irq_burst longest = { .cpu = l->cpu, .who.tid = l->tid };

	for (uint64_t i = 0; i < IRQ_STARVED; i++) {
		uint64_t seq = t->seq - (IRQ_STARVED - 1 - i), ns = past[i].v[METRIC_RUNQ_MAX];
		const struct tick *then = values_known(&past[i]) ? tick_head(t, seq) : NULL;

		if (!then || ns == VALUE_NA || ns < longest.ns)
			continue;
		longest.ns = ns;
		longest.who.at = then->boottime_ns;
	}
	if (longest.ns >= IRQ_GAP_NS)
		irq_bursts_add(b, &longest);
}

int irq_history_starved(const struct tick *t, struct irq_bursts *b)
{
	const struct row **rows = calloc(2 * t->nr_cpus + 1, sizeof(*rows));
	size_t nr = rows ? find_softirq_threads(t, rows) : 0;
	struct values *past = calloc(nr * IRQ_STARVED + 1, sizeof(*past));
	int err = rows && past ? 0 : -ENOMEM;

	if (!err && nr)
		err = tick_history(t, rows, nr, IRQ_STARVED, false, past);
	for (size_t i = 0; i < nr && !err; i++)
		add_longest_wait(t, rows[i]->thread, past + i * IRQ_STARVED, b);
	free(rows);
	free(past);
	return err;
}
