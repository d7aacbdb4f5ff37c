/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/widget/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/widget/pager.h"
#include "util/map.h"
#include "util/vec.h"

/* Number of items below the screen that are held, too. */
#define HOLD_MARGIN 100

void list_fini(struct list *l)
{
	free(l->items);
	free(l->held);
	*l = (struct list){ 0 };
}

void list_begin(struct list *l, const struct list_kind *kind)
{
	l->kind = kind;
	l->nr = 0;
	l->alike = SIZE_MAX;
}

int list_add(struct list *l, const void *item)
{
	return VEC_PUSH(l->items, l->nr, l->room, item);
}

int list_add_all(struct list *l, const void *items, size_t nr, size_t size)
{
	const char *item = items;

	if (l->nr + nr > l->room) {
		const void **grown = reallocarray(l->items, l->nr + nr, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		l->items = grown;
		l->room = l->nr + nr;
	}
	for (size_t i = 0; i < nr; i++, item += size)
		l->items[l->nr + i] = item;
	l->nr += nr;
	return 0;
}

void list_alike(struct list *l)
{
	l->alike = l->nr;
}

bool list_held(const struct list *l, uint64_t now_ns)
{
	return l->nr_held && now_ns < l->held_until_ns;
}

const void *list_selected(const struct list *l)
{
	return l->cursor < l->nr ? l->items[l->cursor] : NULL;
}

bool list_following(const struct list *l)
{
	const void *item = list_selected(l);

	return l->follows && item && l->kind->key(item) == l->selected.key;
}

void list_select(struct list *l, uint64_t key)
{
	l->sticks = key;
	l->selected = (struct list_key){ key, key };
}

static struct list_key key_of(const struct list *l, const void *item)
{
	uint64_t key = l->kind->key(item);

	return (struct list_key){ key, l->kind->whole ? l->kind->whole(item) : key };
}

/* Ties the selection to an item. */
static void stick(struct list *l, const void *item)
{
	l->sticks = true;
	l->selected = key_of(l, item);
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

/* Moves those of the first @nr items whose key is held to @found; the others keep their order. Returns the number of others. */
static size_t take_held(struct list *l, size_t nr, uint64_t (*key)(const void *item), const struct map *ranks,
			const void **found)
{
	size_t rest = 0;

	for (size_t i = 0; i < nr; i++) {
		uintptr_t rank = (uintptr_t)map_get(ranks, key(l->items[i]));

		if (rank && !found[rank - 1])
			found[rank - 1] = l->items[i];
		else
			l->items[rest++] = l->items[i];
	}
	return rest;
}

/* Moves the remaining held items to the front, in their order. Returns their number. */
static size_t place_held(struct list *l)
{
	const void **found = calloc(l->nr_held + 1, sizeof(*found));
	struct map ranks = { 0 };
	size_t nr = 0, rest;

	l->alike = SIZE_MAX;
	for (size_t i = 0; found && i < l->nr_held; i++) {
		map_put(&ranks, l->held[i].key, (void *)(uintptr_t)(i + 1));
		map_put(&ranks, l->held[i].whole, (void *)(uintptr_t)(i + 1));
	}
	if (found) {
		rest = take_held(l, l->nr, l->kind->key, &ranks, found);
		if (l->kind->whole && l->nr - rest < l->nr_held)
			rest = take_held(l, rest, l->kind->whole, &ranks, found);
		memmove(l->items + l->nr - rest, l->items, rest * sizeof(*l->items));
		for (size_t i = 0; i < l->nr_held; i++)
			if (found[i])
				l->items[nr++] = found[i];
	}
	free(found);
	map_fini(&ranks);
	return nr;
}

/*
 * Sorts items[first .. end) if the items that are alike come after all others; returns false if they do not. Most of 50,000
 * threads slept and are alike: they are compared only by their tie, or not at all.
 */
static bool order_apart(struct list *l, size_t first, size_t end, const struct order *by)
{
	const struct order of_alike = { NULL, NULL, by->tie };
	size_t from = first < l->alike ? first : l->alike - 1, to = end < l->alike ? end : l->alike;

	if (!l->alike || l->alike >= l->nr || first >= end)
		return false;
	items_order(l->items, l->alike, from, to - from, by);
	if (!by->before(l->items[to - 1], l->items[l->alike], by->arg))
		return false;
	from = first > l->alike ? first : l->alike;
	if (end > from)
		items_order(l->items + l->alike, l->nr - l->alike, from - l->alike, end - from, &of_alike);
	return true;
}

/* Sorts items[first .. first + count). */
static void order(struct list *l, size_t first, size_t count, const struct list_order *o)
{
	const struct order by = { o->before, o->arg, l->kind->tie };
	size_t held = 0;

	if (!o->before || !l->nr) /* an empty list has no memory */
		return;
	if (l->nr_held)
		held = place_held(l);
	if (first < held) {
		count -= held - first < count ? held - first : count;
		first = held;
	}
	if (order_apart(l, first, first + count, &by))
		return;
	l->alike = SIZE_MAX;
	items_order(l->items + held, l->nr - held, first - held, count, &by);
}

static size_t find(const struct list *l, uint64_t (*key)(const void *item), uint64_t wanted)
{
	size_t i = 0;

	while (i < l->nr && key(l->items[i]) != wanted)
		i++;
	return i;
}

/* Index of the selected item, or of the cursor if it is gone. */
static size_t find_selected(struct list *l, const struct list_order *o)
{
	const struct order by = { o->before, o->arg, l->kind->tie };
	size_t i = l->sticks ? find(l, l->kind->key, l->selected.key) : l->nr;

	if (l->sticks && i == l->nr && l->kind->whole)
		i = find(l, l->kind->whole, l->selected.whole);
	if (i == l->nr)
		return l->cursor;
	l->selected.key = l->kind->key(l->items[i]);
	if (!o->before)
		return i;
	if (l->nr_held) {
		const void *item = l->items[i];
		size_t held = place_held(l);

		for (i = 0; i < held; i++)
			if (l->items[i] == item)
				return i;
		return held + items_rank(l->items + held, l->nr - held, item, &by);
	}
	return items_rank(l->items, l->nr, l->items[i], &by);
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

/* Holds items in their places for a while from now on. */
static void hold(struct list *l, const struct list_order *o)
{
	size_t count = l->top + l->height + HOLD_MARGIN;

	if (!o->before)
		return;
	if (count > l->nr)
		count = l->nr;
	if (count > l->nr_held) {
		order(l, 0, count, o);
		l->nr_held = 0;
		for (size_t i = 0; i < count; i++)
			if (VEC_PUSH(l->held, l->nr_held, l->held_room, key_of(l, l->items[i])))
				break;
	}
	l->held_until_ns = o->now_ns + LIST_HOLD_NS;
}

/* Moves the cursor and ties the selection to its item; the first line unties it. */
static void move_to(struct list *l, size_t to, const struct list_order *o)
{
	hold(l, o);
	l->cursor = to;
	l->follows = false;
	show_cursor(l);
	order(l, l->top, l->height, o);
	if (list_selected(l) && l->cursor)
		stick(l, list_selected(l));
	else
		l->sticks = false;
}

bool list_act(struct list *l, enum action a, const struct list_order *o)
{
	int to = l->cursor;

	if (a == ACTION_FOLLOW) {
		l->follows = !list_following(l) && list_selected(l);
		if (l->follows)
			stick(l, list_selected(l));
		return true;
	}
	if (!pager_move(a, l->height ? l->height : 1, (int)l->nr - 1, &to))
		return false;
	move_to(l, to, o);
	return true;
}

void list_search(struct list *l, int direction, list_match *match, const char *search, const struct list_order *o)
{
	order(l, 0, l->nr, o); /* the next match depends on the order of all items */
	for (size_t n = direction != 0; n < l->nr + (direction != 0); n++) {
		size_t i = (l->cursor + (direction < 0 ? l->nr - n % l->nr : n)) % l->nr;

		if (!match(l->items[i], search))
			continue;
		move_to(l, i, o);
		stick(l, list_selected(l)); /* also on the first line, as the user asked for it */
		return;
	}
}

bool list_click(struct list *l, size_t line, const struct list_order *o)
{
	size_t i = l->top + line;
	bool again;

	if (i >= l->nr)
		return false;
	hold(l, o);
	again = i == l->cursor && l->sticks;
	stick(l, l->items[i]);
	l->cursor = i;
	return again;
}
