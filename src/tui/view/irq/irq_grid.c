/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/view/irq/irq_view.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/tick.h"
#include "query/irq_history.h"
#include "tui/term/paint.h"
#include "tui/widget/bar.h"
#include "util/format.h"
#include "util/text.h"
#include "util/vec.h"

#define CELLS 40 /* " cpu12  [##++                  ]  34.1%" */
#define BAR 22

static int columns_of(const struct paint *p)
{
	return p->width / CELLS ? p->width / CELLS : 1;
}

int irq_grid_lines(const struct paint *p, const struct tick *t)
{
	return (t->nr_cpus + columns_of(p) - 1) / columns_of(p);
}

static int busier(const void *a, const void *b)
{
	const struct cpu_values *x = *(const struct cpu_values *const *)a, *y = *(const struct cpu_values *const *)b;

	return cmp_int(cpu_irq(y), cpu_irq(x)) ?: x->cpu - y->cpu;
}

static const char *hard_glyph(const struct paint *p)
{
	return p->unicode ? "█" : "#";
}

static const char *soft_glyph(const struct paint *p)
{
	return p->unicode ? "▓" : "+";
}

static void draw_cpu(const struct paint *p, int y, int x, const struct cpu_values *c)
{
	const unsigned long long all = cpu_interval(c);
	const unsigned long long parts[] = { c->hardirq_ns, c->softirq_ns, all > cpu_irq(c) ? all - cpu_irq(c) : 0 };
	int cells[3];

	bar_cells(parts, 3, BAR, cells);
	x = paint_format(p, y, x, ROLE_TEXT, " cpu%-4d[", c->cpu);
	x = paint_repeated(p, y, x, cells[0], ROLE_KERNEL, hard_glyph(p));
	x = paint_repeated(p, y, x, cells[1], ROLE_USER, soft_glyph(p));
	paint_format(p, y, x, ROLE_TEXT, "%*s]%6s%%", BAR - cells[0] - cells[1], "", SHARE_TEXT(cpu_irq(c), all));
}

/* Name of the source that took most of a CPU. */
static const char *most_on(const struct tick *t, int cpu)
{
	const struct irq_cpu *most = NULL;
	const struct irq_values *v;

	for (size_t i = 0; i < t->nr_irq_cpus; i++)
		if (t->irq_cpus[i].cpu == cpu && (!most || t->irq_cpus[i].ns > most->ns))
			most = &t->irq_cpus[i];
	v = most ? irq_values_of(t, most->source) : NULL;
	return v ? v->source->name : "-";
}

static void draw_title(const struct paint *p, int y, const struct tick *t, size_t shown)
{
	const struct cpu_values *busiest = NULL;
	char text[64];
	int x;

	x = paint_format(p, y, 0, ROLE_TITLE, "IRQ TIME BY CPU, %% of %.3gs: ", t->interval_ns / 1e9);
	x = paint_text(p, y, x, 1, ROLE_KERNEL, hard_glyph(p));
	x = paint_text(p, y, x, p->width, ROLE_TITLE, " hard ");
	x = paint_text(p, y, x, 1, ROLE_USER, soft_glyph(p));
	x = paint_text(p, y, x, p->width, ROLE_TITLE, " soft");
	if (shown && shown < t->nr_cpus)
		x = paint_format(p, y, x, ROLE_DIM, "  %zu of %zu", shown, t->nr_cpus);
	for (size_t i = 0; i < t->nr_cpus; i++)
		if (!busiest || cpu_irq(&t->cpus[i]) > cpu_irq(busiest))
			busiest = &t->cpus[i];
	if (!busiest)
		return;
	snprintf(text, sizeof(text), "   busiest CPU %d: %s%% %s", busiest->cpu,
		 SHARE_TEXT(cpu_irq(busiest), cpu_interval(busiest)), most_on(t, busiest->cpu));
	if (x + text_width(text) <= p->width)
		paint_text(p, y, x, p->width, ROLE_TEXT, text);
}

int irq_grid_draw(const struct paint *p, int y, const struct tick *t, int lines)
{
	const struct cpu_values **cpus = calloc(t->nr_cpus + 1, sizeof(*cpus));
	size_t shown = (size_t)lines * columns_of(p);

	if (shown > t->nr_cpus)
		shown = t->nr_cpus;
	draw_title(p, y++, t, shown);
	for (size_t i = 0; cpus && i < t->nr_cpus; i++)
		cpus[i] = &t->cpus[i];
	if (cpus && shown < t->nr_cpus)
		qsort(cpus, t->nr_cpus, sizeof(*cpus), busier);
	for (size_t i = 0; cpus && i < shown; i++)
		draw_cpu(p, y + i / columns_of(p), i % columns_of(p) * CELLS, cpus[i]);
	free(cpus);
	return y + lines;
}
