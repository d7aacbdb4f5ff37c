/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_PROMPT_H
#define SYSTOP_TUI_WIDGET_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "tui/term/theme.h"

struct paint;

/* Room for its text, with the NUL. */
#define PROMPT_SIZE 256

/* A line of text input. */
struct prompt {
	const char *title; /* "/", NULL: no prompt is open */
	char text[PROMPT_SIZE]; /* UTF-8 */
	size_t len, cursor; /* bytes */
	bool replaced;     /* the text, by a character that is typed first */
	char error[128];   /* the error in the text, "": none */
	int error_column;  /* in cells from the start of the text */
};

enum prompt_verdict { PROMPT_TYPING, PROMPT_DONE, PROMPT_CANCELLED };

void prompt_open(struct prompt *p, const char *title, const char *text);

/* prompt_key - a key as curses gives it: a KEY_ code if @is_code, else a character. */
enum prompt_verdict prompt_key(struct prompt *p, wint_t key, bool is_code);

/* prompt_closes - whether the key closes any prompt: Esc, ^C, ^G. */
bool prompt_closes(wint_t key, bool is_code);

/* prompt_draw - on two lines from @y on. @below: the second one, if there is no error. */
void prompt_draw(const struct prompt *p, const struct paint *paint, int y, enum role role, const char *below);

#endif
