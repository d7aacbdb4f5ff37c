/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_STACK_PANE_H
#define SYSTOP_TUI_WIDGET_STACK_PANE_H

struct stack_sample;
struct view_context;
struct wakers;

/* stack_pane - draws on lines [y, bottom) a title, the functions of both stacks of @s, innermost first, as "(kernel)
 * [user] <JIT> {mark where frames are missing}", and who woke the thread. */
void stack_pane(const struct view_context *c, int y, int bottom, const char *title, const struct stack_sample *s,
		const struct wakers *w);

#endif
