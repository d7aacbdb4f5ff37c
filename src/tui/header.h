/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_HEADER_H
#define SYSTOP_TUI_HEADER_H

#include <stdbool.h>
#include <stddef.h>

struct paint;
struct tick;
struct tui_options;
struct view;

#define HEADER_LINES 4
#define FOOTER_LINES 2

struct header {
	const struct tui_options *options;
	const struct tick *tick;   /* shown */
	const struct tick *newest;
	bool paused;
};

/* header_draw - the lines above the table. @nr views, the one with index @current is shown. */
void header_draw(const struct header *h, const struct paint *p, const struct view *const *views,
		 int nr, int current);

/* footer_draw - the lines below it: @status, how it is sorted, what the bar's letters mean, keys. */
void footer_draw(const struct paint *p, const char *status, const char *sorted, const char *notice);

#endif
