/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts: each source with its time, rate and longest run, the time taken on each CPU, and from which threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "query/irq_history.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "tui/view/irq/irq_view.h"
#include "tui/widget/table.h"
#include "util/vec.h"

#define NOTES_MAX 24
#define ROWS_MIN 3
#define PAST_MAX 32

struct irq_view {
	struct table_state table; /* first; of rows */
	struct irq_values *rows;  /* sources that were idle in this refresh have a count of 0 */
	size_t nr, room;
	int lines; /* of the table when it was drawn last; 0: not yet */
	bool folded;
};

/* --- Columns */

static uint64_t kind_of(const void *item)
{
	return ((const struct irq_values *)item)->source->kind;
}

static uint64_t average(const void *item)
{
	const struct irq_values *v = item;

	return v->count ? v->ns / v->count : VALUE_NA;
}

static uint64_t quantile(const struct irq_values *v, double q)
{
	return hist_quantile(&v->hist, irq_hist(v->source->kind), q, v->max_ns);
}

static uint64_t median(const void *item)
{
	return quantile(item, 0.5);
}

static uint64_t p99(const void *item)
{
	return quantile(item, 0.99);
}

static uint64_t longest(const void *item)
{
	const struct irq_values *v = item;

	return v->count ? v->max_ns : VALUE_NA;
}

static uint64_t nr_cpus(const void *item)
{
	return ((const struct irq_values *)item)->nr_cpus;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(((const struct irq_values *)a)->source->name, ((const struct irq_values *)b)->source->name);
}

static int by_handler(const void *a, const void *b)
{
	char handlers[2][80];

	return strcmp(irq_handler_text(((const struct irq_values *)a)->source, handlers[0], sizeof(handlers[0])),
		      irq_handler_text(((const struct irq_values *)b)->source, handlers[1], sizeof(handlers[1])));
}

static void name_text(const struct table_cell *cell, char *buf, size_t size)
{
	snprintf(buf, size, "%s", ((const struct irq_values *)cell->item)->source->name);
}

static void kind_text(const struct table_cell *cell, char *buf, size_t size)
{
	snprintf(buf, size, "%s", irq_kind_names[kind_of(cell->item)]);
}

static void handler_text(const struct table_cell *cell, char *buf, size_t size)
{
	irq_handler_text(((const struct irq_values *)cell->item)->source, buf, size);
}

/* "7", "0,3", "0-3", "all", "5 CPUs" */
static void cpus_text(const struct table_cell *cell, char *buf, size_t size)
{
	const struct tick *t = cell->context->tick;
	const struct irq_values *v = cell->item;
	int first = -1, last = -1;
	size_t used = 0;

	snprintf(buf, size, v->count ? "all" : "-");
	if (!v->count || v->nr_cpus == (int)t->nr_cpus)
		return;
	for (size_t i = 0; i <= t->nr_irq_cpus && used < size; i++) {
		const struct irq_cpu *on = i < t->nr_irq_cpus ? &t->irq_cpus[i] : NULL;

		if (on && (on->source != v->source->index || !on->count))
			continue;
		if (on && first >= 0 && on->cpu == last + 1) {
			last++;
			continue;
		}
		if (first >= 0)
			used += snprintf(buf + used, size - used, last > first ? "%s%d-%d" : "%s%d",
					 used ? "," : "", first, last);
		first = last = on ? on->cpu : -1;
	}
	if (used > (size_t)cell->width)
		snprintf(buf, size, "%d CPUs", v->nr_cpus);
}

/* The time of a source in each of the last refreshes, relative to the largest of them. */
static void draw_past(const struct table_cell *cell, const struct paint *p, int y, int x)
{
	uint64_t ns[PAST_MAX];
	uint64_t most = irq_history_time(cell->context->tick, ((const struct irq_values *)cell->item)->source->index,
					 cell->width, ns);

	for (int i = 0; i < cell->width; i++)
		if (ns[i] != VALUE_NA && most)
			paint_eighths(p, y, x + i, ROLE_USER, ns[i] ? 1 + 7 * ns[i] / most : 0);
}

#define AT(member) TABLE_AT(struct irq_values, member)
static const struct table_column columns[] = {
	{ "IRQ", 0, 8, TABLE_LEFT, .wide = 10, .text = name_text, .compare = by_name },
	{ "KIND", 1, 6, TABLE_LEFT, .from = 60, .text = kind_text, .number = kind_of },
	{ "TIME%", 1, 6, .at = AT(ns), .unit = UNIT_SHARE },
	{ "/s", 1, 5, .wide = 7, .at = AT(count), .unit = UNIT_RATE },
	{ "AVG", 1, 5, .wide = 6, .number = average, .unit = UNIT_NS },
	{ "~P50", 1, 6, .from = TABLE_WIDE, .number = median, .unit = UNIT_NS },
	{ "~P99", 1, 5, .wide = 6, .number = p99, .unit = UNIT_NS },
	{ "MAX", 1, 5, .wide = 6, .number = longest, .unit = UNIT_NS },
	{ "PAST", 1, 8, TABLE_LEFT, .from = 70, .wide = PAST_MAX, .draw = draw_past },
	{ "CPUS", 1, 6, TABLE_LEFT, .from = 60, .wide = 16, .text = cpus_text, .number = nr_cpus },
	{ "HANDLER", 1, 64, TABLE_LEFT, .from = 60, .text = handler_text, .compare = by_handler },
};

