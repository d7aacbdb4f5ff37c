/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_TABLE_H
#define SYSTOP_TUI_WIDGET_TABLE_H

#include <stddef.h>

#include "tui/screen/view.h"
#include "tui/term/theme.h"
#include "tui/widget/list.h"
#include "util/format.h"

#define TABLE_COLUMNS_MAX 64

/* A cell that is to be shown. */
struct table_cell {
	const void *item, *state; /* state: the view's, as table_begin() has it */
	const struct view_context *context;
	int column, width;
	int line;                 /* of the item on the screen, 0: first */
	enum role role;
};

/* Screens with this many columns show the wide ones at that width. */
#define TABLE_WIDE 140

/* For struct table_column, at: the number is a uint64_t in the item. */
#define TABLE_AT(type, member)                                                                                         \
	(offsetof(type, member) + sizeof(char[sizeof(((type *)0)->member) == sizeof(uint64_t) ? 1 : -1]))

/* The columns of a kind. */
#define TABLE_COLUMNS(columns) columns, sizeof(columns) / sizeof((columns)[0])

/* A column of items of any kind. */
struct table_column {
	const char *title;
	int gap, width;           /* blanks before it; cells, at least */
	enum { TABLE_LEFT = 1,    /* text at the left; else at the right, */
	       TABLE_ELIDED = 2,  /* ... in the middle; else cut, */
	       TABLE_REST = 4,    /* up to the edge: the last one only, */
	       TABLE_GAP = 8,     /* its gap stays where it is not shown, */
	       TABLE_WIDENS = 16, /* it has a part of what the others leave, up to @wide cells, unless 0, */
	       TABLE_SORTS = 32,  /* the view sorts by it, */
	       TABLE_ASCENDING = 64 } flags; /* the smallest first */
	int from, wide;           /* screens of @from columns and more show it, those of TABLE_WIDE at @wide cells, unless 0 */
	/* A number, VALUE_NA: not known, is what it is sorted by, the largest first, and shown in its unit unless there
	 * is text(). Without one it is sorted by compare(), the smallest first, or not at all. */
	size_t at;
	uint64_t (*number)(const void *item);
	enum unit unit;
	int (*compare)(const void *a, const void *b);
	/* Fit for a terminal. */
	void (*text)(const struct table_cell *cell, char *buf, size_t size);
	/* What is no text. */
	void (*draw)(const struct table_cell *cell, const struct paint *p, int y, int x);
};

/* What all tables of the same items have in common. */
struct table_kind {
	struct list_kind items;
	const struct table_column *columns;
	int nr;
	/* The order of the items; NULL: by the columns if they can be sorted by, else as they are added. */
	item_before *before;
	bool sorted;
	int by;                   /* the column they are sorted by at first */
	list_match *match;        /* NULL: they are not searched */
	enum role (*role)(const void *item, const struct view_context *c); /* NULL: ROLE_TEXT */
	/* The title of a column, NULL: its own. What its shares and rates are of. */
	const char *(*title)(const void *state, int column);
	uint64_t (*whole)(const struct table_cell *cell);
	/* How lines look: the selected one up to the edge, and each title for itself, as wide as its text or its column;
	 * or as far as the text is, below titles up to the edge; or without a mark for the selected one, and without
	 * that edge. */
	enum { TABLE_LINES, TABLE_CELLS, TABLE_TEXT, TABLE_BARE } look;
};

/* A table in a view, which can be the first member of its state: table_act(), table_search() and so on can stand in
 * struct view then. Initialise with zeroes. */
struct table_state {
	struct list list;
	const struct table_kind *kind;
	const struct table_column *columns; /* of the kind, or the view's own */
	int nr;
	const void *state;
	item_before *before;
	const void *before_arg;
	int by;                   /* the column that is sorted by, -1: none of these */
	bool inverted;
	bool passive;             /* nothing is selected */
	int y;                    /* of the titles */
	int x[TABLE_COLUMNS_MAX], width[TABLE_COLUMNS_MAX]; /* of the columns; width -1: not shown */
};

/* table_begin - the items of a new tick; table_add - one of them, borrowed: 0 or -ENOMEM. table_sort - all are there:
 * the selection is put back, and those on the @height lines, of which titles take one, in order. */
void table_begin(struct table_state *t, const struct table_kind *kind, const void *state);
int table_add(struct table_state *t, const void *item);
void table_sort(struct table_state *t, const struct view_context *c, int height);

/* table_draw - titles at line @y and items below, @height lines from column @left on. */
void table_draw(struct table_state *t, const struct view_context *c, int y, int left, int height);

/* table_empty - what stands below the titles where there are no items. */
void table_empty(const struct table_state *t, const struct view_context *c, const char *text);

/* table_selected - the selected item, NULL: none. table_ascending - whether the smallest come first. */
const void *table_selected(const struct table_state *t);
bool table_ascending(const struct table_state *t);

/* As in struct view. table_view_draw - on all lines. A click on a title sorts by it. */
void table_view_draw(void *table, const struct view_context *c);
bool table_act(void *table, enum action a, const struct view_context *c);
void table_search(void *table, int direction, const struct view_context *c);
bool table_click(void *table, const struct view_context *c, int y, int x);

void table_fini(struct table_state *t);

#endif
