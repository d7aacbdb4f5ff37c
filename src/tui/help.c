/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/help.h"

#include "model/field.h"

#define KEYS_WIDTH 13

/* Draws line @line of the help at @y, or nothing behind its end. Returns whether there was one. */
static bool help_line(const struct paint *p, int y, int line)
{
	if (line == 0)
		return paint_text(p, y, 0, p->width, ROLE_SORTED, "Keys"), true;
	line--;
	if (line < ACTION_NONE) {
		paint_text(p, y, 1, KEYS_WIDTH, ROLE_TEXT, actions[line].keys);
		paint_text(p, y, KEYS_WIDTH + 2, p->width, ROLE_TEXT, actions[line].help);
		return true;
	}
	line -= ACTION_NONE;
	if (line == 0)
		return true;
	if (line == 1)
		return paint_text(p, y, 0, p->width, ROLE_SORTED, "Columns"), true;
	line -= 2;
	for (int f = 0; f < FIELD_COUNT; f++) {
		if (!fields[f].drop || line--)
			continue;
		paint_text(p, y, 1, KEYS_WIDTH, ROLE_TEXT, fields[f].title);
		paint_text(p, y, KEYS_WIDTH + 2, p->width, ROLE_TEXT, fields[f].help);
		return true;
	}
	return false;
}

void help_draw(struct help *h, const struct paint *p, int top, int height)
{
	h->height = height;
	for (int i = 0; i < height; i++) {
		paint_clear(p, top + i, 0);
		help_line(p, top + i, h->top + i);
	}
}

bool help_act(struct help *h, enum action a)
{
	int page = h->height > 1 ? h->height - 1 : 1, last = ACTION_NONE + FIELD_COUNT + 3 - page;

	switch (a) {
	case ACTION_DOWN:
		h->top++;
		break;
	case ACTION_UP:
		h->top--;
		break;
	case ACTION_PAGE_DOWN:
	case ACTION_PAUSE: /* Space pages, as in less */
		h->top += page;
		break;
	case ACTION_PAGE_UP:
		h->top -= page;
		break;
	case ACTION_FIRST:
		h->top = 0;
		break;
	case ACTION_LAST:
		h->top = last;
		break;
	default:
		return false;
	}
	if (h->top > last)
		h->top = last;
	if (h->top < 0)
		h->top = 0;
	return true;
}
