/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_COLUMNS_H
#define SYSTOP_TUI_COLUMNS_H

#include <stdbool.h>

#include "model/field.h"

struct paint;
struct row;
struct tick;

/* What the rows are sorted by: a field, or their number. */
#define SORT_NUMBER FIELD_COUNT

struct sorting {
	int by; /* enum field_id or SORT_NUMBER */
	bool inverted;
};

/* sorting_before - row_before for rows_order(); @arg: struct sorting. Largest first, numbers
 * smallest first, unknown values last. */
bool sorting_before(const struct row *a, const struct row *b, const void *arg);

/* Which columns a table of this width has, and where. */
struct columns {
	bool tree;                /* first a cgroup's place in the tree and its threads */
	int name, name_width;     /* CGROUP, or the tree; width 0: not shown */
	int bar, bar_width;
	int field[FIELD_COUNT];   /* column of each field, 0: not shown */
	int comm, comm_width;
};

/* columns_place - fits columns into @width: those that leave first on narrow screens are the ones
 * with the highest `drop`; the one sorted by stays. */
void columns_place(struct columns *c, int width, bool tree, const struct sorting *sorting);

/* columns_next - the field to the left (-1) or right (1) of the one sorted by, among those shown. */
int columns_next(const struct columns *c, const struct sorting *sorting, int direction);

void columns_titles(const struct columns *c, const struct paint *p, int y, const char *number,
		    const struct tick *t, const struct sorting *sorting);

/* columns_row - one line. @name: first column of a tree, NULL: the row's cgroup */
void columns_row(const struct columns *c, const struct paint *p, int y, const struct row *r,
		 const struct tick *t, bool selected, const char *name);

#endif
