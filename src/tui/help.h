/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_HELP_H
#define SYSTOP_TUI_HELP_H

#include "tui/actions.h"
#include "tui/paint.h"

/* The help: keys and columns, from their tables. */
struct help {
	int top, height;
};

/* help_draw - lines [top, top + height) of the paint. */
void help_draw(struct help *h, const struct paint *p, int top, int height);

/* help_act - scrolls. Returns whether @a was such an action. */
bool help_act(struct help *h, enum action a);

#endif
