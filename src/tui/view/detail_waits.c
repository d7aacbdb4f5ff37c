/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For a thread, process or cgroup: what ran while it waited for a CPU, and what woke it. */

#include "tui/screen/host.h"
#include "tui/term/paint.h"
#include "tui/view/detail.h"
#include "util/format.h"

#define SHOWN 8
#define BEFORE_NAME 36 /* cells of the numbers before a name */

int detail_behind(const struct detail *d, const struct paint *p, int y)
{
	const struct pairs *pairs = d->pairs;

	paint_format(p, y++, 0, ROLE_TITLE, "WAITED %s for a CPU in these refreshes, in waits of %s or more:%s",
		     NS_TEXT(pairs->ns), NS_TEXT(d->context->host->wait_ns), pairs->nr ? "" : " none");
	for (size_t i = 0; i < pairs->nr && i < SHOWN; i++) {
		const struct pair *at = &pairs->at[i];
		char name[512];

		pair_name(at, p->width - BEFORE_NAME, name, sizeof(name));
		paint_format(p, y++, 0, ROLE_TEXT, "%5.1f%% %7s %6s times  %s%s", 100.0 * at->ns / pairs->ns, NS_TEXT(at->ns),
			     COUNT_TEXT(at->count), at->kind == WAIT_BEHIND || at->kind == WAIT_SEVERAL ? "behind " : "", name);
	}
	return y;
}

int detail_wakers(const struct detail *d, const struct paint *p, int y)
{
	const struct tick *t = d->context->tick;
	const struct wakers *w = d->wakers;

	if (!w->nr)
		return y;
	paint_text(p, y++, 0, p->width, ROLE_TITLE,
		   t->timers_unseen ? "WOKEN BY, in these refreshes (for a timer: the interrupted thread)"
				    : "WOKEN BY, in these refreshes");
	for (size_t i = 0; i < w->nr && i < SHOWN; i++) {
		char name[160];

		waker_name(&w->at[i], t, &d->context->host->source, name, sizeof(name));
		paint_format(p, y++, 0, ROLE_TEXT, "%5.1f%% %7s times: %s", 100.0 * w->at[i].count / w->count,
			     COUNT_TEXT(w->at[i].count), name);
	}
	return y;
}
