/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/table.h"

#include <stdio.h>
#include <string.h>

#include "tui/term/paint.h"
#include "util/text.h"

/* --- Order */

static uint64_t number_of(const struct table_column *column, const void *item)
{
	return column->number ? column->number(item) : *(const uint64_t *)((const char *)item + column->at - 1);
}

/* Compares by the sort column; unknown values come last. */
static bool column_before(const void *a, const void *b, const void *arg)
{
	const struct table_state *t = arg;
	const struct table_column *column = &t->columns[t->by];
	uint64_t x, y;

	if (column->compare)
		return t->inverted ? column->compare(a, b) > 0 : column->compare(a, b) < 0;
	x = number_of(column, a);
	y = number_of(column, b);
	if (x == VALUE_NA || y == VALUE_NA)
		return x != VALUE_NA && y == VALUE_NA;
	return t->inverted ? x < y : x > y;
}

void table_begin(struct table_state *t, const struct table_kind *kind, const void *state)
{
	if (!t->kind)
		t->by = kind->sorted ? kind->by : -1;
	t->kind = kind;
	t->state = state;
	t->columns = kind->columns;
	t->nr = kind->nr;
	t->before = kind->sorted ? column_before : kind->before;
	t->before_arg = t;
	list_begin(&t->list, &kind->items);
}

int table_add(struct table_state *t, const void *item)
{
	return list_add(&t->list, item);
}

static struct list_order order_of(const struct table_state *t, const struct view_context *c)
{
	return (struct list_order){ t->before, t->before_arg, c->now_ns };
}

static int width_of(const struct table_column *column, const struct paint *p)
{
	if (p->width < column->from)
		return -1;
	return column->wide && p->width >= TABLE_WIDE ? column->wide : column->width;
}

/* The share of a widening column in the width that the others leave. */
static int part_of_rest(const struct table_state *t, const struct paint *p)
{
	int left = p->width - (t->kind->look != TABLE_BARE), nr = 0;

	for (int i = 0; i < t->nr; i++) {
		const struct table_column *column = &t->columns[i];
		int width = width_of(column, p);

		if (width >= 0 || column->flags & TABLE_GAP)
			left -= column->gap;
		if (column->flags & TABLE_WIDENS)
			nr++;
		else if (width > 0)
			left -= width;
	}
	return nr ? left / nr : 0;
}

static int widened(const struct table_column *column, int part)
{
	part = column->wide && part > column->wide ? column->wide : part;
	return part > column->width ? part : column->width;
}

/* Places the columns. */
static void place(struct table_state *t, const struct view_context *c, int left)
{
	int x = left + (t->kind->look != TABLE_BARE), part = part_of_rest(t, c->paint);

	for (int i = 0; i < t->nr; i++) {
		const struct table_column *column = &t->columns[i];
		int width = column->flags & TABLE_WIDENS ? widened(column, part) : width_of(column, c->paint);

		if (width >= 0 || column->flags & TABLE_GAP)
			x += column->gap;
		t->x[i] = x;
		t->width[i] = width;
		if (width >= 0 && column->flags & TABLE_REST)
			t->width[i] = c->paint->width > x ? c->paint->width - x : 0;
		x += width > 0 ? width : 0;
	}
}

void table_sort(struct table_state *t, const struct view_context *c, int height)
{
	struct list_order o = order_of(t, c);

	place(t, c, 0);
	list_sort(&t->list, height > 1 ? height - 1 : 1, &o);
}

const void *table_selected(const struct table_state *t)
{
	return t->passive ? NULL : list_selected(&t->list);
}

bool table_ascending(const struct table_state *t)
{
	const struct table_column *by = t->by < 0 ? NULL : &t->columns[t->by];

	return by && (by->compare || by->flags & TABLE_ASCENDING) != t->inverted;
}

void table_matches(const struct table_state *t, const struct view_context *c, char *buf, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; *c->search && i < t->list.nr; i++)
		n += t->kind->match(t->list.items[i], c->search);
	if (*c->search)
		text_add(buf, size, "  %zu match%s", n, n == 1 ? "" : "es");
}

/* --- Drawing */

static void fill(const struct paint *p, int y, int x, int end, enum role role, char mark)
{
	if (end > x)
		paint_format(p, y, x, role, "%c%*s", mark, end - x - 1, "");
}

static void draw_title(const struct table_state *t, const struct paint *p, int y, int column)
{
	const char *title = t->kind->title ? t->kind->title(t->state, column) : t->columns[column].title;
	bool sorted = column == t->by, right = !(t->columns[column].flags & TABLE_LEFT);
	int len = strlen(title), width = t->width[column];
	char text[64];

	/* The sort mark is shown if there is room. */
	snprintf(text, sizeof(text), "%.*s%s", (int)sizeof(text) - 2, title,
		 !sorted || len >= width ? "" : table_ascending(t) ? "^" : "v");
	if (t->kind->look == TABLE_CELLS)
		fill(p, y, t->x[column], t->x[column] + width, sorted ? ROLE_SORTED : ROLE_TITLE, ' ');
	len = strlen(text);
	len = right && len < width ? width - len : 0;
	paint_text(p, y, t->x[column] + len, width - len, sorted ? ROLE_SORTED : ROLE_TITLE, text);
}

static void draw_titles(const struct table_state *t, const struct paint *p, int y, int left)
{
	int last = t->nr - 1;

	paint_clear(p, y, left);
	if (t->kind->look >= TABLE_TEXT)
		fill(p, y, left, t->kind->look == TABLE_TEXT ? p->width : t->x[last] + t->columns[last].width, ROLE_TITLE, ' ');
	for (int i = 0; i < t->nr; i++)
		if (t->width[i] > 0)
			draw_title(t, p, y, i);
}

