/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/paint.h"

#include <stdarg.h>
#include <string.h>

#include "util/text.h"

/* Colours by meaning; every one is also told by a letter, a shade or a word. */
static const struct {
	short color; /* -1: the terminal's own */
	attr_t with_color, without;
} looks[ROLE_COUNT] = {
	[ROLE_TEXT] = { -1, A_NORMAL, A_NORMAL },
	[ROLE_DIM] = { -1, A_DIM, A_NORMAL },
	[ROLE_TITLE] = { -1, A_UNDERLINE, A_UNDERLINE },
	[ROLE_SORTED] = { -1, A_UNDERLINE | A_BOLD, A_UNDERLINE | A_BOLD },
	[ROLE_SELECTED] = { -1, A_REVERSE, A_REVERSE },
	[ROLE_ALERT] = { COLOR_RED, A_REVERSE, A_REVERSE },
	[ROLE_USER] = { COLOR_GREEN, A_NORMAL, A_NORMAL },
	[ROLE_KERNEL] = { COLOR_CYAN, A_NORMAL, A_NORMAL },
	[ROLE_RUNQ] = { COLOR_YELLOW, A_BOLD, A_BOLD },
	[ROLE_D] = { COLOR_RED, A_BOLD, A_BOLD },
	[ROLE_SLEEP] = { -1, A_DIM, A_NORMAL },
	[ROLE_STOPPED] = { COLOR_MAGENTA, A_NORMAL, A_NORMAL },
};

void paint_roles(struct paint *p, bool color)
{
	for (int r = 0; r < ROLE_COUNT; r++) {
		p->roles[r] = color ? looks[r].with_color : looks[r].without;
		if (!color || looks[r].color < 0)
			continue;
		init_pair(r + 1, looks[r].color, -1);
		p->roles[r] |= COLOR_PAIR(r + 1);
	}
}

/* The bytes of the character at @s. */
static int char_bytes(const char *s)
{
	unsigned char c = *s;

	return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

int paint_text(const struct paint *p, int y, int x, int width, enum role role, const char *text)
{
	char out[1024]; /* what goes to the window at once */
	size_t used = 0;

	if (width > p->width - x)
		width = p->width - x;
	if (width <= 0 || y < 0 || y >= p->height)
		return x;
	wmove(p->win, y, x);
	wattrset(p->win, p->roles[role]);
	while (*text) {
		char one[8] = "";
		int bytes = char_bytes(text), cells;

		memcpy(one, text, bytes);
		cells = text_width(one);
		if (cells > width)
			break;
		text += bytes;
		if (bytes > 1 && !p->unicode) {
			one[0] = '?';
			bytes = cells = !!cells;
		}
		if (used + bytes > sizeof(out)) {
			waddnstr(p->win, out, used);
			used = 0;
		}
		memcpy(out + used, one, bytes);
		used += bytes;
		width -= cells;
		x += cells;
	}
	waddnstr(p->win, out, used);
	wattrset(p->win, A_NORMAL);
	return x;
}

int paint_format(const struct paint *p, int y, int x, enum role role, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return paint_text(p, y, x, p->width, role, text);
}

void paint_clear(const struct paint *p, int y, int x)
{
	if (y < 0 || y >= p->height || x >= p->width)
		return;
	wattrset(p->win, A_NORMAL);
	wmove(p->win, y, x);
	wclrtoeol(p->win);
}
