/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs, their places in the grid, and the selection. cpu_grid_draw.c draws them. */
#include "tui/view/cpu_grid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "util/vec.h"

#define BAR_ENTRY 72 /* minimum cells of a bar with its numbers */
#define BLOCK_GAP 2  /* between groups of cells */

/* --- Groups */

static bool same(const struct grid_cpu *a, const struct grid_cpu *b, enum topology_level last)
{
	if (a->place.online != b->place.online)
		return false;
	for (int level = 0; level <= (int)last; level++)
		if (a->place.in[level] != b->place.in[level])
			return false;
	return true;
}

/* Index after the last CPU of this group. */
static size_t group_end(const struct cpu_grid *g, size_t at)
{
	while (!grid_ends_group(g, at))
		at++;
	return at + 1;
}

/* Index after the last SMT sibling. */
static size_t core_end(const struct cpu_grid *g, size_t at)
{
	size_t end = at + 1;

	if (g->cpus[at].place.in[TOPOLOGY_CORE] >= 0)
		while (end < g->nr && same(&g->cpus[at], &g->cpus[end], TOPOLOGY_CORE))
			end++;
	return end;
}

bool grid_ends_group(const struct cpu_grid *g, size_t at)
{
	return at + 1 == g->nr || !same(&g->cpus[at], &g->cpus[at + 1], TOPOLOGY_LLC);
}

void grid_title(const struct cpu_grid *g, size_t at, char *buf, size_t size)
{
	const struct topology_cpu *place = &g->cpus[at].place;
	int node = place->in[TOPOLOGY_NODE], llc = place->in[TOPOLOGY_LLC];

	if (g->placed && !place->online)
		snprintf(buf, size, "offline");
	else if (node < 0 && llc < 0)
		snprintf(buf, size, "CPUs");
	else if (node < 0)
		snprintf(buf, size, "llc %d", llc);
	else if (llc < 0)
		snprintf(buf, size, "node %d", node);
	else
		snprintf(buf, size, "node %d llc %d", node, llc);
}

/* --- Places */

/* One bar per CPU. Siblings are side by side if there is room for two. No column is without CPUs. */
static void place_bars(struct cpu_grid *g, int width)
{
	int column = 0, threads = 1;
	size_t most = 1;

	g->titles = g->nr && group_end(g, 0) < g->nr;
	for (size_t i = 0; i < g->nr; i = group_end(g, i))
		if (group_end(g, i) - i > most)
			most = group_end(g, i) - i;
	for (size_t i = 0; i < g->nr; i = core_end(g, i))
		if (core_end(g, i) - i > (size_t)threads)
			threads = core_end(g, i) - i;
	g->columns = width / BAR_ENTRY ? width / BAR_ENTRY : 1;
	if ((size_t)g->columns > most)
		g->columns = most;
	if (g->columns > threads)
		g->columns -= g->columns % threads;
	g->width = width / g->columns;
	g->lines = 1;
	for (size_t i = 0; i < g->nr; i++) {
		if (g->titles && (!i || grid_ends_group(g, i - 1)))
			g->lines++;
		g->cpus[i].x = column * g->width;
		g->cpus[i].y = g->lines;
		column = (column + 1) % g->columns;
		if (!column || grid_ends_group(g, i)) {
			column = 0;
			g->lines++;
		}
	}
}

/* A group is a block of cells below its title, and a core is not split. Returns the number of lines. */
static int place_block(struct cpu_grid *g, size_t first, int x, int y, int width, int gap)
{
	size_t end = group_end(g, first), next;
	int at = 0, line = 1;

	for (size_t i = first; i < end; at += gap) {
		next = core_end(g, i);
		if (at && at + (int)(next - i) > width) {
			at = 0;
			line++;
		}
		for (; i < next; i++) {
			g->cpus[i].x = x + at++;
			g->cpus[i].y = y + line;
		}
	}
	return line + 1;
}

/* Cells of the widest block, if each is on one line. */
static int widest_block(const struct cpu_grid *g, int gap)
{
	int widest = 0, width = -gap, title;
	char text[64];

	for (size_t i = 0; i < g->nr; i = core_end(g, i)) {
		width += core_end(g, i) - i + gap;
		if (!grid_ends_group(g, core_end(g, i) - 1))
			continue;
		grid_title(g, i, text, sizeof(text));
		title = strlen(text);
		widest = title > widest ? title : widest;
		widest = width > widest ? width : widest;
		width = -gap;
	}
	return widest;
}

/* @gap: between cores */
static void place_cells(struct cpu_grid *g, int width, int gap)
{
	int block = widest_block(g, gap), column = 0, lines, most = 0;

	g->titles = true;
	block = block < width ? block : width;
	g->columns = (width + BLOCK_GAP) / (block + BLOCK_GAP);
	g->width = 1;
	g->lines = 1;
	for (size_t i = 0; i < g->nr; i = group_end(g, i)) {
		lines = place_block(g, i, column * (block + BLOCK_GAP), g->lines, block, gap);
		most = lines > most ? lines : most;
		column = (column + 1) % g->columns;
		if (!column || group_end(g, i) == g->nr) {
			g->lines += most;
			most = 0;
		}
	}
}

