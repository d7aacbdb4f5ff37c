/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/hist.h"

#include "model/field.h"

uint64_t slots_quantile(const uint32_t *n, int nr, int shift, double q, uint64_t max)
{
	uint64_t total = 0, below = 0, low, high, ns;
	double rank;
	int i;

	for (i = 0; i < nr; i++)
		total += n[i];
	if (!total)
		return VALUE_NA;
	rank = q * total;
	for (i = 0; below + n[i] < rank; i++)
		below += n[i];
	low = i ? 1ULL << (i + shift) : 0;
	high = 2ULL << (i + shift);
	if (i == nr - 1 && max != VALUE_NA && max > high) /* it has no end of its own */
		high = max;
	ns = low + (uint64_t)((high - low) * ((rank - below) / n[i]));
	return ns > max ? max : ns;
}

uint64_t hist_quantile(const struct hist *h, double q)
{
	return hist_quantile_upto(h, q, VALUE_NA);
}

uint64_t hist_quantile_upto(const struct hist *h, double q, uint64_t max)
{
	return slots_quantile(h->n, HIST_SLOTS, HIST_SHIFT, q, max);
}

void hist_add(struct hist *a, const struct hist *b)
{
	for (int i = 0; i < HIST_SLOTS; i++) {
		uint32_t sum = a->n[i] + b->n[i];

		a->n[i] = sum < b->n[i] ? UINT32_MAX : sum;
	}
}
