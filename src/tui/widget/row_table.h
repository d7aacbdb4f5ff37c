/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_ROW_TABLE_H
#define SYSTOP_TUI_WIDGET_ROW_TABLE_H

#include "query/tree.h"
#include "tui/screen/view.h"
#include "tui/widget/table.h"

/* Text of a row in its tree; without @named only what indents the name. */
typedef void row_name(const struct tree *tree, const struct row *r, bool named, char *buf, size_t size);

/* A table of the tick's rows, with columns and order of the settings. Initialise with zeroes. */
struct row_table {
	struct table_state table;
	enum table which;
	struct columns columns;
	struct sorting sorted; /* order of the settings; if the table lacks the column, that of numbers or paths */
	struct table_column shown[COLUMN_COUNT]; /* the columns that fit */
	char titles[COLUMN_COUNT][32];
	int pan;
	struct values *past; /* of the visible rows */
	size_t past_room;
	uint64_t past_key;   /* hash of the visible rows and of struct view_context.nr_shown */
	const char *id_title;
	row_name *name;      /* NULL: no tree */
	struct tree tree;
};

/* For tables of other items whose first member is the struct row of a thread: a search matches its name or its cgroup's
 * path.
 * thread_selected - see struct view, for a table that is the first member of the state. */
bool thread_match(const void *row, const char *search);
void thread_tid(const struct table_cell *cell, char *buf, size_t size);
void thread_comm(const struct table_cell *cell, char *buf, size_t size);
void thread_cgroup(const struct table_cell *cell, char *buf, size_t size);
const struct row *thread_selected(void *table);

/* row_table_begin - starts the rows of a new tick of the table @t->which.
 * row_table_wants - whether to show a row: it is part of the opened item, not hidden, and passes the filter;
 * row_table_wants_all - whether it would show every row.
 * row_table_update - call it after the last row. @ordered: the rows are already in order */
void row_table_begin(struct row_table *t, const struct view_context *c);
bool row_table_wants(const struct view_context *c, const struct row *r);
bool row_table_wants_all(const struct view_context *c);
void row_table_update(struct row_table *t, const struct view_context *c, bool ordered);

/* row_table_add_tree - adds the wanted rows of its tree, in the order of row_table_begin(). 0 or -ENOMEM.
 * row_table_fold - folds and unfolds the selected row; returns whether @a was such an action. */
int row_table_add_tree(struct row_table *t);
bool row_table_fold(struct row_table *t, enum action a);

/* See struct view. */
bool row_table_act(struct row_table *t, const struct view_context *c, enum action a);
bool row_table_click(void *table, const struct view_context *c, int y, int x);
const struct row *row_table_selected(void *table);
void row_table_fini(void *table);

/* row_table_status - "16 of 1204 threads", the reasons why some are hidden, and matches of the search. */
void row_table_status(const struct row_table *t, const struct view_context *c, size_t all, const char *what, char *buf,
		      size_t size);

#endif
