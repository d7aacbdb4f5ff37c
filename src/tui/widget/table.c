/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "query/filter.h"
#include "query/tree.h"
#include "tui/screen/host.h"
#include "tui/term/paint.h"

/* The parent of all kernel threads. */
#define KTHREADD 2

static bool did_something(const struct row *r, bool own)
{
	const uint64_t *v = own ? r->own->v : r->values->v;

	return v[METRIC_RUN] || v[METRIC_RUNQ] || v[METRIC_D] || v[METRIC_WAKEUPS] || r->exited;
}

static bool is_kthread(const struct row *r)
{
	if (r->kind == ROW_THREAD)
		return r->thread->flags & PF_KTHREAD;
	return r->kind == ROW_PROCESS &&
	       (r->process->tgid == KTHREADD || r->process->ppid == KTHREADD);
}

bool table_wants(const struct table_state *t, const struct view_context *c, const struct row *r)
{
	const struct settings *s = c->settings;

	(void)t;
	return !(s->hide_idle && !did_something(r, s->sorting.own)) &&
	       !(s->hide_kthreads && is_kthread(r)) && subject_holds(&c->within, r) &&
	       filter_match(c->filter, r, c->tick);
}

static struct list_order order_of(const struct view_context *c, bool ordered)
{
	return (struct list_order){ ordered ? NULL : sorting_before, &c->settings->sorting,
				    c->now_ns };
}

static size_t table_height(const struct view_context *c)
{
	return c->height > 1 ? c->height - 1 : 0;
}

/* Whether the search finds a row: in its name, or of a tree in what stands there; or its number. */
static bool search_match(const struct row *r, const char *search)
{
	const char *base;
	char number[16];

	if (r->kind == ROW_CGROUP) {
		base = strrchr(r->cgroup->path, '/');
		return strcasestr(base && base[1] ? base + 1 : r->cgroup->path, search);
	}
	snprintf(number, sizeof(number), "%d", r->number);
	return strcasestr(r->thread ? r->thread->comm : r->process->comm, search) ||
	       (isdigit((unsigned char)*search) && !strcmp(number, search));
}

static size_t count_matches(const struct table_state *t, const char *search)
{
	size_t n = 0;

	for (size_t i = 0; *search && i < t->list.nr; i++)
		n += search_match(t->list.rows[i], search);
	return n;
}

/* Run times of the last ticks, for the rows on the screen. */
static void fill_past(struct table_state *t, const struct view_context *c)
{
	size_t nr = t->list.nr - t->list.top, height = table_height(c);

	nr = nr < height ? nr : height;
	if (nr > t->past_room) {
		free(t->past);
		t->past = calloc(nr, COLUMNS_PAST * sizeof(*t->past));
		t->past_room = t->past ? nr : 0;
	}
	if (nr && nr <= t->past_room &&
	    tick_history(c->tick, t->list.rows + t->list.top, nr, COLUMNS_PAST, t->past))
		memset(t->past, 0xff, nr * COLUMNS_PAST * sizeof(*t->past)); /* VALUE_NA */
}

static struct column_context column_context(const struct table_state *t,
					    const struct view_context *c)
{
	return (struct column_context){
		.tick = c->tick,
		.units = c->settings->units,
		.tree = t->table == TABLE_TREE,
		.own = t->table == TABLE_CGROUPS && c->settings->sorting.own,
		.sorting = &c->settings->sorting,
		.user_name = c->host->user_name,
		.past = t->past,
	};
}

static int add_row(void *list, const struct row *r)
{
	return list_add(list, r);
}

int table_add_tree(struct table_state *t, const struct view_context *c, struct tree *tree)
{
	return tree_rows(tree, sorting_before, &c->settings->sorting, add_row, &t->list);
}

