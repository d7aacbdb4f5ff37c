/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs as bars and as cells, and one CPU in words. */
#include <stdio.h>

#include "model/tick.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "tui/view/cpu_grid.h"
#include "tui/widget/bar.h"
#include "util/format.h"
#include "util/text.h"

#define NUMBERS 61 /* cells of an entry without its bar */
#define BAR_MIN 8
#define BAR_MAX 40

/* The clock is known only for the present: it is not recorded. */
static uint64_t hz_of(struct grid_cpu *cpu, const struct view_context *c)
{
	if (!cpu->asked)
		cpu->hz = c->tick == c->newest ? c->host->cpu_hz(c->host->arg, cpu->values->cpu) : VALUE_NA;
	cpu->asked = true;
	return cpu->hz;
}

/* Interrupts take unknown parts of running and idle time: a CPU is busy for the longer of its running time and its
 * interrupt time. */
static uint64_t busy(const struct cpu_values *v)
{
	return v->run_ns > cpu_irq(v) ? v->run_ns : cpu_irq(v);
}

/* --- Bars */

static int bar_width(const struct cpu_grid *g)
{
	int width = g->width - NUMBERS - (g->columns > 1 ? 2 : 0);

	return width < BAR_MIN ? BAR_MIN : width > BAR_MAX ? BAR_MAX : width;
}

static int draw_bar(const struct paint *p, int y, int x, int width, const struct cpu_values *v)
{
	uint64_t all = cpu_interval(v);
	const unsigned long long sizes[] = {
		busy(v) - cpu_irq(v), cpu_irq(v), all > busy(v) ? all - busy(v) : 0,
	};
	const char *const marks[] = { p->unicode ? "█" : "#", "!", " " };
	static const enum role roles[] = { ROLE_USER, ROLE_KERNEL, ROLE_TEXT };
	int cells[3];

	bar_cells(sizes, 3, width, cells);
	x = paint_text(p, y, x, 1, ROLE_TEXT, "[");
	for (int part = 0; part < 3; part++)
		x = paint_repeated(p, y, x, cells[part], roles[part], marks[part]);
	return paint_text(p, y, x, 1, ROLE_TEXT, "]");
}

/* The thread that runs there: "java", "idle", "-". */
static void comm_text(const struct cpu_values *v, char *buf, size_t size)
{
	char comm[80];

	if (v->tid <= 0) {
		snprintf(buf, size, v->tid ? "-" : "idle");
		return;
	}
	text_safe(comm, sizeof(comm), v->comm, sizeof(v->comm));
	text_cut(buf, size, comm, 15);
}

static void draw_entry(const struct cpu_grid *g, struct grid_cpu *cpu, bool selected, const struct view_context *c,
		       const struct paint *p, int y)
{
	const struct cpu_values *v = cpu->values;
	char comm[80];
	uint64_t hz = hz_of(cpu, c);
	int x = cpu->x;

	comm_text(v, comm, sizeof(comm));
	x = paint_format(p, y, x, selected ? ROLE_SELECTED : ROLE_TEXT, "%c%4d %5s", selected ? '>' : ' ', v->cpu,
			 SHARE_TEXT(v->run_ns, cpu_interval(v)));
	x = draw_bar(p, y, x + 1, bar_width(g), v);
	x = paint_format(p, y, x, v->queued ? ROLE_RUNQ : ROLE_TEXT, " %3u", v->queued);
	paint_format(p, y, x, ROLE_TEXT, " %5s %6s %5s %7s %s", SHARE_TEXT(cpu_irq(v), cpu_interval(v)),
		     VALUE_TEXT(UNIT_RATE, v->switches, c->tick->interval_ns),
		     VALUE_TEXT(UNIT_NONE, hz == VALUE_NA ? VALUE_NA : hz / 1000000, 0),
		     VALUE_TEXT(UNIT_NONE, v->tid > 0 ? (uint64_t)v->tid : VALUE_NA, 0), comm);
}

static void draw_bars_head(const struct cpu_grid *g, const struct paint *p, int y)
{
	int width = bar_width(g) + 2;

	for (int column = 0; column < g->columns; column++)
		paint_format(p, y, column * g->width, ROLE_TITLE, "%5s %5s %-*.*s %3s %5s %6s %5s %7s %-15s", "CPU",
			     "RUN%", width, width, "! interrupts", "RQ", "IRQ%", "CSW/s", "MHz", "TID", "COMM");
}

/* --- Cells */

static bool mostly_interrupts(const struct cpu_values *v)
{
	return cpu_irq(v) >= cpu_interval(v) / 4 && cpu_irq(v) >= busy(v) / 2;
}

static void draw_cell(const struct grid_cpu *cpu, bool selected, const struct paint *p, int y)
{
	const struct cpu_values *v = cpu->values;
	uint64_t all = cpu_interval(v);
	enum role role = v->queued ? ROLE_RUNQ : mostly_interrupts(v) ? ROLE_KERNEL : ROLE_USER;
	int eighths = all ? (8 * busy(v) + all / 2) / all : 0;
	int tenths = !all ? 0 : busy(v) < all ? 10 * busy(v) / all : 9;

	if (selected) /* a block would look like a blank there */
		paint_format(p, y, cpu->x, ROLE_SELECTED, "%d", tenths);
	else if (!all)
		paint_text(p, y, cpu->x, 1, ROLE_DIM, "?");
	else if (mostly_interrupts(v))
		paint_text(p, y, cpu->x, 1, role, "!");
	else if (!eighths)
		paint_text(p, y, cpu->x, 1, v->queued ? role : ROLE_SLEEP, p->unicode ? "·" : "_");
	else
		paint_eighths(p, y, cpu->x, role, eighths);
}