/* The text of a cell, at its shown width. */
static void cell_text(const struct table_state *t, const struct table_cell *cell, char *buf, size_t size)
{
	const struct table_column *column = &t->columns[cell->column];
	char text[1400];

	if (column->text)
		column->text(cell, text, sizeof(text));
	else
		format_value(text, sizeof(text), column->unit, number_of(column, cell->item),
			     t->kind->whole ? t->kind->whole(cell) : 0);
	if (column->flags & TABLE_ELIDED)
		text_elide(buf, size, text, cell->width);
	else
		text_cut(buf, size, text, cell->width);
}

static void draw_cell(const struct table_state *t, const struct table_cell *cell, const struct paint *p, int y)
{
	const struct table_column *column = &t->columns[cell->column];
	int x = t->x[cell->column];
	char text[1400];

	if (column->draw) {
		column->draw(cell, p, y, x);
		return;
	}
	cell_text(t, cell, text, sizeof(text));
	if (!(column->flags & TABLE_LEFT))
		x += cell->width - text_width(text);
	paint_text(p, y, x, cell->width, cell->role, text);
}

/* Column where the text of a line ends, for looks that do not fill up to the edge. */
static int text_end(const struct table_state *t, struct table_cell *cell)
{
	char text[1400];
	int last = t->nr - 1;

	if (!(t->columns[last].flags & TABLE_REST))
		return t->x[last] + t->width[last];
	cell->column = last;
	cell->width = t->width[last];
	cell_text(t, cell, text, sizeof(text));
	return t->x[last] + text_width(text);
}

static void draw_item(const struct table_state *t, const struct view_context *c, int y, int left, size_t i)
{
	bool selected = i == t->list.cursor && !t->passive;
	struct table_cell cell = { .item = t->list.items[i], .state = t->state, .context = c, .line = i - t->list.top };
	char mark = !selected || t->kind->look == TABLE_BARE ? ' ' : list_following(&t->list) ? '*' : '>';

	cell.role = selected	      ? list_following(&t->list) ? ROLE_FOLLOWED : ROLE_SELECTED
		    : t->kind->role ? t->kind->role(cell.item, c)
				    : ROLE_TEXT;
	if (t->kind->look >= TABLE_TEXT)
		fill(c->paint, y, left, text_end(t, &cell), cell.role, mark);
	else if (selected) /* the whole line, so that it is easy to find */
		fill(c->paint, y, left, c->paint->width, cell.role, mark);
	for (int column = 0; column < t->nr; column++) {
		if (t->width[column] <= 0)
			continue;
		cell.column = column;
		cell.width = t->width[column];
		draw_cell(t, &cell, c->paint, y);
	}
}

void table_draw(struct table_state *t, const struct view_context *c, int y, int left, int height)
{
	if (!t->kind) /* out of memory at its start */
		return;
	place(t, c, left);
	t->y = y;
	draw_titles(t, c->paint, y, left);
	for (int line = 1; line < height; line++) {
		size_t i = t->list.top + line - 1;

		paint_clear(c->paint, y + line, left);
		if (i < t->list.nr)
			draw_item(t, c, y + line, left, i);
	}
}

void table_view_draw(void *table, const struct view_context *c)
{
	table_draw(table, c, c->top, 0, c->height);
}

void table_empty(const struct table_state *t, const struct view_context *c, const char *text)
{
	if (!t->list.nr)
		paint_text(c->paint, t->y + 2, 1, c->paint->width, ROLE_TEXT, text);
}

/* --- Keys */

static bool can_sort(const struct table_state *t, int column)
{
	const struct table_column *c = &t->columns[column];

	return t->width[column] > 0 && (c->flags & TABLE_SORTS || c->at || c->number || c->compare);
}

/* Sorts by another column, without holding the old order any longer. */
static void sort_by(struct table_state *t, int by, bool inverted)
{
	t->by = by;
	t->inverted = inverted;
	t->list.nr_held = 0;
}

static void sort_by_next(struct table_state *t, int direction)
{
	int by = t->by;

	for (int n = 0; n < t->nr; n++) {
		by = (by + direction + t->nr) % t->nr;
		if (can_sort(t, by)) {
			sort_by(t, by, t->inverted);
			return;
		}
	}
}

bool table_act(void *table, enum action a, const struct view_context *c)
{
	struct table_state *t = table;
	struct list_order o = order_of(t, c);

	if (t->kind->sorted && (a == ACTION_SORT_LEFT || a == ACTION_SORT_RIGHT))
		sort_by_next(t, a == ACTION_SORT_LEFT ? -1 : 1);
	else if (t->kind->sorted && a == ACTION_INVERT)
		sort_by(t, t->by, !t->inverted);
	else
		return list_act(&t->list, a, &o);
	return true;
}

void table_search(void *table, int direction, const struct view_context *c)
{
	struct table_state *t = table;
	struct list_order o = order_of(t, c);

	if (t->kind->match)
		list_search(&t->list, direction, t->kind->match, c->search, &o);
}

static int column_at(const struct table_state *t, int x)
{
	for (int i = 0; i < t->nr; i++)
		if (t->width[i] > 0 && x >= t->x[i] && x < t->x[i] + t->width[i])
			return can_sort(t, i) ? i : -1;
	return -1;
}

bool table_click(void *table, const struct view_context *c, int y, int x)
{
	struct table_state *t = table;
	int by = y == t->y && t->kind->sorted ? column_at(t, x) : -1;
	struct list_order o = order_of(t, c);

	if (by >= 0)
		sort_by(t, by, by == t->by && !t->inverted);
	return y > t->y && y <= t->y + (int)t->list.height && list_click(&t->list, y - t->y - 1, &o);
}

void table_fini(struct table_state *t)
{
	list_fini(&t->list);
}
