/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "model/owner.h"
#include "model/tick.h"
#include "tui/screen/host.h"
#include "tui/widget/row_table.h"
#include "util/format.h"
#include "util/text.h"

/* Characters of an id beside a name. */
#define SHORT_ID 12

/* Rows are in depth-first order: the parent is the row before, or one of its ancestors. */
static void set_parents(struct tree *tree, const struct row *rows, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		size_t up = i - 1;

		while (up != TREE_ROOT && rows[up].cgroup != rows[i].cgroup->parent)
			up = tree->nodes[up].parent;
		tree->nodes[i].parent = up;
	}
}

/* "web docker-3f2a91c04b7e.scope": the name of a container or pod before that of its cgroup, in which the id is then
 * shortened; only the latter if the former is not known. */
static void own_name(const struct cgroup *c, const char *name, char *buf, size_t size)
{
	const struct owner *o = c->owner;
	const char *known = owner_name(c), *id = !o ? NULL : o->container_id ? o->container_id : o->pod_id;
	const char *at = id ? strstr(name, id) : NULL;

	if (!known)
		snprintf(buf, size, "%s", name);
	else if (at && strlen(id) > SHORT_ID)
		snprintf(buf, size, "%s %.*s%s", known, (int)(at - name) + SHORT_ID, name, at + strlen(id));
	else
		snprintf(buf, size, "%s %s", known, name);
}

static void cgroup_name(const struct tree *tree, const struct row *r, bool named, char *buf, size_t size)
{
	const char *path = r->cgroup->path;
	bool below = tree->nodes[r - tree->rows].parent != TREE_ROOT;
	char name[4096];

	(void)named;
	own_name(r->cgroup, below ? strrchr(path, '/') + 1 : path, name, sizeof(name));
	if (r->limit->quota_ns)
		text_add(name, sizeof(name), " %s/%s", NS_TEXT(r->limit->quota_ns), NS_TEXT(r->limit->period_ns));
	tree_name(tree, r, name, buf, size);
}

static int cgroups_update(void *state, const struct view_context *c)
{
	struct row_table *table = state;
	const struct tick *t = c->tick;
	int err = tree_begin(&table->tree, t->cgroups, t->nr_cgroups);

	table->which = TABLE_CGROUPS;
	row_table_begin(table, c);
	if (!err) {
		set_parents(&table->tree, t->cgroups, t->nr_cgroups);
		for (size_t i = 0; i < t->nr_cgroups; i++)
			table->tree.nodes[i].wanted = row_is_seen(&t->cgroups[i], c->host->scope) &&
						  row_table_wants(c, &t->cgroups[i]);
		err = row_table_add_tree(table);
	}
	table->id_title = "";
	table->name = cgroup_name;
	row_table_update(table, c, true);
	return err;
}

static void cgroups_select(void *state, const struct view_context *c, const struct row *r)
{
	struct row_table *table = state;
	struct subject subject = { SUBJECT_CGROUP, 0, 0 };

	(void)c;
	if (r && r->cgroup)
		subject.id = cgroup_key(r->cgroup);
	list_select(&table->table.list, r && r->cgroup ? subject_key(&subject) : 0);
}

static bool cgroups_act(void *state, enum action a, const struct view_context *c)
{
	if (a == ACTION_OWN) {
		c->settings->sorting.own = !c->settings->sorting.own;
		return true;
	}
	return row_table_fold(state, a) || row_table_act(state, c, a);
}

static void cgroups_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	size_t seen = 0;

	for (size_t i = 0; i < c->tick->nr_cgroups; i++)
		seen += row_is_seen(&c->tick->cgroups[i], c->host->scope);
	row_table_status(state, c, seen, "cgroups", buf, size);
	text_add(buf, size, "  %s", c->settings->sorting.own ? "own threads" : "with all below");
}

static enum table cgroups_table(const void *state)
{
	(void)state;
	return TABLE_CGROUPS;
}

const struct view view_cgroups = {
	.state_size = sizeof(struct row_table),
	.update = cgroups_update,
	.draw = table_view_draw,
	.act = cgroups_act,
	.search = table_search,
	.click = row_table_click,
	.status = cgroups_status,
	.selected = row_table_selected,
	.select = cgroups_select,
	.table = cgroups_table,
	.fini = row_table_fini,
};
