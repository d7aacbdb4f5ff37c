/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_IRQ_IRQ_VIEW_H
#define SYSTOP_TUI_VIEW_IRQ_IRQ_VIEW_H

/* Shared by the files of the views of interrupts. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/term/theme.h"

struct host;
struct irq_burst;
struct irq_source;
struct opening;
struct paint;
struct tick;
struct view_context;

/* What struct view's open() opens for a source of interrupts. They return false if out of memory: nothing is opened. */

/* irq_open_source - the view of one source: its CPUs, the threads it interrupted, its durations. */
bool irq_open_source(const struct irq_source *source, struct opening *o);

/* irq_open_flame - a flamegraph of the samples in interrupts of a source, or of all sources (NULL). */
bool irq_open_flame(const struct irq_source *source, struct opening *o);

/* irq_grid.c: time that interrupts took on each CPU: a bar each, in as many columns as fit. */

/* irq_grid_lines - lines needed for all CPUs, without the title. */
int irq_grid_lines(const struct paint *p, const struct tick *t);

/* irq_grid_draw - a title that names the busiest CPU, and @lines of CPUs: the busiest ones if not all fit. Returns
 * the next line. */
int irq_grid_draw(const struct paint *p, int y, const struct tick *t, int lines);

/* irq_notes.c: */

/* A line below the table of sources. */
struct irq_note {
	enum role role;
	char text[512];
};

/*
 * irq_notes - the most notable findings: the longest interrupt, threads that lost time to interrupts, gaps in timer
 * interrupts, ksoftirqds that waited for their CPU, and the longest interrupt of @selected (NULL: none). Returns their
 * number, at most @most; the most important come first.
 */
int irq_notes(const struct view_context *c, const struct irq_source *selected, struct irq_note *notes, int most);

/* irq_ago_text - "-17s", "-0.3s": time before the end of a refresh. */
const char *irq_ago_text(const struct tick *t, uint64_t at, char *buf, size_t size);

/* irq_burst_text - a line below IRQ_BURST_TITLE. */
#define IRQ_BURST_TITLE "     AT LENGTH   CPU  DURING                 CGROUP"
const char *irq_burst_text(const struct tick *t, const struct host *host, const struct irq_burst *b, char *buf,
			   size_t size);

#endif
