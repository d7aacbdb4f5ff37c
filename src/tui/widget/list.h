/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_LIST_H
#define SYSTOP_TUI_WIDGET_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/order.h"
#include "tui/input/actions.h"

/* Items keep their places for this long after the cursor moved. */
#define LIST_HOLD_NS 3000000000ULL

/* A kind of items: their key, the same in all ticks and never 0, and their order among equals. @whole: the key of the thing
 * that an item stands for, if it can have several items in a tick, or another one in the next, as a thread that is moved.
 * If an item is gone, another one with the same whole takes its place, and the selection. */
struct list_kind {
	uint64_t (*key)(const void *item);
	item_tie *tie; /* NULL: never sorted here */
	uint64_t (*whole)(const void *item); /* NULL: each has only one */
};

struct list_key {
	uint64_t key, whole; /* both the same without struct list_kind.whole */
};

/*
 * A scrolling list of items. The selection stays on its item while the order changes; until the user moves it, it is on
 * the first line.
 */
struct list {
	const struct list_kind *kind;
	const void **items;      /* of the present tick; only the visible ones are sorted */
	size_t nr, room;
	size_t alike;            /* from this index on only the tie decides the order; SIZE_MAX: nowhere */
	size_t top, cursor, height;
	bool sticks;             /* the selection is tied to the item with this key: */
	struct list_key selected;
	bool follows;            /* and that item stays on its line of the screen */
	uint64_t held_until_ns;  /* the items with these keys keep this order until the first list_sort() after then: */
	struct list_key *held;
	size_t nr_held, held_room;
};

/* The order of items, and the present time. @before NULL: they are already in order. */
struct list_order {
	item_before *before;
	const void *arg;
	uint64_t now_ns; /* CLOCK_MONOTONIC */
};

void list_fini(struct list *l);

/* list_begin, list_add - the items of a new tick; they are borrowed. list_add: 0 or -ENOMEM. list_add_all - adds @nr items of
 * @size bytes. list_alike - the items added from now on are all equal in the order of the next list_sort(). */
void list_begin(struct list *l, const struct list_kind *kind);
int list_add(struct list *l, const void *item);
int list_add_all(struct list *l, const void *items, size_t nr, size_t size);
void list_alike(struct list *l);

/* list_sort - sorts the items on @height lines and moves the selection to its key; if that is gone, the selection
 * stays in its place. */
void list_sort(struct list *l, size_t height, const struct list_order *o);

/* list_selected - the selected item, NULL if there is none. list_following - whether it is followed: not if what the user
 * chose is gone. */
const void *list_selected(const struct list *l);
bool list_following(const struct list *l);

/* list_select - selects the item with this key, or else with this whole, at the next list_sort(); 0: the first item. */
void list_select(struct list *l, uint64_t key);

/* list_act - moves the selection. Returns whether @a was such an action. */
bool list_act(struct list *l, enum action a, const struct list_order *o);

/* list_search - moves the selection to the next (1) or previous (-1) item that matches, wrapping around; 0: while a
 * search is typed, the present item may match, too. */
typedef bool list_match(const void *item, const char *search);
void list_search(struct list *l, int direction, list_match *match, const char *search, const struct list_order *o);

/* list_click - selects the item on @line (0: first) of the screen, and holds the order as a move does. Returns whether
 * the user had selected it before. */
bool list_click(struct list *l, size_t line, const struct list_order *o);

/* list_held - whether items keep their places now. */
bool list_held(const struct list *l, uint64_t now_ns);

#endif
