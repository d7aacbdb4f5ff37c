/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_LATENCY_LATENCY_VIEW_H
#define SYSTOP_TUI_VIEW_LATENCY_LATENCY_VIEW_H

#include "query/latency.h"
#include "tui/widget/table.h"

/* A table of the contributors to a range. Initialise with zeroes. */
struct latency_table {
	struct table_state table; /* first */
	enum hist_id kind;
};

/* latency_table_fill - fills it with the contributors (NULL: none), to be sorted then. 0 or -ENOMEM. */
int latency_table_fill(struct latency_table *t, const struct latency_contributors *of, enum hist_id kind);

/* latency_flame - @o opens the flamegraph of a range. Runqueue waits: all waits of its threads in these refreshes;
 * sleep and D state: only those in the range; interrupts: all of its sources. The title says so. Returns false if
 * out of memory. */
bool latency_flame(struct opening *o, const struct latency_range *r, const struct view_context *c);

#endif
