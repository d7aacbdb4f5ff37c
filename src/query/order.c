/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/order.h"

#include <stdlib.h>
#include <string.h>

#include "model/tick.h"

struct order {
	row_before *before;
	const void *arg;
};

/* Rows that are equal for the caller keep an order of their own, so that a screen does not dance. */
static int row_tie(const struct row *a, const struct row *b)
{
	if (a->number != b->number)
		return a->number - b->number;
	if (a->kind == ROW_CGROUP)
		return strcmp(a->cgroup->path, b->cgroup->path);
	if (a->kind == ROW_PROCESS)
		return a->process < b->process ? -1 : 1;
	return a->thread->start_ns < b->thread->start_ns ? -1 : 1;
}

static int order_compare(const void *a, const void *b, void *arg)
{
	const struct row *ra = *(const struct row *const *)a, *rb = *(const struct row *const *)b;
	const struct order *o = arg;

	if (ra == rb)
		return 0;
	if (o->before(ra, rb, o->arg))
		return -1;
	if (o->before(rb, ra, o->arg))
		return 1;
	return row_tie(ra, rb);
}

static void swap(const struct row **a, const struct row **b)
{
	const struct row *t = *a;

	*a = *b;
	*b = t;
}

/* Quickselect: refs[0 .. k) stand before refs[k ..), in no order within. */
static void order_split(const struct row **refs, size_t nr, size_t k, struct order *o)
{
	size_t low = 0, high = nr;

	while (high - low > 1) {
		const struct row *pivot;
		size_t mid = low + (high - low) / 2, store = low;

		/* The median of three keeps sorted input from being the worst case. */
		if (order_compare(&refs[mid], &refs[low], o) < 0)
			swap(&refs[mid], &refs[low]);
		if (order_compare(&refs[high - 1], &refs[low], o) < 0)
			swap(&refs[high - 1], &refs[low]);
		if (order_compare(&refs[high - 1], &refs[mid], o) < 0)
			swap(&refs[high - 1], &refs[mid]);
		swap(&refs[mid], &refs[high - 1]);
		pivot = refs[high - 1];
		for (size_t i = low; i < high - 1; i++)
			if (order_compare(&refs[i], &pivot, o) < 0)
				swap(&refs[i], &refs[store++]);
		swap(&refs[store], &refs[high - 1]);
		if (store == k)
			return;
		if (store < k)
			low = store + 1;
		else
			high = store;
	}
}

/* So many rows ahead memory is asked for. */
#define PREFETCH 16

/* Moves refs[at] down a heap whose root stands last of all in the order. */
static void sift(const struct row **refs, size_t nr, size_t at, struct order *o)
{
	for (;;) {
		size_t last = at, left = 2 * at + 1, right = left + 1;

		if (left < nr && order_compare(&refs[left], &refs[last], o) > 0)
			last = left;
		if (right < nr && order_compare(&refs[right], &refs[last], o) > 0)
			last = right;
		if (last == at)
			return;
		swap(&refs[at], &refs[last]);
		at = last;
	}
}

/* For a screen at the top of a long list: refs[0 .. k) stand before all others, in no order. Most
 * rows are looked at once, against the last one that is in. */
static void order_first(const struct row **refs, size_t nr, size_t k, struct order *o)
{
	for (size_t at = k / 2; at-- > 0;)
		sift(refs, k, at, o);
	for (size_t i = k; i < nr; i++) {
		if (i + PREFETCH < nr)
			__builtin_prefetch(refs[i + PREFETCH]);
		if (order_compare(&refs[i], &refs[0], o) > 0)
			continue;
		swap(&refs[i], &refs[0]);
		sift(refs, k, 0, o);
	}
}

/* Up to here a heap is quicker than to split all rows. */
#define FIRST_MAX 256

void rows_order(const struct row **refs, size_t nr, size_t first, size_t count, row_before *before,
		const void *arg)
{
	struct order o = { before, arg };

	if (first >= nr)
		return;
	if (count > nr - first)
		count = nr - first;
	if (count && first + count <= FIRST_MAX && first + count < nr) {
		order_first(refs, nr, first + count, &o);
		nr = first + count;
	}
	if (first)
		order_split(refs, nr, first, &o);
	if (first + count < nr)
		order_split(refs + first, nr - first, count, &o);
	qsort_r(refs + first, count, sizeof(*refs), order_compare, &o);
}

size_t rows_rank(const struct row *const *refs, size_t nr, const struct row *row,
		 row_before *before, const void *arg)
{
	struct order o = { before, arg };
	size_t rank = 0;

	for (size_t i = 0; i < nr; i++)
		rank += order_compare((const struct row **)&refs[i], &row, &o) < 0;
	return rank;
}
