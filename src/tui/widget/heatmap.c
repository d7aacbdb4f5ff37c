/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/heatmap.h"

#include <math.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/term/paint.h"
#include "util/format.h"
#include "util/text.h"

/* Columns from one age on the axis to the next. */
#define AXIS_STEP 10

static const char *const ascii_ramp[HEAT_LEVELS] = { " ", ".", ":", "-", "=", "+", "*", "#", "%", "@" };
static const char *const unicode_ramp[HEAT_LEVELS] = {
	" ", "·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█",
};

/* Lower bounds of the steps of the logarithmic scale, in units. */
static const double log_steps[HEAT_LEVELS] = { 0, 0, 3, 10, 30, 100, 300, 1000, 3000, 10000 };

void heatmap_fini(struct heatmap *h)
{
	free(h->cells);
	free(h->at);
	*h = (struct heatmap){ 0 };
}

int heatmap_shape(struct heatmap *h, uint64_t first, int columns, int low, int rows)
{
	size_t cells = (size_t)columns * rows;

	if (cells > h->cells_room) {
		free(h->cells);
		h->cells = malloc(cells * sizeof(*h->cells));
		h->cells_room = h->cells ? cells : 0;
	}
	if ((size_t)columns > h->columns_room) {
		free(h->at);
		h->at = malloc(columns * sizeof(*h->at));
		h->columns_room = h->at ? columns : 0;
	}
	h->first = first;
	h->low = low;
	h->columns = h->cells && h->at ? columns : 0;
	h->rows = rows;
	if (!h->columns)
		return -ENOMEM;
	memset(h->cells, 0, cells * sizeof(*h->cells));
	memset(h->at, 0, columns * sizeof(*h->at));
	return 0;
}

uint64_t *heatmap_cell(const struct heatmap *h, int column, int row)
{
	return &h->cells[(size_t)column * h->rows + row];
}

/* --- The cursor, the range */

static uint64_t newest(const struct heatmap *h)
{
	return h->first + h->columns - 1;
}

/* The highest row of the newest column with a value; the top row if it has none. */
static int highest(const struct heatmap *h)
{
	for (int row = h->rows; row-- > 0;)
		if (*heatmap_cell(h, h->columns - 1, row))
			return h->low + row;
	return h->low + h->rows - 1;
}

static void clamp(const struct heatmap *h, struct heat_point *p)
{
	if (p->column < h->first)
		p->column = h->first;
	if (p->column > newest(h))
		p->column = newest(h);
	if (p->row < h->low)
		p->row = h->low;
	if (p->row >= h->low + h->rows)
		p->row = h->low + h->rows - 1;
}

void heatmap_done(struct heatmap *h)
{
	h->most = 0;
	for (int column = 0; column < h->columns; column++) {
		for (int row = 0; row < h->rows && h->at[column].per > 0; row++) {
			double value = *heatmap_cell(h, column, row) / h->at[column].per;

			h->most = value > h->most ? value : h->most;
		}
	}
	if (!h->moved)
		h->cursor = (struct heat_point){ newest(h), highest(h) };
	if (h->range == HEAT_SELECTING)
		h->to = h->cursor;
	if (h->range != HEAT_NONE && h->from.column < h->first && h->to.column < h->first)
		h->range = HEAT_NONE; /* all of it has left the screen */
	clamp(h, &h->cursor);
}

static void select_range(struct heatmap *h)
{
	if (h->range == HEAT_SELECTING) {
		h->range = HEAT_SELECTED;
		h->to = h->cursor;
		return;
	}
	h->range = HEAT_SELECTING;
	h->moved = true;
	h->from = h->to = h->cursor;
}

static bool drop_range(struct heatmap *h)
{
	if (h->range == HEAT_NONE)
		return false;
	h->range = HEAT_NONE;
	return true;
}

bool heatmap_act(struct heatmap *h, enum action a)
{
	switch (a) {
	case ACTION_HEAT_SCALE:
		h->linear = !h->linear;
		return true;
	case ACTION_HEAT_LEFT:
		h->cursor.column -= h->cursor.column > h->first;
		break;
	case ACTION_HEAT_RIGHT:
		h->cursor.column++;
		break;
	case ACTION_UP:
		h->cursor.row++;
		break;
	case ACTION_DOWN:
		h->cursor.row--;
		break;
	case ACTION_FIRST:
		h->cursor.column = h->first;
		break;
	case ACTION_LAST:
		h->cursor.column = newest(h);
		h->moved = false;
		return true;
	case ACTION_HEAT_SELECT:
		select_range(h);
		return true;
	case ACTION_BACK:
		return drop_range(h);
	default:
		return false;
	}
	h->moved = true;
	clamp(h, &h->cursor);
	return true;
}

struct heat_range heatmap_range(const struct heatmap *h)
{
	const struct heat_point *a = h->range == HEAT_NONE ? &h->cursor : &h->from;
	const struct heat_point *b = h->range == HEAT_SELECTED ? &h->to : &h->cursor;

	return (struct heat_range){
		.first = a->column < b->column ? a->column : b->column,
		.last = a->column < b->column ? b->column : a->column,
		.low = a->row < b->row ? a->row : b->row,
		.high = a->row < b->row ? b->row : a->row,
	};
}

static bool inside(const struct heat_range *r, uint64_t column, int row)
{
	return column >= r->first && column <= r->last && row >= r->low && row <= r->high;
}

/* --- Drawing */

