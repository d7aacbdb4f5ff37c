/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/map.h"
#include "util/vec.h"

/* So many rows below the screen keep their places, too. */
#define HOLD_MARGIN 100

void list_fini(struct list *l)
{
	free(l->rows);
	free(l->held);
	*l = (struct list){ 0 };
}

void list_clear(struct list *l)
{
	l->nr = 0;
}

int list_add(struct list *l, const struct row *r)
{
	return VEC_PUSH(l->rows, l->nr, l->room, r);
}

bool list_held(const struct list *l, uint64_t now_ns)
{
	return l->nr_held && now_ns < l->held_until_ns;
}

const struct row *list_selected(const struct list *l)
{
	return l->cursor < l->nr ? l->rows[l->cursor] : NULL;
}

void list_select(struct list *l, const struct subject *s)
{
	l->sticks = s->kind != SUBJECT_ALL;
	l->selected = *s;
}

static void show_cursor(struct list *l)
{
	if (l->cursor >= l->nr)
		l->cursor = l->nr ? l->nr - 1 : 0;
	if (l->cursor < l->top)
		l->top = l->cursor;
	if (l->height && l->cursor >= l->top + l->height)
		l->top = l->cursor - l->height + 1;
	if (l->nr <= l->height)
		l->top = 0;
	else if (l->top > l->nr - l->height)
		l->top = l->nr - l->height;
}

/* Puts the held rows that are still there before all others, in their order. Returns how many. */
static size_t place_held(struct list *l)
{
	const struct row **found = calloc(l->nr_held + 1, sizeof(*found));
	struct map ranks = { 0 };
	size_t nr = 0, rest = 0;

	for (size_t i = 0; found && i < l->nr_held; i++)
		map_put(&ranks, subject_key(&l->held[i]), (void *)(uintptr_t)(i + 1));
	for (size_t i = 0; found && i < l->nr; i++) {
		struct subject s = subject_of(l->rows[i]);
		uintptr_t rank = (uintptr_t)map_get(&ranks, subject_key(&s));

		if (rank && !found[rank - 1])
			found[rank - 1] = l->rows[i];
		else
			l->rows[rest++] = l->rows[i];
	}
	if (found) {
		memmove(l->rows + l->nr - rest, l->rows, rest * sizeof(*l->rows));
		for (size_t i = 0; i < l->nr_held; i++)
			if (found[i])
				l->rows[nr++] = found[i];
	}
	free(found);
	map_fini(&ranks);
	return nr;
}

/* Puts rows[first .. first + count) in place. */
static void order(struct list *l, size_t first, size_t count, const struct list_order *o)
{
	size_t held = 0;

	if (!o->before || !l->nr) /* without rows there is no memory for them either */
		return;
	if (list_held(l, o->now_ns))
		held = place_held(l);
	if (first < held) {
		count -= held - first < count ? held - first : count;
		first = held;
	}
	rows_order(l->rows + held, l->nr - held, first - held, count, o->before, o->arg);
}

/* Where the selected thing is, or the cursor if it is gone. */
static size_t find_selected(struct list *l, const struct list_order *o)
{
	size_t i = 0;

	while (l->sticks && i < l->nr && !subject_is(&l->selected, l->rows[i]))
		i++;
	if (!l->sticks || i == l->nr)
		return l->cursor;
	if (!o->before)
		return i;
	if (list_held(l, o->now_ns)) {
		const struct row *r = l->rows[i];
		size_t held = place_held(l);

		for (i = 0; i < held; i++)
			if (l->rows[i] == r)
				return i;
		return held + rows_rank(l->rows + held, l->nr - held, r, o->before, o->arg);
	}
	return rows_rank(l->rows, l->nr, l->rows[i], o->before, o->arg);
}

