/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/pager.h"

struct paint pager_begin(struct pager *g, const struct paint *p, int top, int height)
{
	struct paint page = *p;

	paint_clear_lines(p, top, top + height);
	g->height = height;
	page.shift = top - g->at;
	page.from = top;
	page.to = top + height < p->height ? top + height : p->height;
	return page;
}

void pager_end(struct pager *g, int lines)
{
	g->lines = lines;
}

bool pager_act(struct pager *g, enum action a)
{
	int page = g->height > 1 ? g->height - 1 : 1, last = g->lines - g->height;

	switch (a) {
	case ACTION_DOWN:
		g->at++;
		break;
	case ACTION_UP:
		g->at--;
		break;
	case ACTION_PAGE_DOWN:
		g->at += page;
		break;
	case ACTION_PAGE_UP:
		g->at -= page;
		break;
	case ACTION_HALF_DOWN:
		g->at += (page + 1) / 2;
		break;
	case ACTION_HALF_UP:
		g->at -= (page + 1) / 2;
		break;
	case ACTION_FIRST:
		g->at = 0;
		break;
	case ACTION_LAST:
		g->at = last;
		break;
	default:
		return false;
	}
	if (g->at > last)
		g->at = last;
	if (g->at < 0)
		g->at = 0;
	return true;
}
