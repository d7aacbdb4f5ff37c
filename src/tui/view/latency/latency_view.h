/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_LATENCY_LATENCY_VIEW_H
#define SYSTOP_TUI_VIEW_LATENCY_LATENCY_VIEW_H

#include "query/latency.h"

struct opening;
struct paint;
struct view_context;

/* latency_draw_head, latency_draw_contributor - a line of a table of them. */
void latency_draw_head(const struct paint *p, int y, enum hist_id kind);
void latency_draw_contributor(const struct paint *p, int y, const struct latency_contributor *who,
			      enum hist_id kind, bool selected);

/* latency_flame - @o opens the flamegraph of a range: of runqueue waits all that its threads had in these refreshes,
 * of sleep and D state just these, of interrupts all that its sources had; its title says so. Returns false if there is no memory. */
bool latency_flame(struct opening *o, const struct latency_range *r, const struct view_context *c);

#endif
