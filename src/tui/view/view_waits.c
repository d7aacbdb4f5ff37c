/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who waited for a CPU, and who ran instead, in the refreshes that are remembered. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/pairs.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "util/format.h"
#include "util/text.h"

struct waits_view {
	struct pairs pairs;
	uint64_t span_ns;          /* of the refreshes they are of */
	size_t cursor, top;
	uint64_t selected;         /* key of the selected pair: it stays there while others pass it, */
	bool moved;                /* once the user has moved it */
};

/* Where the selected pair is now. */
static void find_cursor(struct waits_view *s, size_t height)
{
	for (size_t i = 0; s->moved && i < s->pairs.nr; i++) {
		if (s->pairs.at[i].key == s->selected) {
			s->cursor = i;
			break;
		}
	}
	if (!s->moved)
		s->cursor = 0;
	if (s->cursor >= s->pairs.nr)
		s->cursor = s->pairs.nr ? s->pairs.nr - 1 : 0;
	if (s->cursor < s->top)
		s->top = s->cursor;
	if (s->cursor >= s->top + height)
		s->top = s->cursor - height + 1;
	if (s->top && s->top + height > s->pairs.nr)
		s->top = s->pairs.nr > height ? s->pairs.nr - height : 0;
}

static size_t lines_of(const struct view_context *c)
{
	return c->height > 2 ? c->height - 1 : 1;
}

static uint64_t span_of(const struct tick *t)
{
	uint64_t span = t->interval_ns;
	const struct tick *head;

	for (uint64_t back = 1; back < HISTORY_TICKS && back < t->seq && (head = tick_head(t, t->seq - back)); back++)
		span += head->interval_ns;
	return span;
}

static int waits_update(void *state, const struct view_context *c)
{
	struct waits_view *s = state;
	int err;

	pairs_fini(&s->pairs);
	err = pairs_add(&s->pairs, c->tick, HISTORY_TICKS, true, NULL, NULL);
	pairs_sort(&s->pairs);
	s->span_ns = span_of(c->tick);
	find_cursor(s, lines_of(c));
	return err;
}

/* As wide as half of what the numbers leave. */
static int name_width(const struct view_context *c)
{
	int width = (c->paint->width - 26) / 2;

	return width > 8 ? width : 8;
}

static void victim_name(const struct pair *p, char *buf, size_t size)
{
	char name[80], path[1024];

	text_safe(name, sizeof(name), p->victim->process->comm, sizeof(p->victim->process->comm));
	text_safe(path, sizeof(path), p->victim->cgroup->path, strlen(p->victim->cgroup->path));
	snprintf(buf, size, "%s %d%s%s", name, p->victim->tgid, strcmp(path, "/") ? " in " : "",
		 strcmp(path, "/") ? path : "");
}

/* Cut at its end: what it is called stands first. */
static void fit(char *buf, size_t size, const char *text, int width)
{
	int used = text_cut(buf, size, text, width);
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%*s", width - used, "");
}

static void draw_pair(const struct waits_view *s, const struct view_context *c, size_t i, int y)
{
	const struct pair *p = &s->pairs.at[i];
	char victim[1200], by[1200], cut[2][512], share[16], ns[16], count[16], line[1400];

	victim_name(p, victim, sizeof(victim));
	pair_name(p, by, sizeof(by));
	fit(cut[0], sizeof(cut[0]), victim, name_width(c));
	fit(cut[1], sizeof(cut[1]), by, name_width(c));
	format_value(ns, sizeof(ns), UNIT_NS, p->ns, 0);
	format_value(share, sizeof(share), UNIT_SHARE, p->ns, s->span_ns);
	format_value(count, sizeof(count), UNIT_COUNT, p->count, 0);
	snprintf(line, sizeof(line), "%c%7s %5s %6s  %s  %s", i == s->cursor ? '>' : ' ', ns, share, count, cut[0], cut[1]);
	paint_text(c->paint, y, 0, c->paint->width, i == s->cursor ? ROLE_SELECTED : ROLE_TEXT, line);
}

