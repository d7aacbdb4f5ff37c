/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/row_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/owner.h"
#include "model/tick.h"
#include "query/filter.h"
#include "tui/screen/host.h"
#include "tui/term/paint.h"
#include "util/hash.h"
#include "util/text.h"

/* Maximum number of visible rows whose memory and command lines are read: more than any terminal has. */
#define ROWS_ON_SCREEN 512

bool row_table_wants_all(const struct view_context *c)
{
	const struct settings *s = c->settings;

	return !s->hide_idle && !s->hide_kthreads && c->within.kind == SUBJECT_ALL && !c->filter;
}

bool row_table_wants(const struct view_context *c, const struct row *r)
{
	const struct settings *s = c->settings;

	return !(s->hide_idle && !r->exited && !values_acted(s->sorting.own ? r->own : r->values)) &&
	       !(s->hide_kthreads && row_is_kthread(r)) && subject_holds(&c->within, r) &&
	       filter_match(c->filter, r, c->tick);
}

/* --- Threads in tables of other items */

bool thread_match(const void *row, const char *search)
{
	const struct row *r = row;

	return strcasestr(r->thread->comm, search) || strcasestr(r->cgroup->path, search);
}

void thread_tid(const struct table_cell *cell, char *buf, size_t size)
{
	snprintf(buf, size, "%d", ((const struct row *)cell->item)->number);
}

void thread_comm(const struct table_cell *cell, char *buf, size_t size)
{
	text_safe(buf, size, ((const struct row *)cell->item)->thread->comm, 16);
}

void thread_cgroup(const struct table_cell *cell, char *buf, size_t size)
{
	const char *path = ((const struct row *)cell->item)->cgroup->path;

	text_safe(buf, size, path, strlen(path));
}

const struct row *thread_selected(void *table)
{
	return table_selected(table);
}

/* --- Rows */

static bool owner_match(const struct cgroup *c, const char *search)
{
	const struct owners of = owners_of(c);

	return (of.pod && strcasestr(of.pod->pod, search)) || (of.container && strcasestr(of.container->container, search)) ||
	       (of.unit && strcasestr(of.unit->unit, search));
}

/* Whether the search matches a row: its name, what it belongs to, in a tree the text there, or its number. */
static bool item_match(const void *item, const char *search)
{
	const struct row *r = item;
	const char *base;
	char number[16];

	if ((r->kind != ROW_CGROUP || r->cgroup->owner) && owner_match(r->cgroup, search))
		return true;
	if (r->kind == ROW_CGROUP) {
		base = strrchr(r->cgroup->path, '/');
		return strcasestr(base && base[1] ? base + 1 : r->cgroup->path, search);
	}
	snprintf(number, sizeof(number), "%d", r->number);
	if (cmdline_shown(r->process) && cmdline_has(cmdline_shown(r->process), search))
		return true;
	return strcasestr(row_comm(r), search) || (isdigit((unsigned char)*search) && !strcmp(number, search));
}

/* A thread that was moved has several lives in a tick, each with a row. The low bits keep its number. */
static uint64_t part_key(const void *row)
{
	return row_key(row) ^ ((uint64_t)(uintptr_t)((const struct row *)row)->thread << 24 & ~(1ULL << 63));
}

static const struct table_kind row_kind = {
	.items = { part_key, row_tie, row_key },
	.match = item_match,
	.sorted = true,
};

void row_table_begin(struct row_table *t, const struct view_context *c)
{
	struct sorting s = c->settings->sorting, was = t->sorted;

	if (!column_in_table(s.by, t->which)) {
		s.by = COLUMN_ID;
		s.inverted = false;
	}
	/* The user asked for another order: rows are not held in the old one. */
	if (s.by != was.by || s.inverted != was.inverted || s.own != was.own || s.form != was.form)
		t->table.list.nr_held = 0;
	t->sorted = s;
	table_begin(&t->table, &row_kind, t);
}

/* Reads the running times of the visible rows in the last ticks: once, as history goes on while the screen is paused. */
static void fill_past(struct row_table *t, const struct view_context *c)
{
	const struct list *l = &t->table.list;
	size_t nr = l->nr - l->top, height = c->height > 1 ? c->height - 1 : 0;
	uint64_t key = hash_add(t->sorted.own, c->nr_shown);

	nr = nr < height ? nr : height;
	for (size_t i = 0; i < nr; i++)
		key = hash_add(key, (uintptr_t)l->items[l->top + i]);
	if (key == t->past_key)
		return;
	t->past_key = key;
	if (nr > t->past_room) {
		free(t->past);
		t->past = calloc(nr, COLUMNS_PAST * sizeof(*t->past));
		t->past_room = t->past ? nr : 0;
	}
	if (nr && nr <= t->past_room &&
	    tick_history(c->tick, (const struct row **)l->items + l->top, nr, COLUMNS_PAST, t->sorted.own, t->past))
		memset(t->past, 0xff, nr * COLUMNS_PAST * sizeof(*t->past)); /* VALUE_NA */
}

static struct column_context column_context(const struct row_table *t,
					    const struct view_context *c)
{
	return (struct column_context){
		.tick = c->tick,
		.units = c->settings->units,
		.tree = t->which == TABLE_TREE,
		.own = t->which == TABLE_CGROUPS && c->settings->sorting.own,
		.sorting = &c->settings->sorting,
		.user_name = c->host->user_name,
		.past = t->past,
	};
}

