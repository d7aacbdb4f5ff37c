/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_SCREEN_HEADER_H
#define SYSTOP_TUI_SCREEN_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host;
struct keymap;
struct paint;
struct stack_quality;
struct tick;

#define HEADER_LINES 4
#define FOOTER_LINES 2

struct header {
	const struct host *host;
	const struct tick *tick;   /* shown */
	const struct tick *newest;
	const struct stack_quality *stacks; /* of what ran in it */
	uint64_t interval_ns;
	bool paused;
	const char *views;         /* "[1:Threads] 2:Cgroups" */
	const char *crumbs;        /* "/web > nginx 4711", "": at the top */
	const char *help_key;
};

/* header_draw - the lines above the view. */
void header_draw(const struct header *h, const struct paint *p);

/* What the lines below it say. */
struct footer {
	const char *status, *sorted, *filter, *notice;
	const char *alert;  /* in place of the legend; "": all is well */
	const char *legend; /* of this view; NULL: that of bars */
	const struct keymap *keymap;
	int places; /* whose actions' keys are shown: enum place_kind */
	bool top;   /* there is nothing to go back to: q leaves */
};

void footer_draw(const struct footer *f, const struct paint *p);

#endif
