/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flamegraph's table of functions, with self and total time of each. */
#include <stdio.h>

#include "sym/names.h"
#include "tui/term/paint.h"
#include "tui/view/flame/flame_view.h"
#include "tui/widget/function_text.h"
#include "util/format.h"
#include "util/text.h"

static const struct calltree_function *function(const void *item)
{
	return item;
}

uint64_t flame_function_key(const struct symbol *symbol)
{
	return (uintptr_t)symbol;
}

static uint64_t key(const void *item)
{
	return flame_function_key(function(item)->symbol);
}

static bool match(const void *item, const char *search)
{
	return flame_matches(function(item)->symbol->name, search);
}

static enum role role(const void *item, const struct view_context *c)
{
	return match(item, c->search) ? ROLE_MATCH : ROLE_TEXT;
}

static void percent(const struct table_cell *cell, uint64_t ns, char *buf, size_t size)
{
	const struct flame_view *s = cell->state;

	snprintf(buf, size, "%.1f%%", 100.0 * ns / s->flames[TREE_MAIN].nodes[0].total);
}

static void weight_text(const struct table_cell *cell, uint64_t weight, char *buf, size_t size)
{
	const struct flame_view *s = cell->state;

	format_value(buf, size, metrics[s->options.metric].unit, weight, 0);
}

static void self_text(const struct table_cell *cell, char *buf, size_t size)
{
	weight_text(cell, function(cell->item)->self, buf, size);
}

static void total_text(const struct table_cell *cell, char *buf, size_t size)
{
	weight_text(cell, function(cell->item)->total, buf, size);
}

static void self_percent(const struct table_cell *cell, char *buf, size_t size)
{
	percent(cell, function(cell->item)->self, buf, size);
}

static void total_percent(const struct table_cell *cell, char *buf, size_t size)
{
	percent(cell, function(cell->item)->total, buf, size);
}

static void name_text(const struct table_cell *cell, char *buf, size_t size)
{
	const struct symbol *symbol = function(cell->item)->symbol;
	const char *marks = function_marks(symbol);
	char name[512];

	function_text(name, sizeof(name), symbol->name, cell->context->settings);
	snprintf(buf, size, "%c%s%c", marks[0], name, marks[1]);
}

/* The name has the colour of its kind, as in the graph. */
static void draw_name(const struct table_cell *cell, const struct paint *p, int y, int x)
{
	enum role role = cell->role == ROLE_TEXT ? function_role(function(cell->item)->symbol) : cell->role;
	char text[520], cut[520];

	name_text(cell, text, sizeof(text));
	text_cut(cut, sizeof(cut), text, cell->width);
	paint_text(p, y, x, cell->width, role, cut);
}

/* Narrower screens lack columns, so that the name has room. */
#define NARROW 60

#define AT(member) TABLE_AT(struct calltree_function, member)
static const struct table_column columns[] = {
	{ "SELF", 0, 7, .text = self_text },
	{ "%", 1, 6, .text = self_percent },
	{ "TOTAL", 2, 7, .text = total_text },
	{ "%", 1, 6, .from = NARROW, .text = total_percent },
	{ "COUNT  ", 2, 7, .from = NARROW, .at = AT(count), .unit = UNIT_COUNT },
	{ "FUNCTION", 2, 8, TABLE_LEFT | TABLE_REST, .text = name_text, .draw = draw_name },
};

static const char *title(const void *state, int column)
{
	const struct flame_view *s = state;

	if (metrics[s->options.metric].weight.sampled && columns[column].at == AT(count))
		return "SAMPLES";
	return columns[column].title;
}

const struct table_kind flame_functions = {
	.items = { .key = key }, TABLE_COLUMNS(columns), .match = match, .role = role, .title = title,
	.look = TABLE_BARE,
};

int flame_functions_update(struct flame_view *s, const struct view_context *c)
{
	struct calltree *f = &s->flames[TREE_MAIN];
	int err = calltree_functions(f);

	for (size_t i = 0; !err && i < f->nr_functions && f->functions[i].total; i++)
		err = table_add(&s->functions, &f->functions[i]);
	table_sort(&s->functions, c, c->height - 1 - flame_about_lines(c));
	return err;
}
