/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "tui/list.h"
#include "tui/view.h"
#include "util/map.h"

struct cgroups_view {
	struct list list;
	struct columns columns;
	struct map folded; /* cgroup id -> itself: what is below is not shown */
};

/* The row behind the last one below rows[i]. */
static size_t subtree_end(const struct tick *t, size_t i)
{
	size_t end = i + 1;

	while (end < t->nr_cgroups && t->cgroups[end].cgroup->depth > t->cgroups[i].cgroup->depth)
		end++;
	return end;
}

/* Adds rows[first, end), siblings and what is below them, siblings in the order sorted by. */
static int add_siblings(struct cgroups_view *s, const struct view_context *c, size_t first,
			size_t end)
{
	const struct tick *t = c->tick;
	const struct row **siblings = calloc(end - first + 1, sizeof(*siblings));
	size_t nr = 0;
	int err = siblings ? 0 : -ENOMEM;

	for (size_t i = first; !err && i < end; i = subtree_end(t, i))
		siblings[nr++] = &t->cgroups[i];
	if (!err)
		rows_order(siblings, nr, 0, nr, sorting_before, c->sorting);
	for (size_t i = 0; !err && i < nr; i++) {
		size_t at = siblings[i] - t->cgroups;

		err = list_add(&s->list, siblings[i]);
		if (!err && !map_get(&s->folded, siblings[i]->cgroup->id))
			err = add_siblings(s, c, at + 1, subtree_end(t, at));
	}
	free(siblings);
	return err;
}

static int cgroups_update(void *state, const struct view_context *c)
{
	struct cgroups_view *s = state;
	int err;

	list_clear(&s->list);
	err = add_siblings(s, c, 0, c->tick->nr_cgroups);
	list_sort(&s->list, c->height > 1 ? c->height - 1 : 0, NULL, NULL);
	return err;
}

/* "  + api": indented by depth, with a mark if something below is folded away. */
static void tree_name(const struct cgroups_view *s, const struct tick *t, const struct row *r,
		      char *buf, size_t size)
{
	const char *path = r->cgroup->path, *base = r->cgroup->parent ? strrchr(path, '/') + 1 : path;
	size_t at = r - t->cgroups;
	bool inner = subtree_end(t, at) > at + 1;
	int depth = r->cgroup->depth;

	snprintf(buf, size, "%*s%s%s", depth, "",
		 !inner ? "  " : map_get(&s->folded, r->cgroup->id) ? "+ " : "- ", base);
}

static void cgroups_draw(void *state, const struct view_context *c)
{
	struct cgroups_view *s = state;

	columns_place(&s->columns, c->paint->width, true, c->sorting);
	columns_titles(&s->columns, c->paint, c->top, "", c->tick, c->sorting);
	for (int y = 1; y < c->height; y++) {
		size_t i = s->list.top + y - 1;
		char name[4096];

		if (i >= s->list.nr) {
			paint_clear(c->paint, c->top + y, 0);
			continue;
		}
		tree_name(s, c->tick, s->list.rows[i], name, sizeof(name));
		columns_row(&s->columns, c->paint, c->top + y, s->list.rows[i], c->tick,
			    i == s->list.cursor, name);
	}
}

static void set_folded(struct cgroups_view *s, bool folded)
{
	const struct row *r = list_selected(&s->list);

	if (!r)
		return;
	if (folded)
		map_put(&s->folded, r->cgroup->id, s);
	else
		map_del(&s->folded, r->cgroup->id);
}

static bool cgroups_act(void *state, enum action a, const struct view_context *c)
{
	struct cgroups_view *s = state;
	const struct row *r = list_selected(&s->list);

	switch (a) {
	case ACTION_FOLD:
		set_folded(s, r && !map_get(&s->folded, r->cgroup->id));
		return true;
	case ACTION_FOLD_ONE:
		set_folded(s, true);
		return true;
	case ACTION_UNFOLD_ONE:
		set_folded(s, false);
		return true;
	case ACTION_UNFOLD_ALL:
		map_fini(&s->folded);
		return true;
	case ACTION_SORT_LEFT:
	case ACTION_SORT_RIGHT:
		c->sorting->by =
			columns_next(&s->columns, c->sorting, a == ACTION_SORT_LEFT ? -1 : 1);
		return true;
	default:
		if (!list_act(&s->list, a))
			return false;
		list_stick(&s->list);
		return true;
	}
}

static void cgroups_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	const struct row *r = list_selected(&((struct cgroups_view *)state)->list);
	char own[16] = "-";

	if (r)
		snprintf(own, sizeof(own), "%u", r->own_threads);
	snprintf(buf, size, "%zu cgroups, own threads %s", c->tick->nr_cgroups, own);
}

static void cgroups_fini(void *state)
{
	struct cgroups_view *s = state;

	list_fini(&s->list);
	map_fini(&s->folded);
}

const struct view view_cgroups = {
	.name = "Cgroups",
	.state_size = sizeof(struct cgroups_view),
	.update = cgroups_update,
	.draw = cgroups_draw,
	.act = cgroups_act,
	.status = cgroups_status,
	.fini = cgroups_fini,
};
