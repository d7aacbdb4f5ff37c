/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_HEATMAP_H
#define SYSTOP_TUI_WIDGET_HEATMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/input/actions.h"

struct paint;

/* Nothing, and nine steps. */
#define HEAT_LEVELS 10

struct heat_column {
	double per;      /* what a cell's value is divided by before it is shown; 0: nothing is known of this time */
	uint64_t age_ns; /* how long ago it ended */
};

/* A cell: keys of its column and row. */
struct heat_point {
	uint64_t column;
	int row;
};

struct heat_range {
	uint64_t first, last; /* columns */
	int low, high;        /* rows */
};

/*
 * How much there was, by time and by something else: a column for each refresh or second, the newest at the right, with
 * keys that go on one by one; rows, the highest on top, likewise. The cursor and a range of cells stay where they were
 * put, while time moves on. Initialise with zeroes, and unit.
 */
struct heatmap {
	uint64_t *cells;         /* [column * rows + row] */
	struct heat_column *at;
	size_t cells_room, columns_room;
	uint64_t first;          /* key of the column at the left */
	int columns;
	int low, rows;           /* key of the lowest row */
	double unit;             /* of the logarithmic scale, whose last step is 10,000 of it */
	bool linear;
	double most;             /* in a cell, as it is shown */
	bool moved;              /* until then, the cursor is in the newest column */
	struct heat_point cursor;
	enum { HEAT_NONE, HEAT_SELECTING, HEAT_SELECTED } range;
	struct heat_point from, to; /* of the range */
};

void heatmap_fini(struct heatmap *h);

/* heatmap_shape - empties it, for columns from @first and rows from @low on. 0 or -ENOMEM. heatmap_done - all cells
 * and columns are set: puts the cursor and the range where they belong. */
int heatmap_shape(struct heatmap *h, uint64_t first, int columns, int low, int rows);
void heatmap_done(struct heatmap *h);

/* heatmap_cell - by indexes, not keys. */
uint64_t *heatmap_cell(const struct heatmap *h, int column, int row);

/* heatmap_act - moves the cursor, begins, ends or drops a range, changes the scale. Returns whether @a was such an action. */
bool heatmap_act(struct heatmap *h, enum action a);

/* heatmap_range - the cells that are selected, in sight or not, or the one at the cursor. */
struct heat_range heatmap_range(const struct heatmap *h);

/* heatmap_level - 0 to HEAT_LEVELS - 1, of a value as it is shown. */
int heatmap_level(const struct heatmap *h, double value);

/* heatmap_bottom - index of the lowest row that @lines lines show: those on top, unless the cursor is below them. */
int heatmap_bottom(const struct heatmap *h, int lines);

/* heatmap_draw_row - the cells of a row, by index. heatmap_draw_axis - how long ago the columns above were. Both from
 * @x on. */
void heatmap_draw_row(const struct heatmap *h, const struct paint *p, int y, int x, int row);
void heatmap_draw_axis(const struct heatmap *h, const struct paint *p, int y, int x);

/* heatmap_legend - "log: .<3 :3 -10 ..." with @of behind it; @whole: there are no fractions of these. */
void heatmap_legend(const struct heatmap *h, const struct paint *p, const char *of, bool whole, char *buf, size_t size);

/* heatmap_age - "-9s", "now"; of UINT64_MAX "-". heatmap_when - "-9s", or "range -9s..now", "RANGE -9s..now" when it is
 * ended, by the ages of the first and last column. */
const char *heatmap_age(uint64_t age_ns, char *buf, size_t size);
void heatmap_when(const struct heatmap *h, uint64_t first_ns, uint64_t last_ns, char *buf, size_t size);

#endif
