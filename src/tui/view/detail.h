/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_DETAIL_H
#define SYSTOP_TUI_VIEW_DETAIL_H

#include "model/tick.h"
#include "query/stack_quality.h"
#include "tui/screen/view.h"

struct paint;

/* What a pane of the detail draws from. */
struct detail {
	const struct row *row;       /* of the tick shown, or the last one that had it */
	const struct tick *tick;     /* that tick */
	bool gone;                   /* it is no longer there */
	const struct values *past;   /* [HISTORY_TICKS], oldest first, up to the tick shown */
	const struct stack_quality *stacks; /* [METRIC_COUNT], of what it did in that tick */
	const struct view_context *context;
};

/* A pane: draws from line @y on, at most @p->width cells wide; returns the line behind it. */
typedef int detail_pane(const struct detail *d, const struct paint *p, int y);

detail_pane detail_identity, detail_values, detail_time, detail_waits,
	detail_behind, detail_wakers, detail_stacks;

#endif
