/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What interrupted: each source with its time, rate and longest run, what they took of each CPU, and from whom. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "model/wait.h"
#include "query/irq_history.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "tui/view/irq/irq_grid.h"
#include "tui/view/irq/irq_notes.h"
#include "tui/view/irq/irq_view.h"
#include "tui/widget/pager.h"
#include "util/format.h"
#include "util/text.h"
#include "util/vec.h"

#define NOTES_MAX 24
#define ROWS_MIN 3
#define PAST_MAX 32

struct irq_view {
	struct irq_values *rows; /* in order; those that did nothing now have a count of 0 */
	size_t nr, room;
	struct pager cursor;     /* its line is the selected row */
	int top;                 /* first row on the screen */
	bool sticks;             /* the selection belongs to this: */
	int selected;            /* index of a source */
	int by;                  /* column, counted from IRQ_TIME */
	bool inverted, folded;
	int table_y, table_lines; /* where the rows are, for clicks */
};

/* --- Columns */

enum column { IRQ_NAME, IRQ_KIND, IRQ_TIME, IRQ_RATE, IRQ_AVG, IRQ_P50, IRQ_P99, IRQ_MAX, IRQ_PAST, IRQ_CPUS,
	      IRQ_DEVICE, IRQ_COLUMNS };

/* Shown on screens of @from columns and more; @wide: cells on those of WIDE and more. Texts stand at the left. */
#define WIDE 140
static const struct {
	const char *title;
	int width, wide, from;
	bool text;
} columns[IRQ_COLUMNS] = {
	[IRQ_NAME] = { "IRQ", 8, 10, 0, true },
	[IRQ_KIND] = { "KIND", 6, 6, 60, true },
	[IRQ_TIME] = { "TIME%", 6, 6, 0, false },
	[IRQ_RATE] = { "/s", 5, 7, 0, false },
	[IRQ_AVG] = { "AVG", 5, 6, 0, false },
	[IRQ_P50] = { "~P50", 5, 6, WIDE, false },
	[IRQ_P99] = { "~P99", 5, 6, 0, false },
	[IRQ_MAX] = { "MAX", 5, 6, 0, false },
	[IRQ_PAST] = { "PAST", 8, PAST_MAX, 70, true },
	[IRQ_CPUS] = { "CPUS", 6, 16, 60, true },
	[IRQ_DEVICE] = { "HANDLER", 64, 64, 60, true },
};

static int width_of(const struct paint *p, enum column id)
{
	return p->width < columns[id].from ? 0 : p->width >= WIDE ? columns[id].wide : columns[id].width;
}

static enum column sorted_by(const struct irq_view *s)
{
	return (IRQ_TIME + s->by) % IRQ_COLUMNS;
}

/* What the column is sorted by. */
static uint64_t value_of(const struct irq_values *v, enum column id)
{
	switch (id) {
	case IRQ_KIND:
		return v->source->kind;
	case IRQ_TIME:
		return v->ns;
	case IRQ_RATE:
		return v->count;
	case IRQ_AVG:
		return v->count ? v->ns / v->count : 0;
	case IRQ_P50:
	case IRQ_P99:
		return !v->count ? 0
				 : hist_quantile(&v->hist, irq_hist(v->source->kind), id == IRQ_P50 ? 0.5 : 0.99, v->max_ns);
	case IRQ_MAX:
		return v->max_ns;
	case IRQ_CPUS:
		return v->nr_cpus;
	default:
		return 0;
	}
}

/* Below 0: @a comes first, with the largest number or the first of texts. */
static int compare(const struct irq_values *a, const struct irq_values *b, enum column by)
{
	uint64_t x = value_of(a, by), y = value_of(b, by);
	char handlers[2][80];

	if (by == IRQ_NAME)
		return strverscmp(a->source->name, b->source->name);
	if (by == IRQ_DEVICE)
		return strcmp(irq_handler_text(a->source, handlers[0], sizeof(handlers[0])),
			      irq_handler_text(b->source, handlers[1], sizeof(handlers[1])));
	return x == y ? 0 : x > y ? -1 : 1;
}

static int in_order(const void *a, const void *b, void *arg)
{
	const struct irq_view *s = arg;
	const struct irq_values *x = a, *y = b;
	int order = compare(x, y, sorted_by(s));

	if (order)
		return s->inverted ? -order : order;
	return (int)x->source->index - (int)y->source->index;
}

/* "7", "0,3", "0-3", "all", "5 CPUs" */
static void cpus_text(const struct tick *t, const struct irq_values *v, int width, char *buf, size_t size)
{
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
	if (used > (size_t)width)
		snprintf(buf, size, "%d CPUs", v->nr_cpus);
}

