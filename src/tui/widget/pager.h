/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_PAGER_H
#define SYSTOP_TUI_WIDGET_PAGER_H

#include <stdbool.h>

#include "tui/input/actions.h"
#include "tui/term/paint.h"

struct view_context;

/* Text that can be longer than its lines on the screen. */
struct pager {
	int at, lines, height;
};

/* pager_begin - a paint whose line 0 is the first of the text, for lines [top, top + height) of @p, which it blanks.
 * pager_end - after drawing: the text has @lines lines. Returns whether it now ends above the page: the page
 * is then blank, and is drawn again from the last page on. */
struct paint pager_begin(struct pager *g, const struct paint *p, int top, int height);
bool pager_end(struct pager *g, int lines);

/* pager_move - moves the cursor or the first line between 0 and @last; a page has @page lines. Returns whether @a was
 * such an action.
 * pager_act - scrolls: for struct view, if the pager is the first member of the state; @c may be NULL. */
bool pager_move(enum action a, int page, int last, int *at);
bool pager_act(void *pager, enum action a, const struct view_context *c);

#endif
