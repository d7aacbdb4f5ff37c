/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_ORDER_H
#define SYSTOP_QUERY_ORDER_H

#include <stdbool.h>
#include <stddef.h>

struct row;

/* item_before - whether @a precedes @b; @arg is the caller's.
 * item_tie - breaks ties of items that are equal for the caller, so that rows do not change places from refresh to
 * refresh; negative: @a precedes @b. */
typedef bool item_before(const void *a, const void *b, const void *arg);
typedef int item_tie(const void *a, const void *b);

struct order {
	item_before *before;
	const void *arg;
	item_tie *tie;
};

/* row_tie - of struct row: by tid, pid or path; those of a thread that was moved always in the same order. */
item_tie row_tie;

/* items_rank - number of items that precede @item. O(n). */
size_t items_rank(const void *const *items, size_t nr, const void *item, const struct order *o);

/*
 * items_order - a partial sort for a screen that shows items[first .. first+count): these hold what a full sort would
 * put there; the rest is in any order. O(n) in @nr, so that 50,000 threads cost no full sort.
 * rows_order - the same for rows, with ties by row_tie().
 */
void items_order(const void **items, size_t nr, size_t first, size_t count, const struct order *o);
void rows_order(const struct row **refs, size_t nr, size_t first, size_t count, item_before *before, const void *arg);

#endif
