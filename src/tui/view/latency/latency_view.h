/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_LATENCY_LATENCY_VIEW_H
#define SYSTOP_TUI_VIEW_LATENCY_LATENCY_VIEW_H

#include "query/latency.h"
#include "tui/widget/table.h"

/* A table of those that have durations in a range. Initialise with zeroes. */
struct latency_table {
	struct table_state table; /* first */
	enum hist_id kind;
};

/* latency_table_fill - they (NULL: none) are in it, and it can be sorted. 0 or -ENOMEM. */
int latency_table_fill(struct latency_table *t, const struct latency_contributors *of, enum hist_id kind);

/* latency_flame - @o opens the flamegraph of a range: of runqueue waits all that its threads had in these refreshes,
 * of sleep and D state just these, of interrupts all that its sources had; its title says so. Returns false if there is
 * no memory. */
bool latency_flame(struct opening *o, const struct latency_range *r, const struct view_context *c);

#endif
