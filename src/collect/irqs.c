/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/irqs.h"

#include <ctype.h>
#include <stdbool.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "area.h"
#include "model/model.h"
#include "model/wait.h"
#include "slot.h"

/* Of all CPUs. */
struct shown {
	uint64_t count, ns;
	uint32_t hist[IRQ_HIST_SLOTS];
};

/* Of one of them. */
struct cpu_shown {
	uint64_t count, ns;
};

struct irqs {
	struct irqs_memory mem;
	struct irq_source sources[IRQ_SOURCES];
	bool named[IRQ_SOURCES];
	int numbers[IRQ_SOURCES];
	struct shown shown[IRQ_SOURCES];
	struct cpu_shown *cpu_shown; /* IRQ_SOURCES for each CPU */
};

/* As /proc/interrupts has them. */
static const char *const vector_names[IRQ_LINES] = {
	[IRQ_LOC] = "LOC", [IRQ_RES] = "RES", [IRQ_CAL] = "CAL", [IRQ_IWI] = "IWI",
};

static const char *name_of(int source)
{
	if (source < IRQ_SOFTIRQS)
		return softirq_names[source];
	return vector_names[source] ? vector_names[source] : "";
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
	return q;
}

void irqs_free(struct irqs *q)
{
	if (q)
		free(q->cpu_shown);
	free(q);
}

/* The last word of a line that begins with "24:": who handles it. Returns the number, -1: it is none. */
static long parse_line(char *line, char device[64])
{
	char *end, *last;
	long number;

	while (isspace((unsigned char)*line))
		line++;
	number = strtol(line, &end, 10);
	if (end == line || *end != ':')
		return -1;
	line[strcspn(line, "\n")] = '\0';
	for (size_t len = strlen(line); len && isspace((unsigned char)line[len - 1]); len--)
		line[len - 1] = '\0';
	last = strrchr(line, ' ');
	snprintf(device, 64, "%s", last && last > end ? last + 1 : "");
	return number;
}

/* A line of /proc/interrupts was met for the first time, maybe of a driver that came later. */
static void name_lines(struct irqs *q)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char *line = NULL, device[64];
	size_t room = 0;

	for (long i = 0; i < IRQ_LINES_MAX; i++) {
		uint64_t source = q->mem.lines[i];

		if (source < IRQ_LINES || source >= IRQ_SOURCES || q->named[source])
			continue;
		q->named[source] = true;
		q->sources[source].kind = IRQ_HARD;
		q->numbers[source] = i;
		snprintf(q->sources[source].name, sizeof(q->sources[source].name),
			 source == IRQ_SOURCES - 1 ? "others" : "%ld", i);
	}
	while (f && getline(&line, &room, f) > 0) {
		long number = parse_line(line, device);
		uint64_t source = number >= 0 && number < IRQ_LINES_MAX ? q->mem.lines[number] : 0;

		if (source >= IRQ_LINES && source < IRQ_SOURCES - 1)
			snprintf(q->sources[source].device, sizeof(q->sources[source].device), "%s", device);
	}
	free(line);
	if (f)
		fclose(f);
}

/* Sources are numbered in the order in which they were met. */
static bool irqs_have(const struct irqs *q, uint32_t source)
{
	return source < IRQ_SOURCES && source < IRQ_LINES + *q->mem.nr_lines;
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

/* What one CPU did. */
static int tick_cpu(struct irqs *q, struct model *model, uint32_t source, int cpu, const struct irq_slot *s)
{
	struct cpu_shown *before = &q->cpu_shown[cpu * IRQ_SOURCES + source];
	struct irq_cpu v = { .source = source, .cpu = cpu, .count = s->count - before->count, .ns = s->ns - before->ns };

	*before = (struct cpu_shown){ s->count, s->ns };
	return model && v.count ? model_irq_cpu(model, &v) : 0;
}

/* Sums over all CPUs up to now. @v: the longest since the last time is taken. */
static int sum_of(struct irqs *q, struct model *model, uint32_t source, struct irq_values *v, struct shown *sum)
{
	int err = 0;

	for (int cpu = 0; cpu < q->mem.nr_cpus && !err; cpu++) {
		struct irq_slot *s, copy;
		uint64_t longest;

		if (!q->mem.areas[cpu])
			continue;
		s = &q->mem.areas[cpu]->irqs[source];
		if (!s->count)
			continue;
		copy = *s; /* so that its numbers of one CPU are those of the sum */
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
		/* One that just ended may be counted before it is compared with the longest. */
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
