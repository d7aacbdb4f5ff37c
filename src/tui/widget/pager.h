/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_PAGER_H
#define SYSTOP_TUI_WIDGET_PAGER_H

#include <stdbool.h>

#include "tui/input/actions.h"
#include "tui/term/paint.h"

/* Text that can be longer than the lines there are for it. */
struct pager {
	int at, lines, height;
};

/* pager_begin - a paint whose line 0 is the first of the text, for lines [top, top + height) of
 * @p, which are blank then. pager_end - @lines have been drawn. */
struct paint pager_begin(struct pager *g, const struct paint *p, int top, int height);
void pager_end(struct pager *g, int lines);

/* pager_act - scrolls. Returns whether @a was such an action. */
bool pager_act(struct pager *g, enum action a);

#endif
