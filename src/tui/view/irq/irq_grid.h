/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_IRQ_IRQ_GRID_H
#define SYSTOP_TUI_VIEW_IRQ_IRQ_GRID_H

struct paint;
struct tick;

/* Time that interrupts took on each CPU: a bar each, in as many columns as fit. */

/* irq_grid_lines - lines needed for all CPUs, without the title. */
int irq_grid_lines(const struct paint *p, const struct tick *t);

/* irq_grid_draw - a title that names the busiest CPU, and @lines of CPUs: the busiest ones if not all fit. Returns
 * the next line. */
int irq_grid_draw(const struct paint *p, int y, const struct tick *t, int lines);

#endif