static int add_row(void *list, const struct row *r)
{
	return list_add(list, r);
}

int row_table_add_tree(struct row_table *t)
{
	return tree_rows(&t->tree, sorting_before, &t->sorted, add_row, &t->table.list);
}

bool row_table_fold(struct row_table *t, enum action a)
{
	switch (a) {
	case ACTION_FOLD:
		tree_fold(&t->tree, list_selected(&t->table.list));
		return true;
	case ACTION_UNFOLD:
		tree_unfold(&t->tree, list_selected(&t->table.list));
		return true;
	case ACTION_UNFOLD_ALL:
		tree_unfold_all(&t->tree);
		return true;
	default:
		return false;
	}
}

/* --- Columns */

static void draw_cell(const struct table_cell *cell, const struct paint *p, int y, int x)
{
	const struct row_table *t = cell->state;
	struct column_context columns = column_context(t, cell->context);
	struct row_look look = { .match = cell->context->search, .line = cell->line };
	enum column_id id = t->columns.at[cell->column].id;
	char text[4096];

	if (t->name && (id == COLUMN_TREE || id == COLUMN_COMM)) {
		t->name(&t->tree, cell->item, true, text, sizeof(text));
		look.tree = text;
	} else if (t->name && id == COLUMN_COMMAND) {
		t->name(&t->tree, cell->item, false, text, sizeof(text));
		look.indent = text;
	}
	columns_cell(p, y, x, cell->width, id, cell->role, cell->item, &look, &columns);
}

static int flags_of(enum column_id id)
{
	return (column_info(id).right ? 0 : TABLE_LEFT) | (column_descends(id) ? 0 : TABLE_ASCENDING) |
	       (id != COLUMN_BAR && id != COLUMN_PAST ? TABLE_SORTS : 0);
}

/* Converts the columns that fit to the table's form. */
static void set_columns(struct row_table *t, const struct view_context *c)
{
	struct column_context context = column_context(t, c);

	columns_place(&t->columns, &c->settings->columns[t->which], c->paint->width, t->pan, &context);
	t->pan = t->columns.pan;
	t->table.columns = t->shown;
	t->table.nr = t->columns.nr;
	t->table.by = -1;
	t->table.inverted = c->settings->sorting.inverted;
	for (int i = 0; i < t->columns.nr; i++) {
		enum column_id id = t->columns.at[i].id;

		columns_title(id, t->id_title, &context, t->titles[i], sizeof(t->titles[i]));
		t->shown[i] = (struct table_column){ t->titles[i], i > 0, t->columns.at[i].width,
						     flags_of(id), .draw = draw_cell };
		if (id == c->settings->sorting.by)
			t->table.by = i;
	}
}

/* Has the memory of the visible rows read, and their command lines, if these are shown. */
static void want_processes(const struct row_table *t, const struct view_context *c)
{
	const struct list *l = &t->table.list;
	pid_t tgids[ROWS_ON_SCREEN];
	size_t nr = 0;

	for (size_t i = l->top; i < l->nr && i < l->top + c->height && nr < ROWS_ON_SCREEN; i++)
		tgids[nr++] = ((const struct row *)l->items[i])->process->tgid;
	c->host->want_memory(c->host->arg, tgids, nr);
	if (columns_has(&t->columns, COLUMN_COMMAND))
		c->host->want_commands(c->host->arg, tgids, nr);
}

void row_table_update(struct row_table *t, const struct view_context *c, bool ordered)
{
	t->table.before = ordered ? NULL : sorting_before;
	t->table.before_arg = &t->sorted;
	set_columns(t, c);
	table_sort(&t->table, c, c->height);
	if (columns_has(&t->columns, COLUMN_PAST))
		fill_past(t, c);
	if (t->which != TABLE_CGROUPS)
		want_processes(t, c);
}

/* --- Keys */

const struct row *row_table_selected(void *table)
{
	return table_selected(&((struct row_table *)table)->table);
}

/* Stores the order of the table in the settings, which all tables of rows share. */
static void keep_order(const struct row_table *t, const struct view_context *c)
{
	if (t->table.by >= 0)
		c->settings->sorting.by = t->columns.at[t->table.by].id;
	c->settings->sorting.inverted = t->table.inverted;
}

bool row_table_act(struct row_table *t, const struct view_context *c, enum action a)
{
	bool ours = a == ACTION_PAN_LEFT || a == ACTION_PAN_RIGHT || table_act(&t->table, a, c);

	t->pan += a == ACTION_PAN_RIGHT ? 1 : a == ACTION_PAN_LEFT ? -(t->pan > 0) : 0;
	keep_order(t, c);
	return ours;
}

bool row_table_click(void *table, const struct view_context *c, int y, int x)
{
	bool enters = table_click(&((struct row_table *)table)->table, c, y, x);

	keep_order(table, c);
	return enters;
}

void row_table_status(const struct row_table *t, const struct view_context *c, size_t all,
		  const char *what, char *buf, size_t size)
{
	snprintf(buf, size, "%zu of %zu %s", t->table.list.nr, all, what);
	table_matches(&t->table, c, buf, size);
	if (list_held(&t->table.list, c->now_ns))
		text_add(buf, size, "  order held");
	if (list_following(&t->table.list))
		text_add(buf, size, "  following");
}

void row_table_fini(void *table)
{
	struct row_table *t = table;

	table_fini(&t->table);
	tree_fini(&t->tree);
	free(t->past);
}
