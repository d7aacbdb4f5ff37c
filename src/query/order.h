/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_ORDER_H
#define SYSTOP_QUERY_ORDER_H

#include <stdbool.h>
#include <stddef.h>

struct row;

/* row_before - whether @a stands before @b; @arg is the caller's. */
typedef bool row_before(const struct row *a, const struct row *b, const void *arg);

/* rows_rank - how many of the rows stand before @row. O(n). */
size_t rows_rank(const struct row *const *refs, size_t nr, const struct row *row,
		 row_before *before, const void *arg);

/*
 * rows_order - puts the rows that a screen of lines @first .. @first + @count shows into place:
 * refs[first .. first+count) hold what a full sort would put there; the rest is in any order.
 * O(n) in @nr, so that 50,000 threads cost no full sort. Ties by tid, pid or path: stable.
 */
void rows_order(const struct row **refs, size_t nr, size_t first, size_t count,
		row_before *before, const void *arg);

#endif
