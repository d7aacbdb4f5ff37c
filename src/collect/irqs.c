/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/irqs.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "area.h"
#include "collect/irq_lines.h"
#include "model/model.h"
#include "model/tick.h"
#include "model/wait.h"
#include "slot.h"
#include "util/clock.h"
#include "util/file.h"

/* The part of the sources for lines that is reserved for new devices, if devices share sources. */
#define LATER_PART 8

/* Each active source is looked at once in this many ticks: its line may have been given to another device. */
#define LOOK_TICKS 16

/* A source whose lines are gone is given to another line after this time without interrupts, the longest window of a trace, and
 * after HISTORY_TICKS: then no past refresh and no trace shows the old lines by the new name. */
#define AGE_NS 600000000000ULL

/* Where interrupts from other CPUs are lines, those have the lowest numbers. */
#define IPI_LINES 32
#define IPI_NAME 16

/* Shown values of all CPUs. */
struct shown {
	uint64_t count, ns;
	uint32_t hist[IRQ_HIST_SLOTS];
};

/* Values of one CPU. */
struct on_cpu {
	uint64_t count, ns;
};

/* What a source did on all CPUs so far, and the longest one since the last tick. */
struct captured {
	struct shown sum;
	uint64_t max_ns, max_at;
	int max_cpu;
	uint32_t max_tid;
};

