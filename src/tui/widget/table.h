/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_TABLE_H
#define SYSTOP_TUI_WIDGET_TABLE_H

#include <stddef.h>

#include "tui/screen/view.h"
#include "tui/term/theme.h"
#include "tui/widget/list.h"
#include "util/format.h"

#define TABLE_COLUMNS_MAX 64

/* A cell to show. */
struct table_cell {
	const void *item, *state; /* state: the view's, from table_begin() */
	const struct view_context *context;
	int column, width;
	int line;                 /* visible line of the item, 0: first */
	enum role role;
};

/* Minimum width of a screen that shows columns at their wide width. */
#define TABLE_WIDE 140

/* For struct table_column.at, if the number is a uint64_t in the item. */
#define TABLE_AT(type, member)                                                                                         \
	(offsetof(type, member) + sizeof(char[sizeof(((type *)0)->member) == sizeof(uint64_t) ? 1 : -1]))

/* The columns of a kind. */
#define TABLE_COLUMNS(columns) columns, sizeof(columns) / sizeof((columns)[0])

/* A column of items of any kind. */
struct table_column {
	const char *title;
	int gap, width;           /* blanks before it; minimum number of cells */
	enum { TABLE_LEFT = 1,    /* align text to the left, else to the right, */
	       TABLE_ELIDED = 2,  /* elide it in the middle, else cut it, */
	       TABLE_REST = 4,    /* extend it up to the edge: only for the last column, */
	       TABLE_GAP = 8,     /* keep its gap if it is not shown, */
	       TABLE_WIDENS = 16, /* share the width that the others leave, up to @wide cells (0: no limit), */
	       TABLE_SORTS = 32,  /* the view can be sorted by it, */
	       TABLE_ASCENDING = 64 } flags; /* smallest first */
	int from, wide;           /* shown on screens of at least @from columns; at @wide cells (0: same) from
				   * TABLE_WIDE on */
	/* The value of a number, in the item or by number(); VALUE_NA: not known. It is sorted largest first, and shown in its
	 * unit unless there is text(). A column without a number sorts by compare(), smallest first, if it has that. */
	size_t at;
	uint64_t (*number)(const void *item);
	enum unit unit;
	int (*compare)(const void *a, const void *b);
	/* Fit for a terminal. */
	void (*text)(const struct table_cell *cell, char *buf, size_t size);
	/* Draws contents other than text. */
	void (*draw)(const struct table_cell *cell, const struct paint *p, int y, int x);
};

/* Common to all tables of the same items. */
struct table_kind {
	struct list_kind items;
	const struct table_column *columns;
	int nr;
	/* The order of the items; NULL: by the sort column if there is one, else the order of table_add(). */
	item_before *before;
	bool sorted;
	int by;                   /* initial sort column */
	list_match *match;        /* NULL: not searchable */
	enum role (*role)(const void *item, const struct view_context *c); /* NULL: ROLE_TEXT */
	/* title - the title of a column; NULL: its own. whole - the whole of its shares and rates. */
	const char *(*title)(const void *state, int column);
	uint64_t (*whole)(const struct table_cell *cell);
	/* Looks: LINES fills the selected line up to the edge, and each title only as far as its text; CELLS does
	 * the same, with titles as wide as their columns; TEXT fills the selected line as far as its text, and the
	 * titles up to the edge; BARE is like TEXT, without selection mark and edge. */
	enum { TABLE_LINES, TABLE_CELLS, TABLE_TEXT, TABLE_BARE } look;
};

/* A table in a view. If it is the first member of the state, struct view can name table_act(), table_search() and so
 * on. Initialise with zeroes. */
struct table_state {
	struct list list;
	const struct table_kind *kind;
	const struct table_column *columns; /* of the kind, or the view's own */
	int nr;
	const void *state;
	item_before *before;
	const void *before_arg;
	int by;                   /* sort column, -1: none */
	bool inverted;
	bool passive;             /* no selection */
	int y;                    /* line of the titles */
	int x[TABLE_COLUMNS_MAX], width[TABLE_COLUMNS_MAX]; /* of the columns; width -1: not shown */
};

/* table_begin - starts the items of a new tick.
 * table_add - adds one, borrowed: 0 or -ENOMEM.
 * table_sort - call it after the last item: restores the selection and sorts the items on the @height lines, one of
 * which has the titles. */
void table_begin(struct table_state *t, const struct table_kind *kind, const void *state);
int table_add(struct table_state *t, const void *item);
void table_sort(struct table_state *t, const struct view_context *c, int height);

/* table_draw - titles on line @y and items below, @height lines from column @left on. */
void table_draw(struct table_state *t, const struct view_context *c, int y, int left, int height);

/* table_empty - draws a text below the titles if there are no items. */
void table_empty(const struct table_state *t, const struct view_context *c, const char *text);

/* table_selected - the selected item, NULL: none.
 * table_ascending - whether the smallest come first.
 * table_matches - appends "  3 matches" to the status, if there is a search. */
const void *table_selected(const struct table_state *t);
bool table_ascending(const struct table_state *t);
void table_matches(const struct table_state *t, const struct view_context *c, char *buf, size_t size);

/* See struct view. table_view_draw - uses all lines. A click on a title sorts by that column. */
void table_view_draw(void *table, const struct view_context *c);
bool table_act(void *table, enum action a, const struct view_context *c);
void table_search(void *table, int direction, const struct view_context *c);
bool table_click(void *table, const struct view_context *c, int y, int x);

void table_fini(struct table_state *t);

#endif