static void cell_text(const struct tick *t, const struct irq_values *v, enum column id, int width, char *buf,
		      size_t size)
{
	uint64_t value = value_of(v, id);

	switch (id) {
	case IRQ_NAME:
		snprintf(buf, size, "%s", v->source->name);
		break;
	case IRQ_KIND:
		snprintf(buf, size, "%s", irq_kind_names[v->source->kind]);
		break;
	case IRQ_TIME:
		format_value(buf, size, UNIT_SHARE, value, t->interval_ns);
		break;
	case IRQ_RATE:
		format_value(buf, size, UNIT_RATE, value, t->interval_ns);
		break;
	case IRQ_CPUS:
		cpus_text(t, v, width, buf, size);
		break;
	case IRQ_DEVICE:
		irq_handler_text(v->source, buf, size);
		break;
	default:
		format_value(buf, size, UNIT_NS, v->count ? value : VALUE_NA, 0);
	}
}

/* --- Rows */

static int add_row(struct irq_view *s, const struct irq_values *v, bool seen[IRQ_SOURCES])
{
	if (seen[v->source->index])
		return 0;
	seen[v->source->index] = true;
	return VEC_PUSH(s->rows, s->nr, s->room, *v);
}

/* Those of this refresh, and those that did something in others: so that rare ones do not come and go. */
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
	return (size_t)s->cursor.at < s->nr ? s->rows[s->cursor.at].source : NULL;
}

static int irq_update(void *state, const struct view_context *c)
{
	struct irq_view *s = state;
	int err = find_rows(s, c->tick);

	qsort_r(s->rows, s->nr, sizeof(*s->rows), in_order, s);
	for (size_t i = 0; s->sticks && i < s->nr; i++)
		if (s->rows[i].source->index == s->selected)
			s->cursor.at = i;
	if (s->cursor.at >= (int)s->nr)
		s->cursor.at = s->nr ? s->nr - 1 : 0;
	return err;
}

/* --- Drawing */

/* All of them are of the refresh that is shown, but for the past. */
static void draw_titles(const struct irq_view *s, const struct view_context *c, int y)
{
	const struct paint *p = c->paint;
	char of[16];
	int x = 1;

	for (enum column id = 0; id < IRQ_COLUMNS; id++) {
		int width = width_of(p, id);
		bool sorted = id == sorted_by(s);
		char text[16];

		if (!width)
			continue;
		snprintf(text, sizeof(text), "%s%s", columns[id].title,
			 !sorted || (int)strlen(columns[id].title) == width    ? ""
			 : s->inverted == (id == IRQ_NAME || id == IRQ_DEVICE) ? "v"
									       : "^");
		paint_format(p, y, x, sorted ? ROLE_SORTED : ROLE_TITLE, "%*s", columns[id].text ? -width : width,
			     text);
		x += width + 1;
	}
	snprintf(of, sizeof(of), " of %.3gs", c->tick->interval_ns / 1e9);
	if (width_of(p, IRQ_DEVICE))
		paint_text(p, y, p->width - (int)strlen(of), p->width, ROLE_TITLE, of);
}

/* Its time in the last refreshes, by the most of them. */
static void draw_past(const struct paint *p, int y, int x, int width, const struct tick *t, int source)
{
	uint64_t ns[PAST_MAX], most = irq_history_time(t, source, width, ns);

	for (int i = 0; i < width; i++)
		if (ns[i] != VALUE_NA && most)
			paint_eighths(p, y, x + i, ROLE_USER, ns[i] ? 1 + 7 * ns[i] / most : 0);
}

static void draw_row(const struct irq_view *s, const struct view_context *c, int y, int row)
{
	const struct irq_values *v = &s->rows[row];
	enum role role = row == s->cursor.at ? ROLE_SELECTED : v->count ? ROLE_TEXT : ROLE_DIM;
	int x = 1;

	if (row == s->cursor.at)
		paint_format(c->paint, y, 0, role, ">%*s", c->paint->width - 1, "");
	for (enum column id = 0; id < IRQ_COLUMNS; id++) {
		int width = width_of(c->paint, id);
		char text[256], cut[128];

		if (!width)
			continue;
		if (id == IRQ_PAST) {
			draw_past(c->paint, y, x, width, c->tick, v->source->index);
		} else {
			cell_text(c->tick, v, id, width, text, sizeof(text));
			text_cut(cut, sizeof(cut), text, width);
			paint_text(c->paint, y, columns[id].text ? x : x + width - text_width(cut), width, role, cut);
		}
		x += width + 1;
	}
}

