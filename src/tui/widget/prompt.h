/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_PROMPT_H
#define SYSTOP_TUI_WIDGET_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

struct paint;

/* A line of text being typed. */
struct prompt {
	const char *title; /* "/", NULL: none is open */
	char text[256];    /* UTF-8 */
	size_t len, cursor; /* bytes */
	char error[128];   /* what is wrong with it, "": nothing */
	int error_column;  /* cells into the text */
};

enum prompt_verdict { PROMPT_TYPING, PROMPT_DONE, PROMPT_CANCELLED };

void prompt_open(struct prompt *p, const char *title, const char *text);

/* prompt_key - a key as curses gives it: a KEY_ code if @is_code, else a character. */
enum prompt_verdict prompt_key(struct prompt *p, wint_t key, bool is_code);

/* prompt_draw - in the two lines from @y on. @status: stands in the second one if nothing is wrong. */
void prompt_draw(const struct prompt *p, const struct paint *paint, int y, const char *status);

#endif
