/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/columns.h"

#include <stdio.h>
#include <string.h>

#include "model/tick.h"
#include "tui/bar.h"
#include "tui/paint.h"
#include "util/format.h"
#include "util/text.h"

#define NUMBER_WIDTH 7 /* pid_max has at most as many digits */
#define STATE_AT 9     /* mark, number, blank, state letter */
#define NAME_AT 11
#define NAME_FROM 60   /* below this width there is no room for the cgroup */
#define COMM_MIN 10
#define COMM_MAX 16    /* of the kernel's names, unless escaped */

static uint64_t row_number(const struct row *r)
{
	switch (r->kind) {
	case ROW_THREAD:
		return r->thread->tid;
	case ROW_PROCESS:
		return r->process->tgid;
	default:
		return 0; /* the tie, by path, decides */
	}
}

bool sorting_before(const struct row *a, const struct row *b, const void *arg)
{
	const struct sorting *s = arg;
	uint64_t va, vb;

	if (s->by == SORT_NUMBER) {
		va = row_number(b); /* numbers: smallest first */
		vb = row_number(a);
	} else {
		va = row_value(a, s->by);
		vb = row_value(b, s->by);
	}
	if (va == VALUE_NA || vb == VALUE_NA)
		return va != VALUE_NA && vb == VALUE_NA;
	return s->inverted ? va < vb : va > vb;
}

/* Takes the fields into the remaining width, most important first. */
static int take_fields(struct columns *c, int width, const struct sorting *sorting)
{
	int used = 0;

	memset(c->field, 0, sizeof(c->field));
	if (sorting->by != SORT_NUMBER) {
		c->field[sorting->by] = 1;
		used = fields[sorting->by].width + 1;
	}
	for (int drop = 1; drop < 10; drop++) {
		for (int f = 0; f < FIELD_COUNT; f++) {
			int wide = fields[f].width + 1;

			if (fields[f].drop != drop || c->field[f])
				continue;
			if (used + wide > width)
				return used;
			c->field[f] = 1;
			used += wide;
		}
	}
	return used;
}

void columns_place(struct columns *c, int width, bool tree, const struct sorting *sorting)
{
	bool narrow = width < NAME_FROM;
	int left, at, extra;

	c->tree = tree;
	c->name_width = tree ? (narrow ? 16 : 26) : narrow ? 0 : 13;
	c->bar_width = narrow ? 8 : 14;
	c->comm_width = tree ? 0 : COMM_MIN;
	left = width - NAME_AT - c->bar_width - (c->name_width ? c->name_width + 1 : 0) -
	       (c->comm_width ? c->comm_width + 1 : 0);
	extra = left - take_fields(c, left, sorting);

	/* What remains goes to the names first, then to the bar. */
	for (; extra > 0; extra--) {
		if (c->comm_width && c->comm_width < COMM_MAX)
			c->comm_width++;
		else if (c->name_width && c->name_width < (tree ? 60 : 36) &&
			 c->name_width < c->bar_width + (tree ? 20 : 0))
			c->name_width++;
		else if (c->bar_width < 60)
			c->bar_width++;
		else
			break;
	}
	at = tree ? 1 : NAME_AT;
	c->name = at;
	at += c->name_width ? c->name_width + 1 : 0;
	if (tree)
		at += NUMBER_WIDTH + 1;
	c->bar = at;
	at += c->bar_width;
	for (int f = 0; f < FIELD_COUNT; f++) {
		if (!c->field[f])
			continue;
		c->field[f] = at + 1;
		at += fields[f].width + 1;
	}
	c->comm = at + 1;
}

int columns_next(const struct columns *c, const struct sorting *sorting, int direction)
{
	for (int n = 1; n <= FIELD_COUNT + 1; n++) {
		int by = (sorting->by + direction * n + (FIELD_COUNT + 1) * 2) % (FIELD_COUNT + 1);

		if (by == SORT_NUMBER || c->field[by])
			return by;
	}
	return sorting->by;
}

