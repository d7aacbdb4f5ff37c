/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_IRQ_IRQ_NOTES_H
#define SYSTOP_TUI_VIEW_IRQ_IRQ_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "tui/term/theme.h"

struct host;
struct irq_burst;
struct irq_source;
struct tick;
struct view_context;

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
