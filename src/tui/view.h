/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_H
#define SYSTOP_TUI_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/actions.h"
#include "tui/columns.h"
#include "tui/paint.h"

struct tick;

/* What a view draws from and on: lines [top, top + height) of the paint. */
struct view_context {
	const struct tick *tick;
	const struct paint *paint;
	struct sorting *sorting; /* shared by all tables */
	int top, height;
};

/* A view: immutable; its state is its own. */
struct view {
	const char *name;
	size_t state_size; /* zeroed at start */
	/* A new tick, another order, another size: puts the rows in place. 0 or -ENOMEM. */
	int (*update)(void *state, const struct view_context *c);
	void (*draw)(void *state, const struct view_context *c);
	/* Returns whether the action was this view's; update and draw follow. */
	bool (*act)(void *state, enum action a, const struct view_context *c);
	/* The left part of the status line: "16 of 1204 threads". */
	void (*status)(void *state, const struct view_context *c, char *buf, size_t size);
	void (*fini)(void *state);
};

extern const struct view view_threads, view_cgroups;

#endif
