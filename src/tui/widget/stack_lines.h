/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_STACK_LINES_H
#define SYSTOP_TUI_WIDGET_STACK_LINES_H

struct paint;
struct settings;
struct source;
struct stack_sample;

/* stack_lines - draws the functions of both stacks of @s on lines [y, end), innermost first: "(kernel) [user] <JIT>
 * {mark where frames are missing}". */
void stack_lines(const struct paint *p, int y, int end, const struct source *source, const struct settings *settings,
		 const struct stack_sample *s);

#endif