static void waits_draw(void *state, const struct view_context *c)
{
	struct waits_view *s = state;
	int y = c->top;
	char least[16];

	format_value(least, sizeof(least), UNIT_NS, c->host->wait_ns, 0);
	for (int line = c->top; line < c->top + c->height; line++)
		paint_clear(c->paint, line, 0);
	paint_format(c->paint, y++, 0, ROLE_TITLE, " %7s %5s %6s  %-*s  %-*s", "WAITED", "%", "WAITS", name_width(c), "WHO",
		     c->paint->width, "BEHIND WHOM, OR FOR WHAT");
	if (!s->pairs.nr)
		paint_format(c->paint, y + 1, 1, ROLE_TEXT, "nobody waited %s or more for a CPU in these refreshes", least);
	for (size_t i = s->top; i < s->pairs.nr && y < c->top + c->height; i++)
		draw_pair(s, c, i, y++);
}

static void move_to(struct waits_view *s, size_t to)
{
	s->cursor = to < s->pairs.nr ? to : s->pairs.nr ? s->pairs.nr - 1 : 0;
	s->moved = s->cursor != 0;
	if (s->pairs.nr)
		s->selected = s->pairs.at[s->cursor].key;
}

static bool waits_act(void *state, enum action a, const struct view_context *c)
{
	struct waits_view *s = state;
	size_t page = lines_of(c), by;

	switch (a) {
	case ACTION_DOWN:
	case ACTION_HALF_DOWN:
	case ACTION_PAGE_DOWN:
		by = a == ACTION_DOWN ? 1 : a == ACTION_PAGE_DOWN ? page : page / 2;
		move_to(s, s->cursor + by);
		return true;
	case ACTION_UP:
	case ACTION_HALF_UP:
	case ACTION_PAGE_UP:
		by = a == ACTION_UP ? 1 : a == ACTION_PAGE_UP ? page : page / 2;
		move_to(s, s->cursor > by ? s->cursor - by : 0);
		return true;
	case ACTION_FIRST:
		move_to(s, 0);
		return true;
	case ACTION_LAST:
		move_to(s, s->pairs.nr);
		return true;
	default:
		return false;
	}
}

static bool waits_click(void *state, const struct view_context *c, int y, int x)
{
	struct waits_view *s = state;
	size_t at = s->top + y - c->top - 1, before = s->cursor;

	(void)x;
	if (y <= c->top || at >= s->pairs.nr)
		return false;
	move_to(s, at);
	return at == before;
}

/* Everything about who waited; where its waits come from, as a flamegraph. */
static bool waits_open(void *state, enum action a, const struct view_context *c, struct opening *o)
{
	const struct waits_view *s = state;
	const struct pair *p = s->cursor < s->pairs.nr ? &s->pairs.at[s->cursor] : NULL;
	struct row row;

	(void)c;
	if (!p || (a != ACTION_ENTER && a != ACTION_FLAME))
		return a == ACTION_ENTER;
	row = (struct row){ .kind = ROW_PROCESS, .number = p->victim->tgid, .process = p->victim->process,
			    .cgroup = p->victim->process->cgroup };
	o->view = a == ACTION_ENTER ? VIEW_DETAIL : VIEW_FLAME;
	o->within = subject_of(&row);
	subject_name(&o->within, &row, o->name, sizeof(o->name));
	if (a == ACTION_FLAME)
		o->init = view_flame_runq;
	return true;
}

static void waits_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	const struct waits_view *s = state;
	char sum[16], span[16], least[16];

	format_value(least, sizeof(least), UNIT_NS, c->host->wait_ns, 0);
	format_value(sum, sizeof(sum), UNIT_NS, s->pairs.ns, 0);
	format_value(span, sizeof(span), UNIT_NS, s->span_ns, 0);
	snprintf(buf, size, "%zu pair%s, waits of %s and more: %s in the %s that are remembered", s->pairs.nr, s->pairs.nr == 1 ? "" : "s", least, sum,
		 span);
}

static void waits_fini(void *state)
{
	pairs_fini(&((struct waits_view *)state)->pairs);
}

const struct view view_waits = {
	.legend = "%: of that time",
	.state_size = sizeof(struct waits_view),
	.update = waits_update,
	.draw = waits_draw,
	.act = waits_act,
	.click = waits_click,
	.open = waits_open,
	.status = waits_status,
	.fini = waits_fini,
};
