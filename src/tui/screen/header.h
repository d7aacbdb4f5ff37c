/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_SCREEN_HEADER_H
#define SYSTOP_TUI_SCREEN_HEADER_H

#include <stdbool.h>
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
	const struct tick *tick;   /* the shown one */
	const struct tick *newest;
	const struct stack_quality *stacks; /* of what ran in that tick */
	uint64_t interval_ns;
	bool paused;
	const char *views;         /* "[1:Threads] 2:Cgroups" */
	const char *crumbs;        /* "/web > nginx 4711", "": at the top */
	const char *help_key;
};

/* header_draw - the lines above the view. */
void header_draw(const struct header *h, const struct paint *p);

/* Contents of the lines below the view. */
struct footer {
	const char *status, *sorted, *filter, *notice;
	const char *alert;  /* replaces the legend; "": no alert */
	const char *legend; /* of this view; NULL: the one of bars */
	const struct keymap *keymap;
	int places; /* enum place_kind bits: the keys of their actions are shown */
	bool top;   /* nothing to go back to: q quits */
};

void footer_draw(const struct footer *f, const struct paint *p);

#endif
