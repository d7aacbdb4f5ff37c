/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads in D state, now or in the remembered refreshes: for how long, how often, in which function. */
#include <stdio.h>

#include "query/blocked.h"
#include "query/stack_walk.h"
#include "tui/screen/host.h"
#include "tui/term/paint.h"
#include "tui/widget/function_text.h"
#include "tui/widget/row_table.h"
#include "util/text.h"

struct blocked_view {
	struct table_state table; /* first; of waiters */
	struct blocked blocked;
};

static void now_text(const struct table_cell *cell, char *buf, size_t size)
{
	waiter_now(cell->item, buf, size);
}

static void longest_text(const struct table_cell *cell, char *buf, size_t size)
{
	waiter_longest(cell->item, buf, size);
}

static void where_text(const struct table_cell *cell, char *buf, size_t size)
{
	waiter_where(cell->item, &cell->context->host->source, buf, size);
}

/* Narrower screens show fewer numbers, so that names and wait functions have room. */
#define NARROW 80

static const struct table_column columns[] = {
	{ "TID", 0, 7, .text = thread_tid },
	{ "NOW", 1, 8, .text = now_text },
	{ "TOTAL", 1, 7, .at = TABLE_AT(struct waiter, total_ns), .unit = UNIT_NS },
	{ "LONGEST", 1, 7, .from = NARROW, .text = longest_text },
	{ "COUNT", 1, 6, .from = NARROW, .at = TABLE_AT(struct waiter, count), .unit = UNIT_COUNT },
	{ "CGROUP", 2, 16, TABLE_LEFT | TABLE_ELIDED | TABLE_GAP, .from = 100, .wide = 40, .text = thread_cgroup },
	{ "COMM", 1, 15, TABLE_LEFT, .text = thread_comm },
	{ "WHERE", 2, 0, TABLE_LEFT | TABLE_REST, .text = where_text },
};

static enum role role(const void *item, const struct view_context *c)
{
	(void)c;
	return ((const struct waiter *)item)->now ? ROLE_D : ROLE_TEXT;
}

static const struct table_kind waiters = {
	.items = { row_key, row_tie }, TABLE_COLUMNS(columns), .before = blocked_before, .match = thread_match,
	.role = role, .look = TABLE_TEXT,
};

/* Few on a low screen, which needs them for threads. */
static int about_lines(const struct view_context *c)
{
	return c->height >= 30 ? 16 : c->height >= 14 ? 6 : 0;
}

static int blocked_update(void *state, const struct view_context *c)
{
	struct blocked_view *s = state;
	int err = blocked_find(&s->blocked, c->tick, c->nr_shown);

	table_begin(&s->table, &waiters, s);
	for (size_t i = 0; !err && i < s->blocked.nr; i++)
		err = table_add(&s->table, s->blocked.at[i]);
	table_sort(&s->table, c, c->height - about_lines(c));
	return err;
}

/* Draws on lines [y, bottom) a title, the functions of both stacks, as "(kernel) [user] <JIT> {mark where frames are missing}",
 * and the thread's wakers. */
static void draw_stack(const struct view_context *c, int y, int bottom, const struct waiter *w)
{
	const char *title = w->now ? "where it is, innermost first: (kernel) [user] <JIT>" : "its longest block";
	struct stack_walk walk;
	char text[512];
	int x = 0;

	paint_format(c->paint, y++, 0, ROLE_TITLE, "%-*s", c->paint->width, title);
	wakers_text(&w->wakers, c->tick, &c->host->source, text, sizeof(text));
	paint_format(c->paint, --bottom, 0, ROLE_DIM, "woken by  %s", text);
	stack_walk(&walk, &c->host->source, &w->at, WALK_INNERMOST | WALK_MARKS);
	while (y < bottom && stack_walk_next(&walk)) {
		const struct symbol *symbol = walk.mark ? NULL : stack_walk_symbol(&walk);
		const char *marks = function_marks(symbol);
		char name[200];

		function_text(name, sizeof(name), stack_walk_name(&walk), c->settings);
		snprintf(text, sizeof(text), "%c%s%c", marks[0], name, marks[1]);
		if (x && x + text_width(text) + 1 > c->paint->width) {
			x = 0;
			y++;
		}
		if (y < bottom)
			x = paint_text(c->paint, y, x, c->paint->width - x, function_role(symbol), text) + 1;
	}
}

/* Below the table: the stack of the selected thread, and its wakers. */
static void blocked_draw(void *state, const struct view_context *c)
{
	struct blocked_view *s = state;
	int bottom = c->top + c->height, y = bottom - about_lines(c);
	const struct waiter *w = y < bottom ? table_selected(&s->table) : NULL;

	paint_clear_lines(c->paint, y, bottom);
	table_draw(&s->table, c, c->top, 0, y - c->top);
	table_empty(&s->table, c, "no thread was in D state in these refreshes");
	if (w)
		draw_stack(c, y, bottom, w);
}

static void blocked_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	const struct blocked *b = &((struct blocked_view *)state)->blocked;

	snprintf(buf, size, "%u thread%s in D state now, %zu in %zu refresh%s%s", b->now, b->now == 1 ? "" : "s", b->nr,
		 b->refreshes, b->refreshes == 1 ? "" : "es",
		 c->paint->width < NARROW || *c->search ? "" : "; COUNT: of 100 us or more");
	table_matches(state, c, buf, size);
}

static void blocked_view_fini(void *state)
{
	blocked_fini(&((struct blocked_view *)state)->blocked);
	table_fini(state);
}

const struct view view_blocked = {
	.legend = "<= began before systop: at most",
	.state_size = sizeof(struct blocked_view),
	.update = blocked_update,
	.draw = blocked_draw,
	.act = table_act,
	.search = table_search,
	.click = table_click,
	.status = blocked_status,
	.selected = thread_selected,
	.enter = ACTION_FLAME,
	.flame = METRIC_D,
	.fini = blocked_view_fini,
};