struct irqs {
	struct irqs_memory mem;
	struct irq_source sources[IRQ_SOURCES];
	bool named[IRQ_SOURCES];
	int numbers[IRQ_SOURCES];
	struct shown shown[IRQ_SOURCES];
	/* [source * nr_cpus + cpu]: memory of a source that never occurs is never touched. */
	struct on_cpu *cpu_shown, *cpu_captured;
	struct captured captured[IRQ_SOURCES];
	struct {
		uint64_t ns;
		uint32_t tick;
	} active[IRQ_SOURCES]; /* when each last had interrupts */
	uint32_t nr_ticks;
	bool is_captured; /* irqs_capture() was called for the next tick */
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
	if (!q)
		return;
	free(q->cpu_shown);
	free(q->cpu_captured);
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

/* Reads the handlers of a line. Returns their length, 0: it has none, or is gone. */
static size_t read_handlers(int line, char handlers[256])
{
	file_line(handlers, 256, "/sys/kernel/irq/%d/actions", line);
	return strlen(handlers);
}

/* Whether the line is of interrupts from other CPUs (arm64). @name: as in /proc/interrupts, "IPI0" */
static bool is_ipi(uint32_t line, char name[IPI_NAME])
{
	char handlers[256], number[8];

	if (line >= IPI_LINES || read_handlers(line, handlers) != 3 || strcmp(handlers, "IPI"))
		return false;
	file_line(number, sizeof(number), "/sys/kernel/irq/%u/hwirq", line);
	snprintf(name, IPI_NAME, "IPI%s", number);
	return true;
}

bool irqs_ipis_are_lines(void)
{
	char name[IPI_NAME];
	uint32_t line = 0;

	while (line < IPI_LINES && !is_ipi(line, name))
		line++;
	return line < IPI_LINES;
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
	for (uint32_t i = 0; i < IRQ_LINES_MAX; i++) { /* those of other CPUs, and lines that are gone again */
		uint64_t source = q->mem.lines[i];
		char ipi[IPI_NAME] = "";

		if (source >= IRQ_LINES && source < others && !q->named[source])
			name_source(q, source, i, 0, is_ipi(i, ipi) ? ipi : "");
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
	q->cpu_captured = calloc((size_t)mem->nr_cpus * IRQ_SOURCES, sizeof(*q->cpu_captured));
	if (!q->cpu_shown || !q->cpu_captured) {
		irqs_free(q);
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

const char *irqs_device(struct irqs *q, uint32_t line)
{
	int number;
	const struct irq_source *s = line < IRQ_LINES_MAX ? irqs_source(q, q->mem.lines[line], &number) : NULL;

	return s ? s->device : "";
}

/* Reads a source, and resets its longest. */
static void capture(struct irqs *q, uint32_t source)
{
	struct captured *c = &q->captured[source];

	c->sum = (struct shown){ 0 };
	for (int cpu = 0; cpu < q->mem.nr_cpus; cpu++) {
		struct irq_slot *s, copy;
		uint64_t longest;

		if (!q->mem.areas[cpu] || !(q->mem.areas[cpu]->irqs_met[source / 64] >> source % 64 & 1))
			continue;
		s = &q->mem.areas[cpu]->irqs[source];
		copy = *s; /* the values of one CPU then match the sum */
		q->cpu_captured[source * q->mem.nr_cpus + cpu] = (struct on_cpu){ copy.count, copy.ns };
		c->sum.count += copy.count;
		c->sum.ns += copy.ns;
		for (int i = 0; i < IRQ_HIST_SLOTS; i++)
			c->sum.hist[i] += copy.hist[i];
		longest = copy.max_ns ? __atomic_exchange_n(&s->max_ns, 0, __ATOMIC_RELAXED) : 0;
		if (longest <= c->max_ns)
			continue;
		c->max_ns = longest;
		c->max_at = s->max_at + q->mem.cpus[cpu].suspended_ns;
		c->max_cpu = cpu;
		c->max_tid = s->max_tid;
	}
}

void irqs_capture(struct irqs *q)
{
	for (uint32_t i = 0; irqs_have(q, i); i++)
		capture(q, i);
	q->is_captured = true;
}

/* Shows what a source did on each CPU, and counts these CPUs. */
static int show_cpus(struct irqs *q, struct model *model, uint32_t source, int *nr)
{
	int err = 0;

	for (int cpu = 0; cpu < q->mem.nr_cpus && !err; cpu++) {
		struct on_cpu *now = &q->cpu_captured[source * q->mem.nr_cpus + cpu];
		struct on_cpu *before = &q->cpu_shown[source * q->mem.nr_cpus + cpu];
		struct irq_cpu v = { .source = source, .cpu = cpu, .count = now->count - before->count,
				     .ns = now->ns - before->ns };

		*before = *now;
		if (!v.count)
			continue;
		++*nr;
		err = model ? model_irq_cpu(model, &v) : 0;
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
		if (q->mem.cpus[cpu].timer_at)
			return false;
	for (uint32_t i = IRQ_LINES; irqs_have(q, i); i++)
		if (!strncmp(q->sources[i].device, "timer", 5))
			return false;
	return true;
}

/* Whether a source is one line, whose last handler is now another device's. */
static bool has_other_device(const struct irqs *q, uint32_t source)
{
	const struct irq_source *s = &q->sources[source];
	size_t known = strlen(s->device), nr;
	char handlers[256], ipi[IPI_NAME];

	if (q->numbers[source] >= IRQ_LINES_MAX || strchr(s->name, '+'))
		return false;
	if (is_ipi(q->numbers[source], ipi))
		return strcmp(s->device, ipi);
	nr = read_handlers(q->numbers[source], handlers);
	return nr && (nr < known || strcmp(handlers + nr - known, s->device) ||
		      (nr > known && !strchr(", ", handlers[nr - known - 1])));
}

/* A line of the source that has a handler, -1: none. */
static int find_line(const struct irqs *q, uint32_t source)
{
	char handlers[256];

	for (int i = 0; i < IRQ_LINES_MAX; i++)
		if (q->mem.lines[i] == source && read_handlers(i, handlers))
			return i;
	return -1;
}

/* If lines lack a source of their own, one of them gets that of lines that are gone. An interrupt of it that is in progress
 * counts as lost. */
static void give_again(struct irqs *q, uint32_t source, uint64_t now)
{
	uint32_t others = IRQ_LINES + q->mem.named;
	int line;

	if (source < IRQ_LINES || source >= others || !irqs_have(q, others) || now - q->active[source].ns < AGE_NS ||
	    q->nr_ticks - q->active[source].tick < HISTORY_TICKS || find_line(q, source) >= 0)
		return;
	line = find_line(q, others);
	if (line < 0)
		return;
	for (int i = 0; i < IRQ_LINES_MAX; i++)
		if (q->mem.lines[i] == source)
			q->mem.lines[i] = 0;
	q->named[source] = false;
	q->mem.lines[line] = source;
}

int irqs_tick(struct irqs *q, struct model *model)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct hist hard = { 0 }, soft = { 0 };
	int err = 0;

	if (!q->is_captured)
		irqs_capture(q);
	q->is_captured = false;
	q->nr_ticks++;
	for (uint32_t i = 0; irqs_have(q, i) && !err; i++) {
		struct captured *c = &q->captured[i];
		struct shown *before = &q->shown[i];
		struct irq_values v = { .source = &q->sources[i], .count = c->sum.count - before->count,
					.ns = c->sum.ns - before->ns, .max_ns = c->max_ns, .max_at = c->max_at,
					.max_cpu = c->max_cpu, .max_tid = c->max_tid };

		c->max_ns = 0;
		if (!v.count) {
			if (i % LOOK_TICKS == q->nr_ticks % LOOK_TICKS)
				give_again(q, i, now);
			continue;
		}
		q->active[i].ns = now;
		q->active[i].tick = q->nr_ticks;
		err = show_cpus(q, model, i, &v.nr_cpus);
		if (err)
			break;
		if (q->named[i] && i % LOOK_TICKS == q->nr_ticks % LOOK_TICKS)
			q->named[i] = !has_other_device(q, i);
		if (!q->named[i])
			name_lines(q);
		hist_grew(&v.hist, IRQ_HIST_SHIFT, c->sum.hist, before->hist, IRQ_HIST_SLOTS);
		/* An interrupt that just ended may be counted before it is compared with the longest. */
		if (v.max_ns < v.ns / v.count)
			v.max_ns = v.ns / v.count;
		*before = c->sum;
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
