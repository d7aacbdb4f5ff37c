/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_LIST_H
#define SYSTOP_TUI_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tick.h"
#include "tui/actions.h"

/*
 * A scrolling list of rows with a selection that stays on its thread, process or cgroup while the
 * order changes. Until the user moved it, the selection is the first row, whatever that is.
 */
struct list {
	const struct row **rows; /* of the present tick; in place are those on the screen */
	size_t nr, room;
	size_t top, cursor, height;
	bool sticks;             /* the selection belongs to the thing below */
	enum row_kind kind;
	uint64_t id, start_ns;   /* tid, tgid or cgroup id; a thread's start: tids come back */
};

void list_fini(struct list *l);

/* list_clear, list_add - the rows of a new tick. list_add: 0 or -ENOMEM. */
void list_clear(struct list *l);
int list_add(struct list *l, const struct row *r);

/* list_sort - puts the rows that @height lines show in order and the selection back on its thing;
 * if that is gone, the selection stays where it is. @before NULL: they are in order already. */
void list_sort(struct list *l, size_t height, row_before *before, const void *arg);

/* list_selected - the selected row, NULL if there is none. */
const struct row *list_selected(const struct list *l);

/* list_act - moves the selection. Returns whether @a was such an action; sort, then list_stick(). */
bool list_act(struct list *l, enum action a);

/* list_stick - ties the selection to the row it is on; the first row lets go. */
void list_stick(struct list *l);

#endif
