/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads, processes, or processes as a tree. */
#include <stdio.h>

#include "model/tick.h"
#include "tui/widget/row_table.h"
#include "util/map.h"

/* Prefetch distance in rows, ahead of the filter: with 50,000 threads their names are in none of the caches. */
#define AHEAD 16

struct threads {
	struct row_table table; /* first; .which selects one of the three */
	enum table before_tree; /* t goes back to it */
};

static int add_rows(struct threads *s, const struct view_context *c, const struct row *rows,
		    size_t nr)
{
	int err = 0;

	if (row_table_wants_all(c))
		return list_add_all(&s->table.table.list, rows, nr, sizeof(*rows));
	for (size_t i = 0; !err && i < nr; i++) {
		if (i + AHEAD < nr)
			__builtin_prefetch(rows[i + AHEAD].thread);
		if (row_table_wants(c, &rows[i]))
			err = table_add(&s->table.table, &rows[i]);
	}
	return err;
}

/* Processes below their parents; without its parent a process is a root. */
static int add_tree(struct threads *s, const struct view_context *c)
{
	const struct tick *t = c->tick;
	struct tree *tree = &s->table.tree;
	struct map places = { 0 };
	int err = tree_begin(tree, t->processes, t->nr_processes);

	for (size_t i = 0; !err && i < t->nr_processes; i++)
		err = map_put(&places, t->processes[i].number, (void *)(uintptr_t)(i + 1));
	for (size_t i = 0; !err && i < t->nr_processes; i++) {
		uintptr_t parent = 0;

		if (t->processes[i].process->ppid)
			parent = (uintptr_t)map_get(&places, t->processes[i].process->ppid);
		tree->nodes[i].parent = parent ? parent - 1 : TREE_ROOT;
		tree->nodes[i].wanted = row_table_wants(c, &t->processes[i]);
	}
	map_fini(&places);
	if (!err)
		err = row_table_add_tree(&s->table);
	return err;
}

static bool is_tree(const struct threads *s)
{
	return s->table.which == TABLE_TREE;
}

static void process_name(const struct tree *tree, const struct row *r, bool named, char *buf, size_t size)
{
	char comm[17] = "";

	if (named)
		snprintf(comm, sizeof(comm), "%.16s", r->process->comm);
	tree_name(tree, r, comm, buf, size);
}

/* Adds threads that did nothing. Those that slept all have the same values. */
static int add_idle(struct threads *s, const struct view_context *c)
{
	const struct tick *t = c->tick;
	int err;

	if (c->settings->hide_idle)
		return 0;
	err = add_rows(s, c, t->idle, t->nr_stopped);
	if (s->table.sorted.by < COLUMN_METRICS && metric_of_threads((enum metric_id)s->table.sorted.by))
		list_alike(&s->table.table.list);
	return err ? err : add_rows(s, c, t->idle + t->nr_stopped, t->nr_idle - t->nr_stopped);
}

static int threads_update(void *state, const struct view_context *c)
{
	struct threads *s = state;
	const struct tick *t = c->tick;
	int err;

	row_table_begin(&s->table, c);
	if (is_tree(s)) {
		err = add_tree(s, c);
	} else if (s->table.which == TABLE_PROCESSES) {
		err = add_rows(s, c, t->processes, t->nr_processes);
	} else {
		err = add_rows(s, c, t->active, t->nr_active);
		if (!err)
			err = add_idle(s, c);
	}
	s->table.id_title = s->table.which == TABLE_THREADS ? "TID" : "PID";
	s->table.name = is_tree(s) ? process_name : NULL;
	row_table_update(&s->table, c, is_tree(s));
	return err;
}

/* Selects the row that stands for @r here: itself, its process, or the busiest of its threads. */
static void threads_select(void *state, const struct view_context *c, const struct row *r)
{
	struct threads *s = state;
	struct subject subject = subject_of(r);
	struct list *l = &s->table.table.list;

	if (r && r->kind == ROW_THREAD && s->table.which != TABLE_THREADS) {
		subject = (struct subject){ SUBJECT_PROCESS, r->process->tgid, r->process->start_ns };
	} else if (r && r->kind != ROW_THREAD &&
		   (r->kind == ROW_CGROUP || s->table.which == TABLE_THREADS)) {
		const struct subject whole = subject;
		const struct row *best = NULL;

		threads_update(state, c);
		for (size_t i = 0; i < l->nr; i++)
			if (subject_holds(&whole, l->items[i]) &&
			    (!best || sorting_before(l->items[i], best, &s->table.sorted)))
				best = l->items[i];
		subject = subject_of(best);
	}
	list_select(l, subject.kind == SUBJECT_ALL ? 0 : subject_key(&subject));
}

void view_threads_processes(void *state, void *arg)
{
	(void)arg;
	((struct threads *)state)->table.which = TABLE_PROCESSES;
}

static void threads_show_as(void *state, int way)
{
	((struct threads *)state)->table.which = way == 1 ? TABLE_PROCESSES : TABLE_TREE;
}

static enum table threads_table(const void *state)
{
	return ((const struct threads *)state)->table.which;
}

/* Switches to another form of the view; the selection stays on its item. */
static void show_as(struct threads *s, const struct view_context *c, enum table table)
{
	struct list *l = &s->table.table.list;
	const struct row *r = list_selected(l);

	if (!l->sticks)
		r = NULL;
	s->table.which = table;
	l->nr_held = 0;
	threads_select(s, c, r);
	if (!r)
		l->cursor = l->top = 0;
}

static bool threads_act(void *state, enum action a, const struct view_context *c)
{
	struct threads *s = state;
	enum table table = s->table.which;

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
		if (is_tree(s) && row_table_fold(&s->table, a))
			return true;
		return row_table_act(&s->table, c, a);
	}
}

static void threads_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	struct threads *s = state;
	bool threads = s->table.which == TABLE_THREADS;

	row_table_status(&s->table, c,
		     threads ? c->tick->nr_active + c->tick->nr_idle : c->tick->nr_processes,
		     threads ? "threads" : "processes", buf, size);
}

const struct view view_threads = {
	.state_size = sizeof(struct threads),
	.update = threads_update,
	.draw = table_view_draw,
	.act = threads_act,
	.search = table_search,
	.click = row_table_click,
	.status = threads_status,
	.selected = row_table_selected,
	.select = threads_select,
	.table = threads_table,
	.show_as = threads_show_as,
	.fini = row_table_fini,
};
