/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/prompt.h"

#include <curses.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "tui/term/paint.h"
#include "util/text.h"

void prompt_open(struct prompt *p, const char *title, const char *text)
{
	*p = (struct prompt){ .title = title };
	snprintf(p->text, sizeof(p->text), "%s", text);
	p->len = p->cursor = strlen(p->text);
}

static bool inside(char c)
{
	return (c & 0xc0) == 0x80; /* continuation byte */
}

static size_t before(const struct prompt *p, size_t at)
{
	while (at && inside(p->text[--at]))
		;
	return at;
}

static size_t after(const struct prompt *p, size_t at)
{
	while (at < p->len && inside(p->text[++at]))
		;
	return at;
}

/* Removes the bytes [from, to). */
static void cut(struct prompt *p, size_t from, size_t to)
{
	memmove(p->text + from, p->text + to, p->len - to + 1);
	p->len -= to - from;
	p->cursor = from;
}

static void cut_word(struct prompt *p)
{
	size_t from = p->cursor;

	while (from && p->text[from - 1] == ' ')
		from--;
	while (from && p->text[from - 1] != ' ')
		from--;
	cut(p, from, p->cursor);
}

static void type(struct prompt *p, wint_t key)
{
	char bytes[MB_LEN_MAX];
	int n = wctomb(bytes, key);

	if (n <= 0 || !iswprint(key) || p->len + n >= sizeof(p->text))
		return;
	memmove(p->text + p->cursor + n, p->text + p->cursor, p->len - p->cursor + 1);
	memcpy(p->text + p->cursor, bytes, n);
	p->len += n;
	p->cursor += n;
}

static void edit(struct prompt *p, wint_t key)
{
	switch (key) {
	case KEY_LEFT:
		p->cursor = before(p, p->cursor);
		break;
	case KEY_RIGHT:
		p->cursor = after(p, p->cursor);
		break;
	case KEY_HOME:
	case 'A' & 0x1f:
		p->cursor = 0;
		break;
	case KEY_END:
	case 'E' & 0x1f:
		p->cursor = p->len;
		break;
	case KEY_DC:
	case 'D' & 0x1f:
		cut(p, p->cursor, after(p, p->cursor));
		break;
	case KEY_BACKSPACE:
	case 127:
	case '\b':
		cut(p, before(p, p->cursor), p->cursor);
		break;
	case 'U' & 0x1f:
		cut(p, 0, p->cursor);
		break;
	case 'K' & 0x1f:
		cut(p, p->cursor, p->len);
		break;
	case 'W' & 0x1f:
		cut_word(p);
		break;
	default:
		break;
	}
}

enum prompt_verdict prompt_key(struct prompt *p, wint_t key, bool is_code)
{
	bool empty = !p->len, erases = is_code ? key == KEY_BACKSPACE : key == 127 || key == '\b';

	*p->error = '\0';
	if (!is_code && (key == '\n' || key == '\r'))
		return PROMPT_DONE;
	if (is_code && key == KEY_ENTER)
		return PROMPT_DONE;
	if (!is_code && (key == 27 || key == ('C' & 0x1f) || key == ('G' & 0x1f)))
		return PROMPT_CANCELLED;
	if (!is_code && key >= ' ' && key != 127)
		type(p, key);
	else
		edit(p, key);
	/* Like less and vim: Backspace in an empty prompt leaves it. */
	return empty && erases ? PROMPT_CANCELLED : PROMPT_TYPING;
}

void prompt_draw(const struct prompt *p, const struct paint *paint, int y, const char *status)
{
	char left[sizeof(p->text)];
	int x = paint_text(paint, y, 0, paint->width, ROLE_PROMPT, p->title), cursor;

	snprintf(left, sizeof(left), "%.*s", (int)p->cursor, p->text);
	cursor = x + text_width(left);
	paint_clear(paint, y, x);
	paint_clear(paint, y + 1, 0);
	paint_text(paint, y, x, paint->width, ROLE_PROMPT, p->text);
	/* The cursor is drawn: the terminal's own stays hidden. */
	snprintf(left, sizeof(left), "%.*s", (int)(p->cursor < p->len ? after(p, p->cursor) - p->cursor : 1),
		 p->cursor < p->len ? p->text + p->cursor : " ");
	paint_text(paint, y, cursor, 2, ROLE_SELECTED, left);
	if (*p->error) {
		int at = x + p->error_column, room = paint->width - (int)strlen(p->error) - 2;

		if (at > room) /* the message is left of the mark if it does not fit at its right */
			paint_format(paint, y + 1, 0, ROLE_ALERT, "%s at column %d", p->error,
				     p->error_column + 1);
		else
			paint_format(paint, y + 1, at, ROLE_ALERT, "^ %s", p->error);
	} else {
		paint_text(paint, y + 1, 0, paint->width, ROLE_DIM, status);
	}
}
