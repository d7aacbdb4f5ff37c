/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_STACK_LINES_H
#define SYSTOP_TUI_WIDGET_STACK_LINES_H

struct paint;
struct source;
struct stack_sample;

/* stack_lines - the functions of a stack on lines [y, end), innermost first: "(kernel) [user]". */
void stack_lines(const struct paint *p, int y, int end, const struct source *source, const struct stack_sample *sample);

#endif
