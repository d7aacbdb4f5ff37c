/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <string.h>

#include "tui/term/paint.h"
#include "tui/view/detail.h"
#include "util/text.h"

/* Lines of a command line among the facts; a longer one has a pane with a line for each argument. */
#define LINES_MOST 3

/* Safe text of any bytes that are kept. */
#define SAFE_BYTES (4 * CMDLINE_MAX + 1)

/* Cells before the text. */
#define TITLE_CELLS 10

static const struct cmdline *cmdline_of(const struct detail *d)
{
	const struct cmdline *c = d->row->process ? cmdline_shown(d->row->process) : NULL;

	return c && c->len ? c : NULL;
}

/* Draws safe text on as many lines as it needs, at most @most. Returns the next line; @rest: what was not drawn. */
static int draw_lines(const struct paint *p, int y, const char *text, int most, const char **rest)
{
	char line[1024];

	for (; *text && most && p->width > TITLE_CELLS; most--) {
		text_cut(line, sizeof(line), text, p->width - TITLE_CELLS);
		if (!*line)
			break;
		paint_text(p, y++, TITLE_CELLS, p->width, ROLE_TEXT, line);
		text += strlen(line);
	}
	*rest = text;
	return y;
}

int detail_command(const struct detail *d, const struct paint *p, int y)
{
	const struct cmdline *c = cmdline_of(d);
	char words[CMDLINE_MAX + 1], safe[SAFE_BYTES];
	const char *rest;

	if (!c)
		return y;
	paint_format(p, y, 0, ROLE_DIM, "%-*s", TITLE_CELLS, "command");
	text_safe(safe, sizeof(safe), words, cmdline_words(c, words, sizeof(words)));
	y = draw_lines(p, y, safe, LINES_MOST, &rest);
	if (*rest || c->cut)
		paint_text(p, y++, TITLE_CELLS, p->width, ROLE_DIM, "(complete at the end of this page)");
	return y;
}

/* Whether the whole command line is among the facts. */
static bool is_short(const struct cmdline *c, int width)
{
	char words[CMDLINE_MAX + 1], safe[SAFE_BYTES];

	text_safe(safe, sizeof(safe), words, cmdline_words(c, words, sizeof(words)));
	return !c->cut && text_width(safe) <= LINES_MOST * (width - TITLE_CELLS);
}

int detail_arguments(const struct detail *d, const struct paint *p, int y)
{
	const struct cmdline *c = cmdline_of(d);
	char safe[SAFE_BYTES];
	const char *rest;
	size_t len;
	int nr = 0;

	if (!c || is_short(c, p->width))
		return y - 1; /* there is no pane */
	paint_text(p, y++, 0, p->width, ROLE_TITLE, "COMMAND, by argument");
	for (size_t at = 0; at < c->len; at += len + 1) {
		paint_format(p, y, 0, ROLE_DIM, "%*d  ", TITLE_CELLS - 2, nr++);
		len = strnlen(c->text + at, c->len - at);
		text_safe(safe, sizeof(safe), c->text + at, len);
		y = draw_lines(p, y, safe, CMDLINE_MAX, &rest);
		y += !*safe;
	}
	if (c->cut)
		paint_format(p, y++, TITLE_CELLS, ROLE_DIM, "and more: the first %d bytes are kept", CMDLINE_MAX);
	return y;
}