/* In the requested shape, or else the one that fits. */
static void place_all(struct cpu_grid *g, int width, int height)
{
	g->shape = CPU_BARS;
	if (g->wanted != CPU_CELLS)
		place_bars(g, width);
	if (g->wanted == CPU_BARS || (g->wanted == CPU_SHAPE_FITS && g->lines <= height))
		return;
	g->shape = CPU_CELLS;
	place_cells(g, width, 1);
	if (g->lines > height)
		place_cells(g, width, 0);
}

/* --- The CPUs of a tick */

static int by_place(const void *a, const void *b)
{
	const struct grid_cpu *x = a, *y = b;
	int order = cmp_int(y->place.online, x->place.online);

	for (int level = 0; !order && level <= TOPOLOGY_CORE; level++)
		order = cmp_int(x->place.in[level], y->place.in[level]);
	return order ?: cmp_int(x->values->cpu, y->values->cpu);
}

static int add_cpus(struct cpu_grid *g, const struct tick *t, const struct topology *topology)
{
	static const struct topology_cpu unknown = { false, { -1, -1, -1, -1 } };

	g->nr = 0;
	g->packages = 0;
	g->placed = topology->nr;
	for (size_t i = 0; i < t->nr_cpus; i++) {
		const struct cpu_values *v = &t->cpus[i];
		struct grid_cpu cpu = { .values = v, .place = unknown };

		if (v->cpu < topology->nr)
			cpu.place = topology->cpus[v->cpu];
		if (cpu.place.in[TOPOLOGY_PACKAGE] >= g->packages)
			g->packages = cpu.place.in[TOPOLOGY_PACKAGE] + 1;
		if (VEC_PUSH(g->cpus, g->nr, g->room, cpu))
			return -ENOMEM;
	}
	VEC_SORT(g->cpus, g->nr, by_place);
	return 0;
}

int grid_update(struct cpu_grid *g, const struct view_context *c, int height)
{
	int err = 0;

	if (g->of != c->tick || g->seq != c->tick->seq)
		err = add_cpus(g, c->tick, c->host->topology(c->host->arg));
	else if (g->of_wanted == g->wanted && g->of_width == c->paint->width && g->of_height == height)
		return 0;
	g->of = c->tick;
	g->seq = c->tick->seq;
	g->of_wanted = g->wanted;
	g->of_width = c->paint->width;
	g->of_height = height;
	place_all(g, c->paint->width, height);
	return err;
}

void grid_fini(struct cpu_grid *g)
{
	free(g->cpus);
}

/* --- Selection */

struct grid_cpu *grid_selected(const struct cpu_grid *g)
{
	for (size_t i = 0; i < g->nr; i++)
		if (g->cpus[i].values->cpu == g->selected)
			return &g->cpus[i];
	return g->nr ? g->cpus : NULL;
}

/* The CPU on the next line (@by 1) or the previous one (-1) that is nearest to the selected one. */
static const struct grid_cpu *vertical(const struct cpu_grid *g, const struct grid_cpu *from, int by)
{
	const struct grid_cpu *best = NULL;

	for (size_t i = 0; i < g->nr; i++) {
		const struct grid_cpu *cpu = &g->cpus[i];
		int lines = (cpu->y - from->y) * by, best_lines = best ? (best->y - from->y) * by : lines;

		if (lines <= 0 || (best && lines > best_lines))
			continue;
		if (!best || lines < best_lines || abs(cpu->x - from->x) < abs(best->x - from->x))
			best = cpu;
	}
	return best;
}

bool grid_act(struct cpu_grid *g, enum action a)
{
	const struct grid_cpu *from = grid_selected(g), *to = NULL;

	if (a == ACTION_CPU_CELLS) {
		g->wanted = g->shape == CPU_CELLS ? CPU_BARS : CPU_CELLS;
		return true;
	}
	if (!from)
		return false;
	if (a == ACTION_UP || a == ACTION_DOWN)
		to = vertical(g, from, a == ACTION_DOWN ? 1 : -1);
	else if (a == ACTION_CPU_LEFT && from > g->cpus)
		to = from - 1;
	else if (a == ACTION_CPU_RIGHT && from + 1 < g->cpus + g->nr)
		to = from + 1;
	else if (a == ACTION_FIRST)
		to = g->cpus;
	if (to)
		g->selected = to->values->cpu;
	return to;
}

void grid_click(struct cpu_grid *g, int y, int x)
{
	for (size_t i = 0; i < g->nr; i++)
		if (g->cpus[i].y == y && x >= g->cpus[i].x && x < g->cpus[i].x + g->width)
			g->selected = g->cpus[i].values->cpu;
}
