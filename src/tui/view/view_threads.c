/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "query/tree.h"
#include "tui/widget/table.h"
#include "util/map.h"

/* Threads, processes, or processes as a tree. */
/* So many rows ahead of the filter memory is asked for: with 50,000 threads their names are in none
 * of the caches. */
#define AHEAD 16

struct threads {
	struct table_state table; /* .table is which of the three */
	struct tree tree;
	enum table before_tree; /* t leads back to it */
};

static int add_rows(struct threads *s, const struct view_context *c, const struct row *rows,
		    size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		if (i + AHEAD < nr)
			__builtin_prefetch(rows[i + AHEAD].thread);
		if (table_wants(&s->table, c, &rows[i]))
			err = list_add(&s->table.list, &rows[i]);
	}
	return err;
}

/* Processes below their parents; one whose parent is not there is a root. */
static int add_tree(struct threads *s, const struct view_context *c)
{
	const struct tick *t = c->tick;
	struct map places = { 0 };
	int err = tree_begin(&s->tree, t->processes, t->nr_processes);

	for (size_t i = 0; !err && i < t->nr_processes; i++)
		err = map_put(&places, t->processes[i].number, (void *)(uintptr_t)(i + 1));
	for (size_t i = 0; !err && i < t->nr_processes; i++) {
		uintptr_t parent = 0;

		if (t->processes[i].process->ppid)
			parent = (uintptr_t)map_get(&places, t->processes[i].process->ppid);
		s->tree.nodes[i].parent = parent ? parent - 1 : TREE_ROOT;
		s->tree.nodes[i].wanted = table_wants(&s->table, c, &t->processes[i]);
	}
	map_fini(&places);
	if (!err)
		err = table_add_tree(&s->table, c, &s->tree);
	return err;
}

static bool is_tree(const struct threads *s)
{
	return s->table.table == TABLE_TREE;
}

static int threads_update(void *state, const struct view_context *c)
{
	struct threads *s = state;
	const struct tick *t = c->tick;
	int err;

	list_clear(&s->table.list);
	if (is_tree(s)) {
		err = add_tree(s, c);
	} else if (s->table.table == TABLE_PROCESSES) {
		err = add_rows(s, c, t->processes, t->nr_processes);
	} else {
		err = add_rows(s, c, t->active, t->nr_active);
		if (!err && !c->settings->hide_idle)
			err = add_rows(s, c, t->idle, t->nr_idle);
	}
	table_update(&s->table, c, is_tree(s));
	return err;
}

static void process_name(const void *state, const struct row *r, char *buf, size_t size)
{
	const struct threads *s = state;
	char comm[17];

	snprintf(comm, sizeof(comm), "%.16s", r->process->comm);
	tree_name(&s->tree, r, comm, buf, size);
}

static void threads_draw(void *state, const struct view_context *c)
{
	struct threads *s = state;

	table_draw(&s->table, c, s->table.table == TABLE_THREADS ? "TID" : "PID",
		   is_tree(s) ? process_name : NULL, s);
}

static const struct row *threads_selected(void *state)
{
	return list_selected(&((struct threads *)state)->table.list);
}

/* The row that stands for @r here: itself, its process, or the busiest of its threads. */
static void threads_select(void *state, const struct view_context *c, const struct row *r)
{
	struct threads *s = state;
	struct subject subject = subject_of(r);

	if (r && r->kind == ROW_THREAD && s->table.table != TABLE_THREADS) {
		subject = (struct subject){ SUBJECT_PROCESS, r->process->tgid, 0 };
	} else if (r && r->kind != ROW_THREAD &&
		   (r->kind == ROW_CGROUP || s->table.table == TABLE_THREADS)) {
		const struct subject whole = subject;
		const struct row *best = NULL;

		threads_update(state, c);
		for (size_t i = 0; i < s->table.list.nr; i++)
			if (subject_holds(&whole, s->table.list.rows[i]) &&
			    (!best || sorting_before(s->table.list.rows[i], best,
						     &c->settings->sorting)))
				best = s->table.list.rows[i];
		subject = subject_of(best);
	}
	list_select(&s->table.list, &subject);
}

void view_threads_processes(void *state, void *arg)
{
	(void)arg;
	((struct threads *)state)->table.table = TABLE_PROCESSES;
}

static void threads_show_as(void *state, int way)
{
	((struct threads *)state)->table.table = way == 1 ? TABLE_PROCESSES : TABLE_TREE;
}

static enum table threads_table(const void *state)
{
	return ((const struct threads *)state)->table.table;
}

/* Another way to show the same: the selection stays on what it was on. */
static void show_as(struct threads *s, const struct view_context *c, enum table table)
{
	const struct row *r = list_selected(&s->table.list);

	if (!s->table.list.sticks)
		r = NULL;
	s->table.table = table;
	s->table.list.nr_held = 0;
	threads_select(s, c, r);
	if (!r)
		s->table.list.cursor = s->table.list.top = 0;
}

static bool threads_act(void *state, enum action a, const struct view_context *c)
{
	struct threads *s = state;
	enum table table = s->table.table;

	switch (a) {
	case ACTION_PROCESSES:
		show_as(s, c, table == TABLE_THREADS ? TABLE_PROCESSES : TABLE_THREADS);
		return true;
	case ACTION_TREE:
		if (table == TABLE_TREE) {
			show_as(s, c, s->before_tree);
		} else {
			s->before_tree = table;
			show_as(s, c, TABLE_TREE);
		}
		return true;
	default:
		if (is_tree(s) && table_fold(&s->table, a, &s->tree))
			return true;
		return table_act(&s->table, c, a, is_tree(s));
	}
}

static void threads_search(void *state, int direction, const struct view_context *c)
{
	struct threads *s = state;

	table_search(&s->table, c, direction, is_tree(s));
}

static bool threads_click(void *state, const struct view_context *c, int y, int x)
{
	struct threads *s = state;

	return table_click(&s->table, c, y, x, is_tree(s));
}

static void threads_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	struct threads *s = state;
	bool threads = s->table.table == TABLE_THREADS;

	table_status(&s->table, c,
		     threads ? c->tick->nr_active + c->tick->nr_idle : c->tick->nr_processes,
		     threads ? "threads" : "processes", buf, size);
}

static void threads_fini(void *state)
{
	struct threads *s = state;

	table_fini(&s->table);
	tree_fini(&s->tree);
}

const struct view view_threads = {
	.state_size = sizeof(struct threads),
	.update = threads_update,
	.draw = threads_draw,
	.act = threads_act,
	.search = threads_search,
	.click = threads_click,
	.status = threads_status,
	.selected = threads_selected,
	.select = threads_select,
	.table = threads_table,
	.show_as = threads_show_as,
	.fini = threads_fini,
};