/* Lower bound of a level, as displayed. */
static double step(const struct heatmap *h, int level)
{
	return h->linear ? h->most * (level - 1) / (HEAT_LEVELS - 1) : h->unit * log_steps[level];
}

int heatmap_level(const struct heatmap *h, double value)
{
	int level = 1;

	if (value <= 0)
		return 0;
	while (level + 1 < HEAT_LEVELS && value >= step(h, level + 1))
		level++;
	return level;
}

int heatmap_bottom(const struct heatmap *h, int lines)
{
	int bottom = h->rows > lines ? h->rows - lines : 0, cursor = h->cursor.row - h->low;

	return cursor < bottom ? cursor : bottom;
}

static enum role role_of(int level)
{
	return level < 4 ? ROLE_HEAT_LOW : level < 7 ? ROLE_HEAT_MIDDLE : ROLE_HEAT_HIGH;
}

void heatmap_draw_row(const struct heatmap *h, const struct paint *p, int y, int x, int row)
{
	const struct heat_range range = heatmap_range(h);
	const char *const *ramp = p->unicode ? unicode_ramp : ascii_ramp;
	enum role role = ROLE_TEXT;
	char run[512] = ""; /* consecutive cells in one look */
	size_t used = 0;

	for (int column = 0; column < h->columns; column++) {
		double per = h->at[column].per;
		int level = per > 0 ? heatmap_level(h, *heatmap_cell(h, column, row) / per) : 0;
		bool cursor = h->cursor.column == h->first + column && h->cursor.row == h->low + row;
		enum role is = role_of(level);

		if (cursor)
			is = ROLE_FOLLOWED;
		else if (inside(&range, h->first + column, h->low + row))
			is = ROLE_SELECTED;
		if (is != role || used > sizeof(run) - 8) {
			x = paint_text(p, y, x, p->width, role, run);
			used = 0;
		}
		role = is;
		used += snprintf(run + used, sizeof(run) - used, "%s", ramp[level]);
	}
	paint_text(p, y, x, p->width, role, run);
}

const char *heatmap_age(uint64_t age_ns, char *buf, size_t size)
{
	uint64_t tenths = (age_ns + 50000000) / 100000000;

	if (age_ns == UINT64_MAX)
		snprintf(buf, size, "-");
	else if (!tenths)
		snprintf(buf, size, "now");
	else if (tenths % 10 <= 1 || tenths % 10 == 9) /* rounds a tenth away: refreshes jitter by more */
		snprintf(buf, size, tenths == 1 ? "-0.1s" : "-%" PRIu64 "s", (tenths + 1) / 10);
	else
		snprintf(buf, size, "-%" PRIu64 ".%" PRIu64 "s", tenths / 10, tenths % 10);
	return buf;
}

void heatmap_when(const struct heatmap *h, uint64_t first_ns, uint64_t last_ns, char *buf, size_t size)
{
	static const char *const marks[] = {
		[HEAT_NONE] = "", [HEAT_SELECTING] = "range ", [HEAT_SELECTED] = "RANGE ",
	};
	struct heat_range r = heatmap_range(h);
	char first[24], last[24] = "";

	heatmap_age(first_ns, first, sizeof(first));
	if (r.first != r.last)
		heatmap_age(last_ns, last, sizeof(last));
	snprintf(buf, size, "%s%s%s%s", marks[h->range], first, *last ? ".." : "", last);
}

void heatmap_draw_axis(const struct heatmap *h, const struct paint *p, int y, int x, uint64_t now_ns)
{
	int last = h->columns - 1, len;
	char age[24];

	/* Counted from the right, so that labels stay in place while time moves on. */
	for (int column = last % AXIS_STEP; column < last; column += AXIS_STEP)
		if (h->at[column].per > 0)
			paint_text(p, y, x + column, AXIS_STEP, ROLE_DIM,
				   heatmap_age(now_ns - h->at[column].until_ns, age, sizeof(age)));
	len = strlen(heatmap_age(now_ns - h->at[last].until_ns, age, sizeof(age)));
	paint_text(p, y, x + last + len > p->width ? p->width - len : x + last, len, ROLE_DIM, age);
	if (h->cursor.column != newest(h))
		paint_text(p, y, x + (int)(h->cursor.column - h->first), 1, ROLE_TITLE, "^");
}

static void step_text(double value, char *buf, size_t size)
{
	if (value < 1000)
		snprintf(buf, size, "%.3g", value);
	else
		format_value(buf, size, UNIT_COUNT, (uint64_t)value, 0);
}

void heatmap_legend(const struct heatmap *h, const struct paint *p, const char *of, bool whole, char *buf, size_t size)
{
	const char *const *ramp = p->unicode ? unicode_ramp : ascii_ramp;
	char text[24];

	snprintf(buf, size, "%s:", h->linear ? "linear" : "log");
	for (int level = 1; level < HEAT_LEVELS && step(h, HEAT_LEVELS - 1) > 0; level++) {
		double from = level == 1 ? 1 : ceil(step(h, level)), to = step(h, level == 1 ? 2 : level);

		if (whole)
			to = ceil(to);
		/* A level that contains no whole number does not occur. */
		if (whole && level + 1 < HEAT_LEVELS && from >= ceil(step(h, level + 1)))
			continue;
		step_text(to, text, sizeof(text));
		text_add(buf, size, " %s%s%s", ramp[level], level == 1 ? "<" : "", text);
	}
	text_add(buf, size, "%s %s", h->linear && h->most <= 0 ? " 0" : "", of);
}
