/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_TERM_PAINT_H
#define SYSTOP_TUI_TERM_PAINT_H

#include <curses.h>
#include <stdbool.h>

#include "tui/term/theme.h"

/* A window of any size to draw on: the screen, or a pad in a test. */
struct paint {
	WINDOW *win;
	int width, height;
	bool unicode; /* else ASCII only */
	attr_t roles[ROLE_COUNT];
	int shift;    /* added to every line, as drawings can be longer than the window; */
	int from, to; /* only these lines of the window are drawn on */
};

/* paint_init - a paint for a whole window of this size, in plain looks. */
void paint_init(struct paint *p, WINDOW *win, int width, int height, bool unicode);

/* paint_theme - converts the theme's looks to attributes of this terminal, with its nearest colours. @color: use
 * colours if the terminal has any */
void paint_theme(struct paint *p, const struct theme *t, bool color);

/*
 * paint_text - draws safe text (checked by text_safe()) at a cell, cut at @width cells or the window's edge; characters
 * outside ASCII become '?' where only ASCII is possible. Returns the column after it.
 */
int paint_text(const struct paint *p, int y, int x, int width, enum role role, const char *text);

/* paint_repeated - draws a mark of one cell @count times, at most up to the window's edge: much faster than as text. Returns the
 * column after it. */
int paint_repeated(const struct paint *p, int y, int x, int count, enum role role, const char *mark);

/* paint_format - as paint_text(), up to the window's edge, with a formatted text. */
int paint_format(const struct paint *p, int y, int x, enum role role, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* paint_wrapped - draws words on as many lines as needed, each from column @x on. Returns the next line. */
int paint_wrapped(const struct paint *p, int y, int x, const char *text);

/* paint_eighths - one cell, filled from the bottom to @eighths / 8: part of a small chart. */
int paint_eighths(const struct paint *p, int y, int x, enum role role, int eighths);

/* paint_clear - blanks from @x to the end of the line.
 * paint_clear_lines - blanks lines [y, end). */
void paint_clear(const struct paint *p, int y, int x);
void paint_clear_lines(const struct paint *p, int y, int end);

#endif
