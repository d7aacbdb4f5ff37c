/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_DETAIL_H
#define SYSTOP_TUI_VIEW_DETAIL_H

#include "model/tick.h"
#include "query/pairs.h"
#include "query/stack_quality.h"
#include "query/wakers.h"
#include "tui/screen/view.h"

struct paint;

/* Input of the panes of the detail. */
struct detail {
	const struct row *row;       /* of the shown tick, or of the last one that had it */
	const struct tick *tick;     /* that tick */
	bool gone;                   /* not in the shown tick any more */
	const struct values *past;   /* [HISTORY_TICKS], oldest first, up to the shown tick */
	const uint64_t *lengths;     /* of these refreshes, ns; 0: not remembered */
	const struct pairs *pairs;   /* its waits for a CPU, */
	const struct wakers *wakers; /* and what woke it, in these refreshes */
	const struct stack_quality *stacks; /* [METRIC_COUNT], for its samples in that tick */
	const struct view_context *context;
};

/* A pane: draws from line @y on, at most @p->width cells wide; returns the next line. */
typedef int detail_pane(const struct detail *d, const struct paint *p, int y);

detail_pane detail_identity, detail_values, detail_time, detail_waits,
	detail_behind, detail_wakers, detail_stacks, detail_arguments, detail_memory;

/* detail_command - the fact of a process's command line, if it is known. */
detail_pane detail_command;

#endif