static uint64_t key(const void *item)
{
	return ((const struct irq_values *)item)->source->index + 1;
}

static int tie(const void *a, const void *b)
{
	return key(a) < key(b) ? -1 : 1;
}

static enum role role(const void *item, const struct view_context *c)
{
	(void)c;
	return ((const struct irq_values *)item)->count ? ROLE_TEXT : ROLE_DIM;
}

static uint64_t interval(const struct table_cell *cell)
{
	return cell->context->tick->interval_ns;
}

static const struct table_kind sources = {
	.items = { key, tie }, TABLE_COLUMNS(columns), .sorted = true, .by = 2 /* TIME% */, .role = role, .whole = interval,
	.look = TABLE_CELLS,
};

/* --- Rows */

static int add_row(struct irq_view *s, const struct irq_values *v, bool seen[IRQ_SOURCES])
{
	if (seen[v->source->index])
		return 0;
	seen[v->source->index] = true;
	return VEC_PUSH(s->rows, s->nr, s->room, *v);
}

/* The sources of this refresh, and those that were active in others, so that rare ones do not come and go. */
static int find_rows(struct irq_view *s, const struct tick *t)
{
	bool seen[IRQ_SOURCES] = { false };
	int err = 0;

	s->nr = 0;
	for (size_t i = 0; i < t->nr_irqs && !err; i++)
		err = add_row(s, &t->irqs[i], seen);
	for (uint64_t seq = irq_history_first(t); seq < t->seq; seq++) {
		const struct tick *then = tick_head(t, seq);

		for (size_t i = 0; then && i < then->nr_irqs && !err; i++) {
			const struct irq_values none = { .source = then->irqs[i].source };

			err = add_row(s, &none, seen);
		}
	}
	return err;
}

static const struct irq_source *selected_source(const struct irq_view *s)
{
	const struct irq_values *v = table_selected(&s->table);

	return v ? v->source : NULL;
}

static int irq_update(void *state, const struct view_context *c)
{
	struct irq_view *s = state;
	int err = find_rows(s, c->tick);

	table_begin(&s->table, &sources, s);
	for (size_t i = 0; i < s->nr && !err; i++)
		err = table_add(&s->table, &s->rows[i]);
	table_sort(&s->table, c, s->lines ? s->lines : c->height);
	return err;
}

/* --- Drawing */

/* Lines for the CPUs: few on a low screen, which needs them for sources. */
static int grid_lines(const struct irq_view *s, const struct view_context *c)
{
	int all = irq_grid_lines(c->paint, c->tick), most = c->height >= 30 ? c->height / 4 : 4;

	return s->folded ? 0 : all < most ? all : most;
}

static void irq_draw(void *state, const struct view_context *c)
{
	struct irq_view *s = state;
	int y = c->top, bottom = c->top + c->height, rows = s->nr > ROWS_MIN ? s->nr : ROWS_MIN, nr = 0, room;
	struct irq_note notes[NOTES_MAX];

	paint_clear_lines(c->paint, y, bottom);
	if (c->height >= 12) {
		y = irq_grid_draw(c->paint, y, c->tick, grid_lines(s, c));
		room = c->height >= 30 ? bottom - y - 2 - rows : 4;
		room = room < 4 ? 4 : room > NOTES_MAX ? NOTES_MAX : room;
		nr = irq_notes(c, room > 4 ? selected_source(s) : NULL, notes, room);
	}
	for (int i = 0; i < nr; i++)
		paint_text(c->paint, bottom - nr + i, 0, c->paint->width, notes[i].role, notes[i].text);
	s->lines = bottom - nr - y;
	table_sort(&s->table, c, s->lines);
	table_draw(&s->table, c, y, 0, s->lines);
}

/* --- Keys */

static bool irq_act(void *state, enum action a, const struct view_context *c)
{
	struct irq_view *s = state;

	if (a != ACTION_IRQ_CPUS)
		return table_act(&s->table, a, c);
	s->folded = !s->folded;
	return true;
}

static void irq_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	const struct irq_view *s = state;

	snprintf(buf, size, "%zu sources in %s, worst in %s  sort %s %s%s", s->nr,
		 NS_TEXT(c->tick->interval_ns), NS_TEXT(c->tick->boottime_ns - irq_history_since(c->tick)),
		 columns[s->table.by].title, table_ascending(&s->table) ? "asc" : "desc",
		 strcmp(c->host->scope, "all") ? "  of the whole host" : "");
}

/* Opens the selected source; f: the flamegraph of all of them. */
static bool irq_open(void *state, enum action a, const struct view_context *c, struct opening *o)
{
	const struct irq_source *source = selected_source(state);

	(void)c;
	return a == ACTION_FLAME ? irq_open_flame(NULL, o)
				 : a == ACTION_ENTER && source && irq_open_source(source, o);
}

static void irq_fini(void *state)
{
	free(((struct irq_view *)state)->rows);
	table_fini(state);
}

const struct view view_irq = {
	.legend = "~ within a factor of 2",
	.state_size = sizeof(struct irq_view),
	.update = irq_update,
	.draw = irq_draw,
	.act = irq_act,
	.click = table_click,
	.status = irq_status,
	.open = irq_open,
	.fini = irq_fini,
};
