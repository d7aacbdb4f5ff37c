/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_BAR_H
#define SYSTOP_TUI_WIDGET_BAR_H

#include "model/metric.h"
#include "tui/term/theme.h"

struct hist;
struct paint;
struct values;

/* bar_draw - the stacked bar of a row, @width cells: shares of @whole ns, or of its time where that is more, as of many
 * threads; what is left is blank: it did not exist then.
 * A letter or shade for each state, readable without colour: bar_legend(). */
void bar_draw(const struct paint *p, int y, int x, int width, const struct values *v,
	      unsigned long long whole);

/* bar_cells - how many cells each of the @nr parts gets of @width, by largest remainder. */
void bar_cells(const unsigned long long *parts, int nr, int width, int *cells);

/*
 * bar_chart - the same over time: a column for each of @nr ticks, the newest at the right end of
 * @width x @height cells. @whole: ns that fill a column; 0: the time it was alive
 */
void bar_chart(const struct paint *p, int y, int x, int width, int height, const struct values *v,
	       int nr, unsigned long long whole);

/* bar_hist - a line for each slot of a histogram from the shortest to the longest there are: its duration, count, and a bar
 * in @role. Returns the next line, @y if it is empty. */
int bar_hist(const struct paint *p, int y, const struct hist *h, enum hist_id id, enum role role);

/* bar_legend - draws what the bar's letters mean, as far as there is room. */
void bar_legend(const struct paint *p, int y, int x);

#endif