bool table_fold(const struct table_state *t, enum action a, struct tree *tree)
{
	switch (a) {
	case ACTION_FOLD:
		tree_fold(tree, list_selected(&t->list));
		return true;
	case ACTION_UNFOLD:
		tree_unfold(tree, list_selected(&t->list));
		return true;
	case ACTION_UNFOLD_ALL:
		tree_unfold_all(tree);
		return true;
	default:
		return false;
	}
}

void table_update(struct table_state *t, const struct view_context *c, bool ordered)
{
	struct list_order o = order_of(c, ordered);
	struct column_context columns = column_context(t, c);

	list_sort(&t->list, table_height(c), &o);
	t->matches = count_matches(t, c->search);
	columns_place(&t->columns, &c->settings->columns[t->table], c->paint->width, t->pan,
		      &columns);
	if (columns_has(&t->columns, COLUMN_PAST))
		fill_past(t, c);
}

void table_draw(struct table_state *t, const struct view_context *c, const char *id_title,
		table_name *name, const void *state)
{
	struct column_context columns = column_context(t, c);

	columns_titles(&t->columns, c->paint, c->top, id_title, &columns);
	for (int y = 1; y < c->height; y++) {
		size_t i = t->list.top + y - 1;
		struct row_look look = { .mark = ' ', .match = c->search, .line = y - 1 };
		char text[4096];

		if (i >= t->list.nr) {
			paint_clear(c->paint, c->top + y, 0);
			continue;
		}
		if (i == t->list.cursor)
			look.mark = t->list.follows ? '*' : '>';
		if (name) {
			name(state, t->list.rows[i], text, sizeof(text));
			look.tree = text;
		}
		columns_row(&t->columns, c->paint, c->top + y, t->list.rows[i], &look, &columns);
	}
}

bool table_act(struct table_state *t, const struct view_context *c, enum action a, bool ordered)
{
	struct list_order o = order_of(c, ordered);
	struct sorting *s = &c->settings->sorting;

	switch (a) {
	case ACTION_SORT_LEFT:
	case ACTION_SORT_RIGHT:
		s->by = columns_next(&t->columns, s, a == ACTION_SORT_LEFT ? -1 : 1);
		break;
	case ACTION_INVERT:
		s->inverted = !s->inverted;
		break;
	case ACTION_PAN_LEFT:
		t->pan -= t->pan > 0;
		return true;
	case ACTION_PAN_RIGHT:
		t->pan += t->pan < COLUMN_COUNT;
		return true;
	default:
		return list_search(&t->list, a, search_match, c->search, &o) || list_act(&t->list, a, &o);
	}
	t->list.nr_held = 0; /* asked for another order */
	return true;
}

bool table_click(struct table_state *t, const struct view_context *c, int y, int x, bool ordered)
{
	struct list_order o = order_of(c, ordered);
	struct sorting *s = &c->settings->sorting;
	enum column_id id;

	if (y > c->top)
		return list_click(&t->list, y - c->top - 1);
	id = y == c->top ? columns_at(&t->columns, x) : COLUMN_COUNT;
	if (id == COLUMN_COUNT)
		return false;
	s->inverted = id == s->by && !s->inverted;
	s->by = id;
	t->list.nr_held = 0;
	list_sort(&t->list, table_height(c), &o);
	return false;
}

void table_status(const struct table_state *t, const struct view_context *c, size_t all,
		  const char *what, char *buf, size_t size)
{
	size_t used;

	used = snprintf(buf, size, "%zu of %zu %s", t->list.nr, all, what);
	if (*c->search && used < size)
		used += snprintf(buf + used, size - used, "  %zu match%s", t->matches,
				 t->matches == 1 ? "" : "es");
	if (list_held(&t->list, c->now_ns) && used < size)
		used += snprintf(buf + used, size - used, "  order held");
	if (t->list.follows && used < size)
		snprintf(buf + used, size - used, "  following");
}

void table_fini(struct table_state *t)
{
	list_fini(&t->list);
	free(t->past);
}
