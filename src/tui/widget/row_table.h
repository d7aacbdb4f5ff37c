/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_ROW_TABLE_H
#define SYSTOP_TUI_WIDGET_ROW_TABLE_H

#include "tui/screen/view.h"
#include "tui/widget/table.h"

struct tree;

/* Text of a row in its tree. */
typedef void row_name(const void *state, const struct row *r, char *buf, size_t size);

/* A table of rows of the tick, with the columns and the order of the settings. Initialise with zeroes. */
struct row_table {
	struct table_state table;
	enum table which;
	struct columns columns;
	struct table_column shown[COLUMN_COUNT]; /* columns, as the table has them */
	char titles[COLUMN_COUNT][32];
	int pan;
	size_t matches;      /* of the search */
	struct values *past; /* of the rows on the screen */
	size_t past_room;
	const char *id_title;
	row_name *name;      /* NULL: no tree; the next one's too: */
	const void *state;
};

/* For tables of other items whose first member is the struct row of a thread: a search finds its name, or its cgroup's
 * path. thread_selected - see struct view, of a table that is the first member of the state. */
uint64_t row_key(const void *row);
bool thread_match(const void *row, const char *search);
void thread_tid(const struct table_cell *cell, char *buf, size_t size);
void thread_comm(const struct table_cell *cell, char *buf, size_t size);
void thread_cgroup(const struct table_cell *cell, char *buf, size_t size);
const struct row *thread_selected(void *table);

/* row_table_begin - the rows of a new tick. row_table_wants - whether a row is to be shown: a part of what was gone
 * into, not hidden, passing the filter. row_table_update - all are there. @ordered: in their order already */
void row_table_begin(struct row_table *t);
bool row_table_wants(const struct view_context *c, const struct row *r);
void row_table_update(struct row_table *t, const struct view_context *c, bool ordered);

/* row_table_add_tree - the wanted rows of a tree, in the order that is set. 0 or -ENOMEM. row_table_fold - folds and
 * unfolds its selected row; returns whether @a was such an action. */
int row_table_add_tree(struct row_table *t, const struct view_context *c, struct tree *tree);
bool row_table_fold(const struct row_table *t, enum action a, struct tree *tree);

/* See struct view. */
bool row_table_act(struct row_table *t, const struct view_context *c, enum action a);
bool row_table_click(void *table, const struct view_context *c, int y, int x);
const struct row *row_table_selected(void *table);

/* row_table_status - "16 of 1204 threads", what hides some of them, and matches of the search. */
void row_table_status(const struct row_table *t, const struct view_context *c, size_t all, const char *what, char *buf,
		      size_t size);

void row_table_fini(struct row_table *t);

#endif
