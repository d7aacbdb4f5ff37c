/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/bar.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "model/tick.h"
#include "tui/term/paint.h"

/* The parts from left to right. Running parts are solid, waiting ones are not. */
static const struct part {
	enum field_id field;
	enum role role;
	const char *ascii, *unicode, *name;
} parts[] = {
	{ FIELD_USER, ROLE_USER, "#", "█", "user" },
	{ FIELD_KERNEL, ROLE_KERNEL, "=", "▓", "kernel" },
	{ FIELD_IRQ, ROLE_IRQ, "!", "!", "irq" },
	{ FIELD_STEAL, ROLE_STEAL, "%", "%", "steal" },
	{ FIELD_RUNQ, ROLE_RUNQ, "~", "~", "runq" },
	{ FIELD_D, ROLE_D, "D", "D", "state" },
	{ FIELD_SLEEP, ROLE_SLEEP, ".", "·", "sleep" },
	{ FIELD_STOPPED, ROLE_STOPPED, "T", "T", "stop" },
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
		sizes[i] = v->v[parts[i].field] == VALUE_NA ? 0 : v->v[parts[i].field];
	if (v->v[FIELD_USER] == VALUE_NA) { /* how it splits is not known yet */
		sizes[0] = v->v[FIELD_RUN];
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
	for (int i = 0; i < NR_PARTS; i++) {
		const char *glyph = p->unicode ? parts[i].unicode : parts[i].ascii;
		char text[512];
		size_t used = 0;

		while (cells[i] && used + strlen(glyph) < sizeof(text)) {
			used += snprintf(text + used, sizeof(text) - used, "%s", glyph);
			cells[i]--;
		}
		text[used] = '\0';
		x = paint_text(p, y, x, p->width, parts[i].role, text);
	}
}

void bar_chart(const struct paint *p, int y, int x, int width, int height, const struct values *v,
	       int nr, unsigned long long whole)
{
	for (int column = 0; column < width; column++) {
		const struct values *at = v + nr - width + column;
		unsigned long long sizes[NR_PARTS + 1], sum = 0;
		int cells[NR_PARTS + 1], line = height;

		if (nr < width - column || at->v[FIELD_ALIVE] == VALUE_NA || !at->v[FIELD_ALIVE])
			continue;
		part_sizes(at, sizes);
		for (int i = 0; i < NR_PARTS; i++) {
			if (whole && (parts[i].field == FIELD_SLEEP || parts[i].field == FIELD_STOPPED))
				sizes[i] = 0;
			sum += sizes[i];
		}
		sizes[NR_PARTS] = whole > sum ? whole - sum : 0;
		bar_cells(sizes, NR_PARTS + 1, height, cells);
		for (int i = 0; i < NR_PARTS; i++)
			for (int n = 0; n < cells[i]; n++)
				paint_text(p, y + --line, x + column, 1, parts[i].role,
					   p->unicode ? parts[i].unicode : parts[i].ascii);
	}
}

void bar_legend(const struct paint *p, int y, int x)
{
	for (int i = 0; i < NR_PARTS && x + 2 + (int)strlen(parts[i].name) <= p->width; i++) {
		x = paint_text(p, y, x, 1, parts[i].role,
			       p->unicode ? parts[i].unicode : parts[i].ascii);
		x = paint_format(p, y, x + 1, ROLE_TEXT, "%s ", parts[i].name);
	}
}
