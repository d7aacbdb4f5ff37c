/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_LIST_H
#define SYSTOP_TUI_WIDGET_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tick.h"
#include "query/order.h"
#include "query/subject.h"
#include "tui/input/actions.h"

/* For so long after the cursor moved, rows keep their places. */
#define LIST_HOLD_NS 3000000000ULL

/*
 * A scrolling list of rows with a selection that stays on its thread, process or cgroup while the
 * order changes. Until the user moved it, the selection is the first row, whatever that is.
 */
struct list {
	const struct row **rows; /* of the present tick; in place are those on the screen */
	size_t nr, room;
	size_t top, cursor, height;
	bool sticks;             /* the selection belongs to this: */
	struct subject selected;
	bool follows;            /* and stays on its line of the screen */
	uint64_t held_until_ns;  /* the first rows keep this order: */
	struct subject *held;
	size_t nr_held, held_room;
};

/* How rows are put in order, and when: @before NULL: they are in order already. */
struct list_order {
	row_before *before;
	const void *arg;
	uint64_t now_ns; /* CLOCK_MONOTONIC */
};

void list_fini(struct list *l);

/* list_clear, list_add - the rows of a new tick. list_add: 0 or -ENOMEM. */
void list_clear(struct list *l);
int list_add(struct list *l, const struct row *r);

/* list_sort - puts the rows that @height lines show in order and the selection back on its subject;
 * if that is gone, the selection stays where it is. */
void list_sort(struct list *l, size_t height, const struct list_order *o);

/* list_selected - the selected row, NULL if there is none. */
const struct row *list_selected(const struct list *l);

/* list_select - the selection goes to this, where it is at the next list_sort(). */
void list_select(struct list *l, const struct subject *s);

/* list_act - moves the selection. Returns whether @a was such an action. */
bool list_act(struct list *l, enum action a, const struct list_order *o);

/*
 * list_search - moves the selection to the next (1) or last (-1) row that @match finds, around the ends; 0: while a
 * search is typed, the present one counts, too. list_match_thread - the thread's name, or the
 * cgroup's path, has it.
 */
typedef bool list_match(const struct row *r, const char *search);
void list_search(struct list *l, int direction, list_match *match, const char *search, const struct list_order *o);
bool list_match_thread(const struct row *r, const char *search);

/* list_click - selects what is on the @line (0: first) of the screen. Returns whether the user had selected it before. */
bool list_click(struct list *l, size_t line);

/* list_held - whether rows keep their places now. */
bool list_held(const struct list *l, uint64_t now_ns);

#endif
