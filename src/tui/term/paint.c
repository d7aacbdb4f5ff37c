/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/term/paint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>

#include "util/text.h"

/* The default palette of most terminals, to find the nearest of 8 or 16 colours. */
static const int palette[16] = {
	0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
};

/* Colour @n of the 256: the palette, a cube of 6 x 6 x 6, a ramp of grey. */
static int color_rgb(int n)
{
	static const int steps[] = { 0, 95, 135, 175, 215, 255 };
	int grey = 8 + 10 * (n - 232);

	if (n < 16)
		return palette[n];
	if (n >= 232)
		return grey << 16 | grey << 8 | grey;
	n -= 16;
	return steps[n / 36] << 16 | steps[n / 6 % 6] << 8 | steps[n % 6];
}

static int distance(int a, int b)
{
	int red = (a >> 16 & 255) - (b >> 16 & 255), green = (a >> 8 & 255) - (b >> 8 & 255);
	int blue = (a & 255) - (b & 255);

	return 2 * red * red + 4 * green * green + 3 * blue * blue;
}

/* The nearest of the first @nr colours. With 256 colours the first 16 are skipped: users can redefine them. */
static int nearest(int rgb, int nr)
{
	int best = nr > 16 ? 16 : 0;

	for (int i = best; i < nr; i++)
		if (distance(rgb, color_rgb(i)) < distance(rgb, color_rgb(best)))
			best = i;
	return best;
}

/* Whether both the terminal's description and COLORTERM announce 24-bit colours. */
static bool has_truecolor(void)
{
	const char *colorterm = getenv("COLORTERM");

	return colorterm && (!strcmp(colorterm, "truecolor") || !strcmp(colorterm, "24bit")) &&
	       tigetflag("RGB") > 0 && COLORS > 256;
}

static int terminal_color(int color)
{
	int nr = COLORS > 256 ? 256 : COLORS;

	if (color == THEME_DEFAULT)
		return -1;
	if (has_truecolor())
		return color & THEME_RGB ? color & 0xffffff : color_rgb(color);
	if (color & THEME_RGB)
		return nearest(color & 0xffffff, nr);
	if (color < nr)
		return color;
	return color < 16 ? color - 8 : nearest(color_rgb(color), nr); /* a bright colour, on a terminal with 8 */
}

void paint_init(struct paint *p, WINDOW *win, int width, int height, bool unicode)
{
	*p = (struct paint){ .win = win, .width = width, .height = height, .unicode = unicode,
			     .to = height };
}

void paint_theme(struct paint *p, const struct theme *t, bool color)
{
	for (int r = 0; r < ROLE_COUNT; r++) {
		const struct look *l = theme_look(t, r);

		p->roles[r] = l->attributes;
		if (!color || !has_colors() || (l->fg == THEME_DEFAULT && l->bg == THEME_DEFAULT))
			continue;
		if (init_extended_pair(r + 1, terminal_color(l->fg), terminal_color(l->bg)) == OK)
			p->roles[r] |= COLOR_PAIR(r + 1);
		if (COLORS == 8 && l->fg >= 8 && l->fg < 16) /* bold text is bright there, so bright black differs from black */
			p->roles[r] |= A_BOLD;
	}
}

/* Length of the character at @s in bytes. */
static int char_bytes(const char *s)
{
	unsigned char c = *s;

	return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

int paint_text(const struct paint *p, int y, int x, int width, enum role role, const char *text)
{
	char out[1024]; /* buffer for the window */
	size_t used = 0;

	if (width > p->width - x)
		width = p->width - x;
	y += p->shift;
	if (width <= 0 || y < p->from || y >= p->to)
		return x;
	wmove(p->win, y, x);
	wattrset(p->win, p->roles[role]);
	while (*text) {
		char one[8] = "";
		int bytes = char_bytes(text), cells;

		if (bytes > 1 && strnlen(text, bytes) < (size_t)bytes) /* the text was cut off within a character */
			break;
		memcpy(one, text, bytes);
		cells = *text >= ' ' && *text < 0x7f ? 1 : text_width(one); /* most text is ASCII */
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

int paint_repeated(const struct paint *p, int y, int x, int count, enum role role, const char *mark)
{
	attr_t look = p->roles[role];
	wchar_t wide[2] = L"";
	cchar_t cell;

	if (count > p->width - x)
		count = p->width - x;
	y += p->shift;
	if (count <= 0)
		return x;
	if (y >= p->from && y < p->to && mbtowc(wide, mark, MB_CUR_MAX) > 0 &&
	    setcchar(&cell, wide, look & ~A_COLOR, PAIR_NUMBER(look), NULL) == OK)
		mvwhline_set(p->win, y, x, &cell, count);
	return x + count;
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

int paint_wrapped(const struct paint *p, int y, int x, const char *text)
{
	char line[1024];

	while (*text) {
		int len = 0, next = 0;

		/* As many words as fit; a word that is too long for any line is cut. */
		do {
			len = next;
			next += strspn(text + next, " ");
			next += strcspn(text + next, " ");
			snprintf(line, sizeof(line), "%.*s", next, text);
		} while (text[len] && text_width(line) <= p->width - x);
		if (text[len] && !len)
			len = next;
		snprintf(line, sizeof(line), "%.*s", text[len] ? len : next, text);
		paint_text(p, y++, x, p->width, ROLE_TEXT, line);
		text += text[len] ? len : next;
		text += strspn(text, " ");
	}
	return y;
}

int paint_eighths(const struct paint *p, int y, int x, enum role role, int eighths)
{
	static const char *const ascii[] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };
	static const char *const unicode[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	int level = eighths < 0 ? 0 : eighths > 8 ? 8 : eighths;

	return paint_text(p, y, x, 1, role, (p->unicode ? unicode : ascii)[level]);
}

void paint_clear(const struct paint *p, int y, int x)
{
	y += p->shift;
	if (y < p->from || y >= p->to || x >= p->width)
		return;
	wattrset(p->win, A_NORMAL);
	wmove(p->win, y, x);
	wclrtoeol(p->win);
}

void paint_clear_lines(const struct paint *p, int y, int end)
{
	for (; y < end; y++)
		paint_clear(p, y, 0);
}
