/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/bar.h"

#include <stdint.h>
#include <string.h>

#include "model/tick.h"
#include "tui/term/paint.h"
#include "util/format.h"

/* The parts from left to right. Running parts look solid, waiting ones do not. */
static const struct part {
	enum metric_id metric;
	const char *ascii, *unicode, *name;
} parts[] = {
	{ METRIC_USER, "#", "█", "user" },
	{ METRIC_KERNEL, "=", "▓", "kernel" },
	{ METRIC_IRQ, "!", "!", "irq" },
	{ METRIC_STEAL, "%", "%", "steal" },
	{ METRIC_RUNQ, "~", "~", "runq" },
	{ METRIC_D, "D", "D", "state" },
	{ METRIC_SLEEP, ".", "·", "sleep" },
	{ METRIC_STOPPED, "T", "T", "stop" },
};

static const enum role roles[METRIC_COUNT] = {
#define _(id, stem, title, unit, kind, wall, weight, counter, role, ...) [METRIC_##id] = ROLE_##role,
	METRICS(_)
#undef _
};

#define NR_PARTS ((int)(sizeof(parts) / sizeof(parts[0])))

void bar_cells(const unsigned long long *sizes, int nr, int width, int *cells)
{
	double rest[16], sum = 0;
	int left = width;

	for (int i = 0; i < nr; i++)
		sum += sizes[i];
	for (int i = 0; i < nr; i++) {
		double share = sum ? sizes[i] / sum * width : 0;

		cells[i] = share;
		rest[i] = share - cells[i];
		left -= cells[i];
	}
	for (; sum && left > 0; left--) {
		int most = 0;

		for (int i = 1; i < nr; i++)
			if (rest[i] > rest[most])
				most = i;
		cells[most]++;
		rest[most] = -1;
	}
}

static void part_sizes(const struct values *v, unsigned long long *sizes)
{
	for (int i = 0; i < NR_PARTS; i++)
		sizes[i] = v->v[parts[i].metric] == VALUE_NA ? 0 : v->v[parts[i].metric];
	if (v->v[METRIC_USER] == VALUE_NA) { /* user and system time are not known apart yet */
		sizes[0] = v->v[METRIC_RUN];
		sizes[1] = 0;
	}
}

void bar_draw(const struct paint *p, int y, int x, int width, const struct values *v, unsigned long long whole)
{
	unsigned long long sizes[NR_PARTS + 1], sum = 0;
	int cells[NR_PARTS + 1];

	part_sizes(v, sizes);
	for (int i = 0; i < NR_PARTS; i++)
		sum += sizes[i];
	sizes[NR_PARTS] = whole > sum ? whole - sum : 0;
	bar_cells(sizes, NR_PARTS + 1, width, cells);
	for (int i = 0; i < NR_PARTS; i++)
		x = paint_repeated(p, y, x, cells[i], roles[parts[i].metric], p->unicode ? parts[i].unicode : parts[i].ascii);
}

void bar_chart(const struct paint *p, int y, int x, int width, int height, const struct values *v,
	       const unsigned long long *wholes)
{
	for (int column = 0; column < width; column++) {
		const struct values *at = v + column;
		unsigned long long whole = wholes ? wholes[column] : 0;
		unsigned long long sizes[NR_PARTS + 1], sum = 0;
		int cells[NR_PARTS + 1], line = height;

		if (!values_known(at) || !at->v[METRIC_ALIVE])
			continue;
		part_sizes(at, sizes);
		for (int i = 0; i < NR_PARTS; i++) {
			if (whole && (parts[i].metric == METRIC_SLEEP || parts[i].metric == METRIC_STOPPED))
				sizes[i] = 0;
			sum += sizes[i];
		}
		sizes[NR_PARTS] = whole > sum ? whole - sum : 0;
		bar_cells(sizes, NR_PARTS + 1, height, cells);
		for (int i = 0; i < NR_PARTS; i++)
			for (int n = 0; n < cells[i]; n++)
				paint_text(p, y + --line, x + column, 1, roles[parts[i].metric],
					   p->unicode ? parts[i].unicode : parts[i].ascii);
	}
}

void bar_legend(const struct paint *p, int y, int x)
{
	for (int i = 0; i < NR_PARTS && x + 2 + (int)strlen(parts[i].name) <= p->width; i++) {
		x = paint_text(p, y, x, 1, roles[parts[i].metric],
			       p->unicode ? parts[i].unicode : parts[i].ascii);
		x = paint_format(p, y, x + 1, ROLE_TEXT, "%s ", parts[i].name);
	}
}

int bar_hist(const struct paint *p, int y, const struct hist *h, enum hist_id id, enum role role)
{
	int low = hists[id].last, high = -1;
	uint32_t most = 0;

	for (int i = hists[id].first; i <= hists[id].last; i++) {
		if (!h->n[i])
			continue;
		low = i < low ? i : low;
		high = i;
		most = h->n[i] > most ? h->n[i] : most;
	}
	for (int i = low; i <= high; i++, y++) {
		bool shortest = i == hists[id].first;
		int cells = (uint64_t)(p->width - 18) * h->n[i] / most, x;

		x = paint_format(p, y, 0, ROLE_TEXT, "%s%6s %7s ", shortest ? "< " : "  ",
				 NS_TEXT((shortest ? 2ULL : 1ULL) << i), COUNT_TEXT(h->n[i]));
		paint_repeated(p, y, x, h->n[i] && !cells ? 1 : cells, role, p->unicode ? "█" : "#");
	}
	return y;
}
