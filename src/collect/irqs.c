/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/irqs.h"

#include <stdbool.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "area.h"
#include "collect/irq_lines.h"
#include "model/model.h"
#include "model/wait.h"
#include "slot.h"

/* The part of the sources for lines that is reserved for new devices, if devices share sources. */
#define LATER_PART 8

/* Shown values of all CPUs. */
struct shown {
	uint64_t count, ns;
	uint32_t hist[IRQ_HIST_SLOTS];
};

/* Shown values of one CPU. */
struct cpu_shown {
	uint64_t count, ns;
};

struct irqs {
	struct irqs_memory mem;
	struct irq_source sources[IRQ_SOURCES];
	bool named[IRQ_SOURCES];
	int numbers[IRQ_SOURCES];
	struct shown shown[IRQ_SOURCES];
	struct cpu_shown *cpu_shown; /* IRQ_SOURCES per CPU */
};

/* Names as in /proc/interrupts. */
static const char *const vector_names[IRQ_LINES] = {
	[IRQ_LOC] = "LOC", [IRQ_RES] = "RES", [IRQ_CAL] = "CAL", [IRQ_IWI] = "IWI",
};

static const char *name_of(int source)
{
	if (source < IRQ_SOFTIRQS)
		return softirq_names[source];
	return vector_names[source] ? vector_names[source] : "";
}

void irqs_free(struct irqs *q)
{
	if (q)
		free(q->cpu_shown);
	free(q);
}

/* Names a source by its line, or by the first of its lines. */
static void name_source(struct irqs *q, uint32_t source, uint32_t number, uint32_t more, const char *device)
{
	struct irq_source *s = &q->sources[source];

	q->named[source] = true;
	q->numbers[source] = number;
	s->kind = IRQ_HARD;
	if (source == IRQ_LINES + q->mem.named)
		snprintf(s->name, sizeof(s->name), "others");
	else if (more)
		snprintf(s->name, sizeof(s->name), "%u+%u", number, more);
	else
		snprintf(s->name, sizeof(s->name), "%u", number);
	snprintf(s->device, sizeof(s->device), "%s", device);
}

/* A line was seen for the first time; its driver may be new. */
static void name_lines(struct irqs *q)
{
	uint32_t others = IRQ_LINES + q->mem.named;
	struct irq_line *lines;
	int nr = irq_lines_read(q->mem.path, &lines);

	for (int i = 0; i < nr; i++) {
		uint64_t source = lines[i].number < IRQ_LINES_MAX ? q->mem.lines[lines[i].number] : 0;

		if (source >= IRQ_LINES && source < others && !q->named[source])
			name_source(q, source, lines[i].number, 0, lines[i].device);
	}
	free(lines);
	for (uint32_t i = 0; i < IRQ_LINES_MAX; i++) { /* lines that are gone again */
		uint64_t source = q->mem.lines[i];

		if (source >= IRQ_LINES && source < others && !q->named[source])
			name_source(q, source, i, 0, "");
	}
	if (!q->named[others])
		name_source(q, others, IRQ_LINES_MAX + others, 0, "");
}

/* Gives one source to the lines of a device, which begin at @lines. Returns their number. */
static size_t give_source(struct irqs *q, const struct irq_line *lines, size_t nr)
{
	uint32_t source = IRQ_LINES + lines->group;
	char device[64];
	size_t of = 0;

	for (; of < nr && lines[of].group == lines->group; of++)
		if (lines[of].number < IRQ_LINES_MAX)
			q->mem.lines[lines[of].number] = source;
	irq_lines_device(lines->device, device);
	name_source(q, source, lines->number, of - 1, of == 1 ? lines->device : device);
	return of;
}

/* If there are more lines than sources, lines of a device share one, and some are left for new devices. */
static void share_sources(struct irqs *q)
{
	struct irq_line *lines;
	int nr = irq_lines_read(q->mem.path, &lines);
	uint32_t devices, room = q->mem.named - q->mem.named / LATER_PART;

	if (nr > (int)q->mem.named) {
		devices = irq_lines_group(lines, nr);
		for (size_t i = 0, of; devices && i < (size_t)nr; i += of) {
			of = 1;
			if (lines[i].group < room)
				of = give_source(q, &lines[i], nr - i);
		}
		*q->mem.nr_given = devices < room ? devices : room;
	}
	free(lines);
}

struct irqs *irqs_new(const struct irqs_memory *mem)
{
	struct irqs *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->mem = *mem;
	q->cpu_shown = calloc((size_t)mem->nr_cpus * IRQ_SOURCES, sizeof(*q->cpu_shown));
	if (!q->cpu_shown) {
		free(q);
		return NULL;
	}
	for (int i = 0; i < IRQ_SOURCES; i++)
		q->sources[i].index = i;
	for (int i = 0; i < IRQ_LINES; i++) {
		q->sources[i].kind = i < IRQ_SOFTIRQS ? IRQ_SOFT : IRQ_VECTOR;
		snprintf(q->sources[i].name, sizeof(q->sources[i].name), "%s", name_of(i));
		q->named[i] = true;
		q->numbers[i] = IRQ_LINES_MAX + i;
	}
	share_sources(q);
	return q;
}