void list_sort(struct list *l, size_t height, const struct list_order *o)
{
	size_t line = l->cursor - l->top;

	l->height = height;
	if (!list_held(l, o->now_ns))
		l->nr_held = 0;
	l->cursor = find_selected(l, o);
	if (l->follows && l->sticks)
		l->top = l->cursor > line ? l->cursor - line : 0;
	show_cursor(l);
	order(l, l->top, height, o);
}

/* From now on, rows stay where they are for a while. */
static void hold(struct list *l, const struct list_order *o)
{
	size_t count = l->top + l->height + HOLD_MARGIN;

	if (!o->before)
		return;
	if (count > l->nr)
		count = l->nr;
	if (!list_held(l, o->now_ns) || count > l->nr_held) {
		order(l, 0, count, o);
		l->nr_held = 0;
		for (size_t i = 0; i < count; i++)
			if (VEC_PUSH(l->held, l->nr_held, l->held_room, subject_of(l->rows[i])))
				break;
	}
	l->held_until_ns = o->now_ns + LIST_HOLD_NS;
}

/* Moves the cursor, and ties the selection to what is there; the first row lets go. */
static void move_to(struct list *l, size_t to, const struct list_order *o)
{
	const struct row *r;

	hold(l, o);
	l->cursor = to;
	l->follows = false;
	show_cursor(l);
	order(l, l->top, l->height, o);
	r = list_selected(l);
	l->sticks = r && l->cursor;
	if (l->sticks)
		l->selected = subject_of(r);
}

bool list_act(struct list *l, enum action a, const struct list_order *o)
{
	size_t page = l->height ? l->height : 1, half = page / 2 ? page / 2 : 1;
	size_t up = 0, down = 0;

	switch (a) {
	case ACTION_DOWN:
		down = 1;
		break;
	case ACTION_UP:
		up = 1;
		break;
	case ACTION_PAGE_DOWN:
		down = page;
		break;
	case ACTION_PAGE_UP:
		up = page;
		break;
	case ACTION_HALF_DOWN:
		down = half;
		break;
	case ACTION_HALF_UP:
		up = half;
		break;
	case ACTION_FIRST:
		up = l->cursor;
		break;
	case ACTION_LAST:
		down = l->nr;
		break;
	case ACTION_FOLLOW:
		l->follows = !l->follows && list_selected(l);
		if (l->follows) {
			struct subject s = subject_of(list_selected(l));

			list_select(l, &s);
		}
		return true;
	default:
		return false;
	}
	move_to(l, l->cursor + down - (up < l->cursor ? up : l->cursor), o);
	return true;
}

/* The next (1) or last (-1) one; 0: which may be the present one. */
static void find(struct list *l, int direction, list_match *match, const char *search, const struct list_order *o)
{
	order(l, 0, l->nr, o); /* which one is next depends on all */
	for (size_t n = direction != 0; n < l->nr + (direction != 0); n++) {
		size_t i = (l->cursor + (direction < 0 ? l->nr - n % l->nr : n)) % l->nr;

		if (!match(l->rows[i], search))
			continue;
		move_to(l, i, o);
		return;
	}
}

bool list_search(struct list *l, enum action a, list_match *match, const char *search, const struct list_order *o)
{
	if (a != ACTION_SEARCH && a != ACTION_MATCH_NEXT && a != ACTION_MATCH_PREV)
		return false;
	if (*search)
		find(l, a == ACTION_SEARCH ? 0 : a == ACTION_MATCH_NEXT ? 1 : -1, match, search, o);
	return true;
}

bool list_match_thread(const struct row *r, const char *search)
{
	return strcasestr(r->thread->comm, search) || strcasestr(r->cgroup->path, search);
}

bool list_click(struct list *l, size_t line)
{
	size_t i = l->top + line;
	struct subject clicked;
	bool again;

	if (i >= l->nr)
		return false;
	again = i == l->cursor && l->sticks;
	clicked = subject_of(l->rows[i]);
	list_select(l, &clicked);
	l->cursor = i;
	return again;
}
