/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_VIEW_IRQ_IRQ_GRID_H
#define SYSTOP_TUI_VIEW_IRQ_IRQ_GRID_H

struct paint;
struct tick;

/* What interrupts took of each CPU: a bar each, in as many columns as there is room for. */

/* irq_grid_lines - how many lines all CPUs take, without the title. */
int irq_grid_lines(const struct paint *p, const struct tick *t);

/* irq_grid_draw - a title that names the busiest CPU, and @lines of CPUs: the busiest where not all find room. Returns
 * the next line. */
int irq_grid_draw(const struct paint *p, int y, const struct tick *t, int lines);

#endif