/* Legend of the cells. */
static void draw_cells_head(const struct paint *p, int y)
{
	int x = paint_text(p, y, 0, p->width, ROLE_TITLE, "A CELL PER CPU");

	x = paint_text(p, y, x + 2, p->width, ROLE_DIM, "idle");
	x = paint_text(p, y, x + 1, p->width, ROLE_SLEEP, p->unicode ? "·" : "_");
	for (int eighths = 1; eighths <= 8; eighths++)
		x = paint_eighths(p, y, x, ROLE_USER, eighths);
	x = paint_text(p, y, x + 1, p->width, ROLE_DIM, "busy");
	x = paint_text(p, y, x + 2, p->width, ROLE_KERNEL, "!");
	x = paint_text(p, y, x + 1, p->width, ROLE_DIM, "mostly interrupts");
	x = paint_eighths(p, y, x + 2, ROLE_RUNQ, 8);
	paint_text(p, y, x + 1, p->width, ROLE_DIM, "threads wait");
}

/* --- All */

/* The head stays in sight as long as any CPU does. */
static void draw_head(const struct cpu_grid *g, const struct paint *p, int y)
{
	int first = p->from - p->shift;

	if (first >= y + g->lines)
		return;
	y = first > y ? first : y;
	paint_clear(p, y, 0);
	if (g->shape == CPU_BARS)
		draw_bars_head(g, p, y);
	else
		draw_cells_head(p, y);
}

int grid_draw(struct cpu_grid *g, const struct view_context *c, const struct paint *p, int y)
{
	const struct grid_cpu *selected = grid_selected(g);
	char title[64];

	for (size_t i = 0; i < g->nr; i++) {
		struct grid_cpu *cpu = &g->cpus[i];
		int line = y + cpu->y;

		if (g->titles && (!i || grid_ends_group(g, i - 1))) {
			grid_title(g, i, title, sizeof(title));
			paint_text(p, line - 1, cpu->x, p->width, ROLE_DIM, title);
		}
		if (line + p->shift < p->from || line + p->shift >= p->to)
			continue; /* files are read only for visible CPUs */
		if (g->shape == CPU_BARS)
			draw_entry(g, cpu, cpu == selected, c, p, line);
		else
			draw_cell(cpu, cpu == selected, p, line);
	}
	draw_head(g, p, y);
	return y + g->lines;
}

/* --- One of them in words */

/* ": node 0, llc 2, core 8, sibling 145" */
static void place_text(const struct cpu_grid *g, const struct grid_cpu *cpu, char *buf, size_t size)
{
	static const char *const names[TOPOLOGY_LEVELS] = { "node", "llc", "core", "package" };
	const char *before = ":";

	*buf = '\0';
	if (g->placed && !cpu->place.online)
		text_add(buf, size, ": offline");
	for (int level = 0; level < TOPOLOGY_LEVELS; level++) {
		if (cpu->place.in[level] < 0 || (level == TOPOLOGY_PACKAGE && g->packages < 2))
			continue;
		text_add(buf, size, "%s %s %d", before, names[level], cpu->place.in[level]);
		before = ",";
	}
	for (size_t i = 0; i < g->nr; i++)
		if (&g->cpus[i] != cpu && cpu->place.in[TOPOLOGY_CORE] >= 0 &&
		    g->cpus[i].place.in[TOPOLOGY_CORE] == cpu->place.in[TOPOLOGY_CORE])
			text_add(buf, size, ", sibling %d", g->cpus[i].values->cpu);
}

void grid_about(struct cpu_grid *g, const struct view_context *c, const struct paint *p, int y)
{
	struct grid_cpu *cpu = grid_selected(g);
	char place[256], clock[16] = "-", comm[80], who[100], text[640];
	const struct cpu_values *v;
	uint64_t hz;

	if (!cpu)
		return;
	v = cpu->values;
	hz = hz_of(cpu, c);
	place_text(g, cpu, place, sizeof(place));
	if (hz != VALUE_NA)
		snprintf(clock, sizeof(clock), "%.1f GHz", hz / 1e9);
	comm_text(v, comm, sizeof(comm));
	if (v->tid > 0)
		snprintf(who, sizeof(who), "runs %s %d", comm, v->tid);
	else
		snprintf(who, sizeof(who), v->tid ? "runs -" : "idle");
	snprintf(text, sizeof(text), "CPU %d%s; RUN %s %%, IRQ %s %%, STL %s %%, runqueue %u, clock %s, %s", v->cpu,
		 place, SHARE_TEXT(v->run_ns, cpu_interval(v)), SHARE_TEXT(cpu_irq(v), cpu_interval(v)),
		 SHARE_TEXT(v->steal_ns, cpu_interval(v)), v->queued, clock, who);
	paint_wrapped(p, y, 0, text);
}