/* Sources are numbered in the order of their first interrupt. */
static bool irqs_have(const struct irqs *q, uint32_t source)
{
	return source < IRQ_LINES + *q->mem.nr_given && source <= IRQ_LINES + q->mem.named;
}

const struct irq_source *irqs_source(struct irqs *q, uint32_t source, int *number)
{
	if (!irqs_have(q, source))
		return NULL;
	if (!q->named[source])
		name_lines(q);
	*number = q->numbers[source];
	return &q->sources[source];
}

/* Shows the activity on one CPU. */
static int tick_cpu(struct irqs *q, struct model *model, uint32_t source, int cpu, const struct irq_slot *s)
{
	struct cpu_shown *before = &q->cpu_shown[cpu * IRQ_SOURCES + source];
	struct irq_cpu v = { .source = source, .cpu = cpu, .count = s->count - before->count, .ns = s->ns - before->ns };

	*before = (struct cpu_shown){ s->count, s->ns };
	return model && v.count ? model_irq_cpu(model, &v) : 0;
}

/* Sums over all CPUs up to now. @v: resets the longest since the last time. */
static int sum_of(struct irqs *q, struct model *model, uint32_t source, struct irq_values *v, struct shown *sum)
{
	int err = 0;

	for (int cpu = 0; cpu < q->mem.nr_cpus && !err; cpu++) {
		struct irq_slot *s, copy;
		uint64_t longest;

		if (!q->mem.areas[cpu] || !(q->mem.areas[cpu]->irqs_met[source / 64] >> source % 64 & 1))
			continue;
		s = &q->mem.areas[cpu]->irqs[source];
		copy = *s; /* the values of one CPU then match the sum */
		sum->count += copy.count;
		sum->ns += copy.ns;
		for (int i = 0; i < IRQ_HIST_SLOTS; i++)
			sum->hist[i] += copy.hist[i];
		v->nr_cpus += copy.count != q->cpu_shown[cpu * IRQ_SOURCES + source].count;
		err = tick_cpu(q, model, source, cpu, &copy);
		longest = copy.max_ns ? __atomic_exchange_n(&s->max_ns, 0, __ATOMIC_RELAXED) : 0;
		if (longest <= v->max_ns)
			continue;
		v->max_ns = longest;
		v->max_at = s->max_at + q->mem.cpus[cpu].suspended_ns;
		v->max_cpu = cpu;
		v->max_tid = s->max_tid;
	}
	return err;
}

/* A CPU that was busy for this long has had at least 100 timer interrupts. */
#define TIMERS_DUE_NS 1000000000ULL

bool irqs_timers_unseen(const struct irqs *q, uint64_t busy_ns)
{
	if (busy_ns < TIMERS_DUE_NS)
		return false;
	for (int cpu = 0; cpu < q->mem.nr_cpus; cpu++)
		if (q->mem.areas[cpu] && q->mem.areas[cpu]->irqs[IRQ_LOC].count)
			return false;
	for (uint32_t i = IRQ_LINES; irqs_have(q, i); i++)
		if (!strncmp(q->sources[i].device, "timer", 5))
			return false;
	return true;
}

int irqs_tick(struct irqs *q, struct model *model)
{
	struct hist hard = { 0 }, soft = { 0 };
	int err = 0;

	for (uint32_t i = 0; irqs_have(q, i) && !err; i++) {
		struct irq_values v = { .source = &q->sources[i] };
		struct shown sum = { 0 }, *before = &q->shown[i];

		err = sum_of(q, model, i, &v, &sum);
		if (err || sum.count == before->count)
			continue;
		if (!q->named[i])
			name_lines(q);
		v.count = sum.count - before->count;
		v.ns = sum.ns - before->ns;
		hist_grew(&v.hist, IRQ_HIST_SHIFT, sum.hist, before->hist, IRQ_HIST_SLOTS);
		/* An interrupt that just ended may be counted before it is compared with the longest. */
		if (v.max_ns < v.ns / v.count)
			v.max_ns = v.ns / v.count;
		*before = sum;
		hist_add(irq_hist(v.source->kind) == HIST_SOFTIRQ ? &soft : &hard, &v.hist);
		if (model)
			err = model_irq(model, &v);
	}
	if (model) {
		model_hist(model, HIST_IRQ, &hard);
		model_hist(model, HIST_SOFTIRQ, &soft);
	}
	return err;
}