static void draw_table(struct irq_view *s, const struct view_context *c, int y, int bottom)
{
	int lines = bottom - y - 1;

	s->table_y = y + 1;
	s->table_lines = lines;
	s->cursor.height = lines;
	if (s->cursor.at < s->top)
		s->top = s->cursor.at;
	if (s->cursor.at >= s->top + lines)
		s->top = s->cursor.at - lines + 1;
	if (s->top + lines > (int)s->nr)
		s->top = (int)s->nr > lines ? (int)s->nr - lines : 0;
	draw_titles(s, c, y++);
	for (int row = s->top; row < (int)s->nr && y < bottom; row++)
		draw_row(s, c, y++, row);
}

/* Of the CPUs: a low screen has more use for sources. */
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

	for (int line = y; line < bottom; line++)
		paint_clear(c->paint, line, 0);
	if (c->height >= 12) {
		y = irq_grid_draw(c->paint, y, c->tick, grid_lines(s, c));
		room = c->height >= 30 ? bottom - y - 2 - rows : 4;
		room = room < 4 ? 4 : room > NOTES_MAX ? NOTES_MAX : room;
		nr = irq_notes(c, room > 4 ? selected_source(s) : NULL, notes, room);
	}
	for (int i = 0; i < nr; i++)
		paint_text(c->paint, bottom - nr + i, 0, c->paint->width, notes[i].role, notes[i].text);
	draw_table(s, c, y, bottom - nr);
}

/* --- Keys */

static void sort_by_next(struct irq_view *s, const struct paint *p, int direction)
{
	do
		s->by = (s->by + direction + IRQ_COLUMNS) % IRQ_COLUMNS;
	while (sorted_by(s) == IRQ_PAST || !width_of(p, sorted_by(s)));
}

static void select_row(struct irq_view *s, int row)
{
	s->cursor.at = row;
	s->sticks = row; /* the first row is whatever comes first */
	if (selected_source(s))
		s->selected = selected_source(s)->index;
}

static bool irq_act(void *state, enum action a, const struct view_context *c)
{
	struct irq_view *s = state;

	switch (a) {
	case ACTION_SORT_LEFT:
	case ACTION_SORT_RIGHT:
		sort_by_next(s, c->paint, a == ACTION_SORT_LEFT ? -1 : 1);
		return true;
	case ACTION_INVERT:
		s->inverted = !s->inverted;
		return true;
	case ACTION_IRQ_CPUS:
		s->folded = !s->folded;
		return true;
	default:
		s->cursor.lines = s->nr ? s->nr - 1 + s->cursor.height : 0;
		if (!pager_act(&s->cursor, a))
			return false;
		select_row(s, s->cursor.at);
		return true;
	}
}

static bool irq_click(void *state, const struct view_context *c, int y, int x)
{
	struct irq_view *s = state;
	int row = s->top + y - s->table_y, before = s->cursor.at;

	(void)c;
	(void)x;
	if (y < s->table_y || y >= s->table_y + s->table_lines || row >= (int)s->nr)
		return false;
	select_row(s, row);
	return row == before;
}

static void irq_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	const struct irq_view *s = state;
	enum column by = sorted_by(s);
	bool text = by == IRQ_NAME || by == IRQ_DEVICE;
	char shown[16], past[16];

	format_value(shown, sizeof(shown), UNIT_NS, c->tick->interval_ns, 0);
	format_value(past, sizeof(past), UNIT_NS, c->tick->boottime_ns - irq_history_since(c->tick), 0);
	snprintf(buf, size, "%zu sources in %s, worst in %s  sort %s %s%s", s->nr, shown, past, columns[by].title, text != s->inverted ? "asc" : "desc",
		 strcmp(c->host->scope, "all") ? "  of the whole host: the scope does not apply" : "");
}

/* The source that is selected; f: what all of them were at. */
static bool irq_open(void *state, enum action a, const struct view_context *c, struct opening *o)
{
	const struct irq_source *source = selected_source(state);

	(void)c;
	return a == ACTION_FLAME ? irq_open_flame(NULL, o) : source && irq_open_source(source, o);
}

static void irq_fini(void *state)
{
	free(((struct irq_view *)state)->rows);
}

const struct view view_irq = {
	.name = "IRQ",
	.legend = "~ within a factor of 2",
	.places = IN_IRQ,
	.state_size = sizeof(struct irq_view),
	.update = irq_update,
	.draw = irq_draw,
	.act = irq_act,
	.click = irq_click,
	.status = irq_status,
	.open = irq_open,
	.fini = irq_fini,
};
