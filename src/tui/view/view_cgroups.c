/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "model/tick.h"
#include "query/tree.h"
#include "tui/widget/table.h"
#include "util/format.h"

struct cgroups_view {
	struct table_state table;
	struct tree tree;
};

/* Rows stand depth first: the row above is the last one before with a smaller depth. */
static void set_parents(struct tree *tree, const struct row *rows, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		size_t up = i - 1;

		while (up != TREE_ROOT && rows[up].cgroup != rows[i].cgroup->parent)
			up = tree->nodes[up].parent;
		tree->nodes[i].parent = up;
	}
}

static int cgroups_update(void *state, const struct view_context *c)
{
	struct cgroups_view *s = state;
	const struct tick *t = c->tick;
	int err = tree_begin(&s->tree, t->cgroups, t->nr_cgroups);

	s->table.table = TABLE_CGROUPS;
	list_clear(&s->table.list);
	if (!err) {
		set_parents(&s->tree, t->cgroups, t->nr_cgroups);
		for (size_t i = 0; i < t->nr_cgroups; i++)
			s->tree.nodes[i].wanted = table_wants(&s->table, c, &t->cgroups[i]);
		err = table_add_tree(&s->table, c, &s->tree);
	}
	table_update(&s->table, c, true);
	return err;
}

static void cgroup_name(const void *state, const struct row *r, char *buf, size_t size)
{
	const struct tree *tree = &((const struct cgroups_view *)state)->tree;
	const char *path = r->cgroup->path;
	bool below = tree->nodes[r - tree->rows].parent != TREE_ROOT;
	char quota[16], period[16], name[4096];

	snprintf(name, sizeof(name), "%s", below ? strrchr(path, '/') + 1 : path);
	if (r->limit->quota_ns) {
		size_t used = strlen(name);

		snprintf(name + used, sizeof(name) - used, " %s/%s",
			 format_value(quota, sizeof(quota), UNIT_NS, r->limit->quota_ns, 0),
			 format_value(period, sizeof(period), UNIT_NS, r->limit->period_ns, 0));
	}
	tree_name(tree, r, name, buf, size);
}

static void cgroups_draw(void *state, const struct view_context *c)
{
	table_draw(&((struct cgroups_view *)state)->table, c, "", cgroup_name, state);
}

static const struct row *cgroups_selected(void *state)
{
	return list_selected(&((struct cgroups_view *)state)->table.list);
}

static void cgroups_select(void *state, const struct view_context *c, const struct row *r)
{
	struct cgroups_view *s = state;
	struct subject subject = subject_of(NULL);

	(void)c;
	if (r && r->cgroup)
		subject = (struct subject){ SUBJECT_CGROUP, cgroup_key(r->cgroup), 0 };
	list_select(&s->table.list, &subject);
}

static bool cgroups_act(void *state, enum action a, const struct view_context *c)
{
	struct cgroups_view *s = state;

	if (a == ACTION_OWN) {
		c->settings->sorting.own = !c->settings->sorting.own;
		return true;
	}
	return table_fold(&s->table, a, &s->tree) ||
	       table_act(&s->table, c, a, true);
}

static void cgroups_search(void *state, int direction, const struct view_context *c)
{
	struct cgroups_view *s = state;

	table_search(&s->table, c, direction, true);
}

static bool cgroups_click(void *state, const struct view_context *c, int y, int x)
{
	return table_click(&((struct cgroups_view *)state)->table, c, y, x, true);
}

static void cgroups_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	struct cgroups_view *s = state;
	size_t used;

	table_status(&s->table, c, c->tick->nr_cgroups, "cgroups", buf, size);
	used = strlen(buf);
	snprintf(buf + used, size - used, "  %s",
		 c->settings->sorting.own ? "own threads" : "with all below");
}

static enum table cgroups_table(const void *state)
{
	(void)state;
	return TABLE_CGROUPS;
}

static void cgroups_fini(void *state)
{
	struct cgroups_view *s = state;

	table_fini(&s->table);
	tree_fini(&s->tree);
}

const struct view view_cgroups = {
	.state_size = sizeof(struct cgroups_view),
	.update = cgroups_update,
	.draw = cgroups_draw,
	.act = cgroups_act,
	.search = cgroups_search,
	.click = cgroups_click,
	.status = cgroups_status,
	.selected = cgroups_selected,
	.select = cgroups_select,
	.table = cgroups_table,
	.fini = cgroups_fini,
};