static void title(const struct paint *p, int y, int x, int width, const char *text, bool right,
		  const struct sorting *sorting, int by)
{
	bool sorted = sorting->by == by;
	int len = strlen(text), pad = right ? width - len : 0;
	char marked[32];

	/* The mark stands where there is room for it: behind the title if it is left, else before. */
	if (sorted && len < width) {
		const char *mark = (by == SORT_NUMBER) != sorting->inverted ? "^" : "v";

		snprintf(marked, sizeof(marked), "%s%s", text, mark);
		text = marked;
		pad -= right;
	}
	paint_text(p, y, x + (pad > 0 ? pad : 0), width, sorted ? ROLE_SORTED : ROLE_TITLE, text);
}

void columns_titles(const struct columns *c, const struct paint *p, int y, const char *number,
		    const struct tick *t, const struct sorting *sorting)
{
	char bar[32];

	paint_clear(p, y, 0);
	if (c->tree) {
		title(p, y, c->name, c->name_width, "CGROUP", false, sorting, SORT_NUMBER);
		title(p, y, c->bar - NUMBER_WIDTH - 1, NUMBER_WIDTH, "THREADS", true, sorting, -1);
	} else {
		title(p, y, 1, NUMBER_WIDTH, number, true, sorting, SORT_NUMBER);
		title(p, y, STATE_AT, 1, "S", false, sorting, -1);
		title(p, y, c->name, c->name_width, "CGROUP", false, sorting, -1);
		title(p, y, c->comm, c->comm_width, "COMM", false, sorting, -1);
	}
	snprintf(bar, sizeof(bar), "TIME of %.3gs", t->interval_ns / 1e9);
	title(p, y, c->bar, c->bar_width, bar, false, sorting, -1);
	for (int f = 0; f < FIELD_COUNT; f++)
		if (c->field[f])
			title(p, y, c->field[f], fields[f].width, fields[f].title, true, sorting, f);
}

static int safe_elided(const struct paint *p, int y, int x, int width, enum role role,
		       const char *raw, size_t len)
{
	char safe[4096], elided[512];

	text_safe(safe, sizeof(safe), raw, len);
	text_elide(elided, sizeof(elided), safe, width);
	return paint_text(p, y, x, width, role, elided);
}

static const char *row_comm(const struct row *r)
{
	return r->kind == ROW_THREAD ? r->thread->comm : r->process->comm;
}

void columns_row(const struct columns *c, const struct paint *p, int y, const struct row *r,
		 const struct tick *t, bool selected, const char *name)
{
	enum role role = selected ? ROLE_SELECTED : ROLE_TEXT;

	paint_clear(p, y, 0);
	if (selected) /* the whole line, so that it can be found at a glance */
		paint_format(p, y, 0, role, ">%*s", p->width - 1, "");
	if (c->tree) {
		safe_elided(p, y, c->name, c->name_width, role, name, strlen(name));
		paint_format(p, y, c->bar - NUMBER_WIDTH - 1, role, "%*u", NUMBER_WIDTH,
			     r->nr_threads);
	} else {
		paint_format(p, y, 1, role, "%*d %c", NUMBER_WIDTH, (int)row_number(r),
			     state_letters[r->state]);
		if (c->name_width)
			safe_elided(p, y, c->name, c->name_width, role, r->cgroup->path,
				    strlen(r->cgroup->path));
		safe_elided(p, y, c->comm, p->width - c->comm, role, row_comm(r), 16);
	}
	bar_draw(p, y, c->bar, c->bar_width, r->values);
	for (int f = 0; f < FIELD_COUNT; f++) {
		char value[16];

		if (!c->field[f])
			continue;
		format_value(value, sizeof(value), fields[f].unit, row_value(r, f), t->interval_ns);
		paint_format(p, y, c->field[f], role, "%*s", fields[f].width, value);
	}
}
