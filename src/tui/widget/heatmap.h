/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_HEATMAP_H
#define SYSTOP_TUI_WIDGET_HEATMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/input/actions.h"

struct paint;

/* Blank, and nine steps. */
#define HEAT_LEVELS 10

struct heat_column {
	double per;        /* divisor of a cell's value for display; 0: nothing is known about this time */
	uint64_t until_ns; /* its end, CLOCK_BOOTTIME */
};

/* A cell, by the keys of its column and row. */
struct heat_point {
	uint64_t column;
	int row;
};

struct heat_range {
	uint64_t first, last; /* columns */
	int low, high;        /* rows */
};

/*
 * Amounts by time and by another quantity. There is one column per refresh or second, newest at the right; rows have
 * the highest key on top; both have consecutive keys. Cursor and range stay on their cells while time moves on.
 * Initialise with zeroes, except unit.
 */
struct heatmap {
	uint64_t *cells;         /* [column * rows + row] */
	struct heat_column *at;
	size_t cells_room, columns_room;
	uint64_t first;          /* key of the leftmost column */
	int columns;
	int low, rows;           /* key of the lowest row */
	double unit;             /* of the logarithmic scale, whose last step is 10,000 units */
	bool linear;
	double most;             /* largest displayed value of a cell */
	bool moved;              /* false: the cursor follows the newest column */
	struct heat_point cursor;
	enum { HEAT_NONE, HEAT_SELECTING, HEAT_SELECTED } range;
	struct heat_point from, to; /* ends of the range */
};

void heatmap_fini(struct heatmap *h);

/* heatmap_shape - empties it, for columns from @first and rows from @low on. 0 or -ENOMEM.
 * heatmap_done - call it when all cells and columns are set: moves cursor and range to their keys. */
int heatmap_shape(struct heatmap *h, uint64_t first, int columns, int low, int rows);
void heatmap_done(struct heatmap *h);

/* heatmap_cell - by indexes, not keys. */
uint64_t *heatmap_cell(const struct heatmap *h, int column, int row);

/* heatmap_act - moves the cursor, begins, ends or drops a range, changes the scale. Returns whether @a was such an
 * action. */
bool heatmap_act(struct heatmap *h, enum action a);

/* heatmap_range - the selected cells, visible or not; without a selection, the cell at the cursor. */
struct heat_range heatmap_range(const struct heatmap *h);

/* heatmap_level - 0 to HEAT_LEVELS - 1, of a displayed value. */
int heatmap_level(const struct heatmap *h, double value);

/* heatmap_bottom - index of the lowest row on @lines lines: the top rows are shown, unless the cursor is below them. */
int heatmap_bottom(const struct heatmap *h, int lines);

/* heatmap_draw_row - the cells of a row, by index.
 * heatmap_draw_axis - ages of the columns above, at @now_ns. Both draw from @x on. */
void heatmap_draw_row(const struct heatmap *h, const struct paint *p, int y, int x, int row);
void heatmap_draw_axis(const struct heatmap *h, const struct paint *p, int y, int x, uint64_t now_ns);

/* heatmap_legend - "log: .<3 :3 -10 ...", followed by @of; @whole: values are whole numbers. */
void heatmap_legend(const struct heatmap *h, const struct paint *p, const char *of, bool whole, char *buf, size_t size);

/* heatmap_age - "-9s", "now"; for UINT64_MAX "-".
 * heatmap_when - "-9s", or "range -9s..now", "RANGE -9s..now" after its end, by the ages of the first and last
 * column. */
const char *heatmap_age(uint64_t age_ns, char *buf, size_t size);
void heatmap_when(const struct heatmap *h, uint64_t first_ns, uint64_t last_ns, char *buf, size_t size);

#endif
