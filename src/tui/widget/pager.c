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

bool pager_end(struct pager *g, int lines)
{
	int last = lines > g->height ? lines - g->height : 0;
	bool past = g->at > last;

	g->lines = lines;
	if (past)
		g->at = last;
	return past;
}

bool pager_move(enum action a, int page, int last, int *at)
{
	switch (a) {
	case ACTION_DOWN:
	case ACTION_UP:
		*at += a == ACTION_DOWN ? 1 : -1;
		break;
	case ACTION_PAGE_DOWN:
	case ACTION_PAGE_UP:
		*at += a == ACTION_PAGE_DOWN ? page : -page;
		break;
	case ACTION_HALF_DOWN:
	case ACTION_HALF_UP:
		*at += a == ACTION_HALF_DOWN ? (page + 1) / 2 : -(page + 1) / 2;
		break;
	case ACTION_FIRST:
	case ACTION_LAST:
		*at = a == ACTION_FIRST ? 0 : last;
		break;
	default:
		return false;
	}
	*at = *at > last ? last : *at;
	*at = *at < 0 ? 0 : *at;
	return true;
}

bool pager_act(void *pager, enum action a, const struct view_context *c)
{
	struct pager *g = pager;

	(void)c;
	return pager_move(a, g->height > 1 ? g->height - 1 : 1, g->lines - g->height, &g->at);
}
