/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/hist.h"

#define _(id, title, one, more, owner, shift, nr, ...) _Static_assert((shift) + (nr) <= LOG2_SLOTS, #id);
THREAD_HISTS(_)
TICK_HISTS(_)
#undef _

uint64_t hist_quantile(const struct hist *h, enum hist_id id, double q, uint64_t max)
{
	int i, first = hists[id].first, last = hists[id].last;
	uint64_t total = 0, below = 0, low, high, ns;
	double rank;

	for (i = first; i <= last; i++)
		total += h->n[i];
	if (!total)
		return VALUE_NA;
	rank = q * total;
	for (i = first; below + h->n[i] < rank; i++)
		below += h->n[i];
	low = i > first ? 1ULL << i : 0;
	high = 2ULL << i;
	if (i == last && max != VALUE_NA && max > high) /* the last slot is open-ended */
		high = max;
	ns = low + (uint64_t)((high - low) * ((rank - below) / h->n[i]));
	return ns > max ? max : ns;
}

void hist_add(struct hist *a, const struct hist *b)
{
	for (int i = 0; i < LOG2_SLOTS; i++) {
		uint32_t sum = a->n[i] + b->n[i];

		a->n[i] = sum < b->n[i] ? UINT32_MAX : sum;
	}
}

void hist_grew(struct hist *a, int shift, const uint32_t *now, uint32_t *before, int nr)
{
	for (int i = 0; i < nr; i++) {
		a->n[shift + i] += now[i] - before[i];
		before[i] = now[i];
	}
}
