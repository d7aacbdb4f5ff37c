/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_IRQ_IRQ_VIEW_H
#define SYSTOP_TUI_VIEW_IRQ_IRQ_VIEW_H

#include <stdbool.h>

struct irq_source;
struct opening;

/* For struct view's open(), for a source of interrupts; false: out of memory, nothing is opened. */

/* irq_open_source - the view of one source: its CPUs, its victims, its durations. */
bool irq_open_source(const struct irq_source *source, struct opening *o);

/* irq_open_flame - a flamegraph of the samples in interrupts of a source, or of all sources (NULL). */
bool irq_open_flame(const struct irq_source *source, struct opening *o);

#endif
