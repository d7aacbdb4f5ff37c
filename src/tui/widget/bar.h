/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_BAR_H
#define SYSTOP_TUI_WIDGET_BAR_H

#include "model/metric.h"
#include "tui/term/theme.h"

struct hist;
struct paint;
struct values;

/* bar_draw - the stacked bar of a row, @width cells: shares of @whole ns, or of its own time if that is more, as for
 * many threads. The rest is blank: the row did not exist then. Each state has a letter or shade of its own, readable
 * without colour: bar_legend(). */
void bar_draw(const struct paint *p, int y, int x, int width, const struct values *v,
	      unsigned long long whole);

/* bar_cells - distributes @width cells to the @nr parts, by largest remainder. */
void bar_cells(const unsigned long long *parts, int nr, int width, int *cells);

/*
 * bar_chart - the same over time: a column for each of @width ticks, the newest at the right end, of @height cells.
 * @wholes: ns of a full column, of each tick; NULL: the time that the row existed
 */
void bar_chart(const struct paint *p, int y, int x, int width, int height, const struct values *v,
	       const unsigned long long *wholes);

/* bar_hist - a line for each slot of a histogram from the shortest duration to the longest: duration, count, and a bar in
 * @role. Returns the next line; @y if the histogram is empty. */
int bar_hist(const struct paint *p, int y, const struct hist *h, enum hist_id id, enum role role);

/* bar_legend - explains the bar's letters, as many as fit. */
void bar_legend(const struct paint *p, int y, int x);

#endif
