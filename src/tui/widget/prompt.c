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

bool prompt_closes(wint_t key, bool is_code)
{
	return !is_code && (key == 27 || key == ('C' & 0x1f) || key == ('G' & 0x1f));
}

enum prompt_verdict prompt_key(struct prompt *p, wint_t key, bool is_code)
{
	bool empty = !p->len, erases = is_code ? key == KEY_BACKSPACE : key == 127 || key == '\b';
	bool first = p->replaced, types = !is_code && key >= ' ' && key != 127;

	p->replaced = false;
	*p->error = '\0';
	if (!is_code && (key == '\n' || key == '\r'))
		return PROMPT_DONE;
	if (is_code && key == KEY_ENTER)
		return PROMPT_DONE;
	if (prompt_closes(key, is_code))
		return PROMPT_CANCELLED;
	if (types && first)
		cut(p, 0, p->len);
	if (types)
		type(p, key);
	else
		edit(p, key);
	/* Like less and vim: Backspace in an empty prompt leaves it. */
	return empty && erases ? PROMPT_CANCELLED : PROMPT_TYPING;
}

/* Cells of the bytes [from, to). */
static int cells_of(const struct prompt *p, size_t from, size_t to)
{
	char part[sizeof(p->text)];

	snprintf(part, sizeof(part), "%.*s", (int)(to - from), p->text + from);
	return text_width(part);
}

/* The first byte to draw, so that @room cells show the cursor, even on a wide character. */
static size_t first_shown(const struct prompt *p, int room)
{
	size_t from = 0;

	while (from < p->cursor && cells_of(p, from, p->cursor) > room - 2)
		from = after(p, from);
	return from;
}

/* @at: column of the mark */
static void draw_error(const struct prompt *p, const struct paint *paint, int y, int at)
{
	int room = paint->width - (int)strlen(p->error) - 2;

	if (at < 0 || at > room) /* the message is left of the mark if it does not fit at its right */
		paint_format(paint, y, 0, ROLE_ALERT, "column %d: %s", p->error_column + 1, p->error);
	else
		paint_format(paint, y, at, ROLE_ALERT, "^ %s", p->error);
}

void prompt_draw(const struct prompt *p, const struct paint *paint, int y, enum role role, const char *below)
{
	int x = paint_text(paint, y, 0, paint->width, ROLE_PROMPT, p->title);
	size_t from = first_shown(p, paint->width - x);
	char at[sizeof(p->text)];

	paint_clear(paint, y, x);
	paint_clear(paint, y + 1, 0);
	paint_text(paint, y, x, paint->width, ROLE_PROMPT, p->text + from);
	/* The cursor is drawn: the terminal's own stays hidden. */
	snprintf(at, sizeof(at), "%.*s", (int)(p->cursor < p->len ? after(p, p->cursor) - p->cursor : 1),
		 p->cursor < p->len ? p->text + p->cursor : " ");
	paint_text(paint, y, x + cells_of(p, from, p->cursor), 2, ROLE_SELECTED, at);
	if (*p->error)
		draw_error(p, paint, y + 1, x + p->error_column - cells_of(p, 0, from));
	else
		paint_text(paint, y + 1, 0, paint->width, role, below);
}
