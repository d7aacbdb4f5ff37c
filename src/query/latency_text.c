/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts about a range of latencies and its contributors. */
#include <stdio.h>
#include <time.h>

#include "query/latency.h"
#include "util/format.h"
#include "util/text.h"

void latency_range_text(const struct latency_range *r, char *buf, size_t size)
{
	bool shortest = r->low <= hists[r->kind].first, longest = r->high >= hists[r->kind].last;
	const char *from = NS_TEXT(1ULL << r->low), *to = NS_TEXT(2ULL << r->high);

	if (shortest && longest)
		snprintf(buf, size, "of any length");
	else if (shortest || longest)
		snprintf(buf, size, "%c%s", shortest ? '<' : '>', shortest ? to : from);
	else
		snprintf(buf, size, "%s-%s", from, to);
}

/* Refreshes shorter than this have times in tenths of a second. */
#define TENTHS_NS 900000000

static void time_text(const struct tick *t, uint64_t before_ns, bool tenths, char buf[16])
{
	uint64_t ns = t->wall.tv_sec * 1000000000ULL + t->wall.tv_nsec - before_ns;
	time_t at = ns / 1000000000;
	struct tm tm;
	size_t used = strftime(buf, 16, "%H:%M:%S", localtime_r(&at, &tm));

	if (tenths)
		snprintf(buf + used, 16 - used, ".%d", (int)(ns % 1000000000 / 100000000));
}

void latency_time_text(const struct latency_range *r, const struct tick *any, char *buf, size_t size)
{
	const struct tick *first = tick_head(any, r->first), *last = tick_head(any, r->last);
	char from[16], to[16];
	bool tenths;

	snprintf(buf, size, "-");
	if (!first || !last)
		return;
	tenths = first->interval_ns < TENTHS_NS;
	time_text(first, first->interval_ns, tenths, from);
	time_text(last, 0, tenths, to);
	snprintf(buf, size, "%s-%s", from, to);
}

void latency_contributors_text(const struct latency_contributors *p, char *buf, size_t size)
{
	bool irq = latency_is_irq(p->range.kind);
	char name[80];

	snprintf(buf, size, "%s %s", COUNT_TEXT(p->all), hist_word(p->range.kind, p->all));
	if (p->all && !p->nr)
		text_add(buf, size, ", threads unknown");
	if (p->nr && p->count < p->all)
		text_add(buf, size, "; threads known for %s", COUNT_TEXT(p->count));
	if (p->nr)
		text_add(buf, size, ", %zu %s%s:", p->nr, irq ? "source" : "thread", p->nr == 1 ? "" : "s");
	for (size_t i = 0; i < p->nr && i < 4; i++) {
		if (p->at[i]->ns * 200 < p->ns) /* this one and all that follow would show as 0% */
			break;
		text_safe(name, sizeof(name), p->at[i]->life.comm, sizeof(p->at[i]->life.comm));
		text_add(buf, size, " %s %.0f%%", name, 100.0 * p->at[i]->ns / p->ns);
	}
}
