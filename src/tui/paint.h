/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_PAINT_H
#define SYSTOP_TUI_PAINT_H

#include <curses.h>
#include <stdbool.h>

/* What a piece of the screen means; paint_roles() turns it into attributes of this terminal. */
enum role {
	ROLE_TEXT,
	ROLE_DIM,
	ROLE_TITLE,    /* column titles */
	ROLE_SORTED,   /* the title sorted by */
	ROLE_SELECTED, /* the selected row */
	ROLE_ALERT,    /* loss, PAUSED */
	ROLE_USER,     /* states, in the bar */
	ROLE_KERNEL,
	ROLE_RUNQ,
	ROLE_D,
	ROLE_SLEEP,
	ROLE_STOPPED,
	ROLE_COUNT,
};

/* A window of any size to draw on: the screen, or a pad in a test. */
struct paint {
	WINDOW *win;
	int width, height;
	bool unicode; /* else ASCII only */
	attr_t roles[ROLE_COUNT];
};

/* paint_roles - sets the attributes; @color: the terminal has colours and they are wanted. */
void paint_roles(struct paint *p, bool color);

/*
 * paint_text - safe text (text_safe() passed it) at a cell, cut at @width cells or the window's
 * edge; what ASCII cannot show is '?' there. Returns the column behind it.
 */
int paint_text(const struct paint *p, int y, int x, int width, enum role role, const char *text);

/* paint_format - the same for text made here. */
int paint_format(const struct paint *p, int y, int x, enum role role, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* paint_clear - blanks from @x to the end of the line. */
void paint_clear(const struct paint *p, int y, int x);

#endif
