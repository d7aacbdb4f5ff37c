/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/order.h"

#include <stdlib.h>
#include <string.h>

#include "model/tick.h"

int row_tie(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->number != b->number)
		return a->number - b->number;
	if (a->kind == ROW_CGROUP)
		return strcmp(a->cgroup->path, b->cgroup->path);
	if (a->kind == ROW_PROCESS)
		return a->process < b->process ? -1 : 1;
	if (a->thread->start_ns != b->thread->start_ns)
		return a->thread->start_ns < b->thread->start_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : 1; /* it was moved: each of its lives has a row */
}

static int order_compare(const void *a, const void *b, void *arg)
{
	const void *x = *(const void *const *)a, *y = *(const void *const *)b;
	const struct order *o = arg;

	if (x == y)
		return 0;
	if (o->before && o->before(x, y, o->arg))
		return -1;
	if (o->before && o->before(y, x, o->arg))
		return 1;
	return o->tie(x, y);
}

static void swap(const void **a, const void **b)
{
	const void *t = *a;

	*a = *b;
	*b = t;
}

/* Quickselect: items[0 .. k) precede items[k ..), both unordered. */
static void order_split(const void **items, size_t nr, size_t k, struct order *o)
{
	size_t low = 0, high = nr;

	while (high - low > 1) {
		const void *pivot;
		size_t mid = low + (high - low) / 2, store = low;

		/* The median of three keeps sorted input from being the worst case. */
		if (order_compare(&items[mid], &items[low], o) < 0)
			swap(&items[mid], &items[low]);
		if (order_compare(&items[high - 1], &items[low], o) < 0)
			swap(&items[high - 1], &items[low]);
		if (order_compare(&items[high - 1], &items[mid], o) < 0)
			swap(&items[high - 1], &items[mid]);
		swap(&items[mid], &items[high - 1]);
		pivot = items[high - 1];
		for (size_t i = low; i < high - 1; i++)
			if (order_compare(&items[i], &pivot, o) < 0)
				swap(&items[i], &items[store++]);
		swap(&items[store], &items[high - 1]);
		if (store == k)
			return;
		if (store < k)
			low = store + 1;
		else
			high = store;
	}
}

/* Prefetch distance, in items. */
#define PREFETCH 16

/* Moves items[at] down a heap whose root is the last item in the order. */
static void sift(const void **items, size_t nr, size_t at, struct order *o)
{
	for (;;) {
		size_t last = at, left = 2 * at + 1, right = left + 1;

		if (left < nr && order_compare(&items[left], &items[last], o) > 0)
			last = left;
		if (right < nr && order_compare(&items[right], &items[last], o) > 0)
			last = right;
		if (last == at)
			return;
		swap(&items[at], &items[last]);
		at = last;
	}
}

/* For a screen at the top of a long list: items[0 .. k) precede all others, unordered. Most items are compared only
 * once, with the last of the first k. */
static void order_first(const void **items, size_t nr, size_t k, struct order *o)
{
	for (size_t at = k / 2; at-- > 0;)
		sift(items, k, at, o);
	for (size_t i = k; i < nr; i++) {
		if (i + PREFETCH < nr)
			__builtin_prefetch(items[i + PREFETCH]);
		if (order_compare(&items[0], &items[i], o) < 0)
			continue;
		swap(&items[i], &items[0]);
		sift(items, k, 0, o);
	}
}

/* Largest k for which a heap is faster than partitioning all items. */
#define FIRST_MAX 256

void items_order(const void **items, size_t nr, size_t first, size_t count, const struct order *order)
{
	struct order o = *order;

	if (first >= nr)
		return;
	if (count > nr - first)
		count = nr - first;
	if (count && first + count <= FIRST_MAX && first + count < nr) {
		order_first(items, nr, first + count, &o);
		nr = first + count;
	}
	if (first)
		order_split(items, nr, first, &o);
	if (first + count < nr)
		order_split(items + first, nr - first, count, &o);
	qsort_r(items + first, count, sizeof(*items), order_compare, &o);
}

void rows_order(const struct row **refs, size_t nr, size_t first, size_t count, item_before *before, const void *arg)
{
	const struct order o = { before, arg, row_tie };

	items_order((const void **)refs, nr, first, count, &o);
}

size_t items_rank(const void *const *items, size_t nr, const void *item, const struct order *order)
{
	struct order o = *order;
	size_t rank = 0;

	for (size_t i = 0; i < nr; i++)
		rank += order_compare(&items[i], &item, &o) < 0;
	return rank;
}
