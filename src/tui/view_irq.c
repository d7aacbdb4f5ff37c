/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What interrupted: each source with its time, rate and longest run, and each CPU's share. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "tui/pager.h"
#include "tui/view.h"
#include "util/format.h"
#include "util/text.h"
#include "util/vec.h"

#define CPU_CELLS 36 /* " cpu12  42.1 [##########    ]" */
#define CPU_BAR 14

struct irq_view {
	struct pager pager;
	const struct irq_values **rows; /* by time */
	size_t nr, room;
};

static int by_time(const void *a, const void *b)
{
	const struct irq_values *x = *(const struct irq_values *const *)a, *y = *(const struct irq_values *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->source->name, y->source->name);
}

static int irq_update(void *state, const struct view_context *c)
{
	struct irq_view *s = state;

	s->nr = 0;
	for (size_t i = 0; i < c->tick->nr_irqs; i++)
		if (VEC_PUSH(s->rows, s->nr, s->room, &c->tick->irqs[i]))
			return -1;
	if (s->nr)
		qsort(s->rows, s->nr, sizeof(*s->rows), by_time);
	return 0;
}

static int draw_cpus(const struct paint *p, int y, const struct tick *t)
{
	int columns = p->width / CPU_CELLS ? p->width / CPU_CELLS : 1;
	int lines = (t->nr_cpus + columns - 1) / columns;

	paint_text(p, y++, 0, p->width, ROLE_TITLE, "TIME IN INTERRUPTS BY CPU, % of the interval");
	for (size_t i = 0; i < t->nr_cpus; i++) {
		const struct cpu_values *cpu = &t->cpus[i];
		uint64_t all = cpu->run_ns + cpu->idle_ns, irq_ns = cpu->hardirq_ns + cpu->softirq_ns;
		int filled = all ? (CPU_BAR * irq_ns + all / 2) / all : 0;
		char share[16];
		int x;

		format_value(share, sizeof(share), UNIT_SHARE, irq_ns, all);
		x = paint_format(p, y + (int)i % lines, (int)i / lines * CPU_CELLS, ROLE_TEXT, "%4d %5s [", cpu->cpu, share);
		for (int k = 0; k < CPU_BAR; k++)
			x = paint_text(p, y + (int)i % lines, x, 1, ROLE_USER, k >= filled ? " " : p->unicode ? "█" : "#");
		paint_text(p, y + (int)i % lines, x, 1, ROLE_TEXT, "]");
	}
	return y + lines;
}

static void draw_row(const struct paint *p, int y, const struct irq_values *v, uint64_t interval_ns)
{
	char share[16], rate[16], average[16], p99[16], max[16], device[128];

	format_value(share, sizeof(share), UNIT_SHARE, v->ns, interval_ns);
	format_value(rate, sizeof(rate), UNIT_RATE, v->count, interval_ns);
	format_value(average, sizeof(average), UNIT_NS, v->ns / v->count, 0);
	format_value(p99, sizeof(p99), UNIT_NS, irq_quantile(v, 0.99), 0);
	format_value(max, sizeof(max), UNIT_NS, v->max_ns, 0);
	text_safe(device, sizeof(device), v->source->device, strlen(v->source->device));
	paint_format(p, y, 0, ROLE_TEXT, "%-9s %-6s %5s %7s %6s %6s %6s %4d %s", v->source->name,
		     irq_kind_names[v->source->kind], share, rate, average, p99, max, v->nr_cpus, device);
}

static const char *name_of(const struct tick *t, pid_t tid, char *buf, size_t size)
{
	if (!tid)
		return "an idle CPU";
	for (size_t i = 0; i < t->nr_active; i++) {
		if (t->active[i].number != tid)
			continue;
		text_safe(buf, size, t->active[i].thread->comm, strnlen(t->active[i].thread->comm, 16));
		return buf;
	}
	snprintf(buf, size, "thread %d", tid);
	return buf;
}

static int draw_longest(const struct paint *p, int y, const struct irq_view *s, const struct tick *t)
{
	const struct irq_values *longest = NULL;
	char max[16], name[80];

	for (size_t i = 0; i < s->nr; i++)
		if (!longest || s->rows[i]->max_ns > longest->max_ns)
			longest = s->rows[i];
	if (!longest)
		return y;
	format_value(max, sizeof(max), UNIT_NS, longest->max_ns, 0);
	paint_format(p, y, 0, ROLE_TEXT, "longest: %s for %s on CPU %d, during %s", longest->source->name, max,
		     longest->max_cpu, name_of(t, longest->max_tid, name, sizeof(name)));
	return y + 1;
}

static void irq_draw(void *state, const struct view_context *c)
{
	struct irq_view *s = state;
	struct paint p = pager_begin(&s->pager, c->paint, c->top, c->height);
	int y = draw_cpus(&p, 0, c->tick);

	y = draw_longest(&p, y + 1, s, c->tick);
	paint_format(&p, y++, 0, ROLE_TITLE, "%-9s %-6s %5s %7s %6s %6s %6s %4s %s", "IRQ", "KIND", "TIME%", "/s", "AVG",
		     "~P99", "MAX", "CPUS", "DEVICE");
	for (size_t i = 0; i < s->nr; i++)
		draw_row(&p, y++, s->rows[i], c->tick->interval_ns);
	pager_end(&s->pager, y);
}

static bool irq_act(void *state, enum action a, const struct view_context *c)
{
	(void)c;
	return pager_act(&((struct irq_view *)state)->pager, a);
}

static void irq_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	(void)c;
	snprintf(buf, size, "%zu sources, of the whole host", ((struct irq_view *)state)->nr);
}

static void irq_fini(void *state)
{
	free(((struct irq_view *)state)->rows);
}

const struct view view_irq = {
	.name = "IRQ",
	.places = IN_IRQ,
	.state_size = sizeof(struct irq_view),
	.update = irq_update,
	.draw = irq_draw,
	.act = irq_act,
	.status = irq_status,
	.fini = irq_fini,
};
