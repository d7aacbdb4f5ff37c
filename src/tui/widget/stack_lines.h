/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_STACK_LINES_H
#define SYSTOP_TUI_WIDGET_STACK_LINES_H

struct paint;
struct settings;
struct source;
struct stack;

/* stack_lines - draws the functions of both stacks (NULL: none) on lines [y, end), innermost first: "(kernel)
 * [user] <JIT>". */
void stack_lines(const struct paint *p, int y, int end, const struct source *source, const struct settings *settings,
		 const struct stack *kernel, const struct stack *user);

#endif
