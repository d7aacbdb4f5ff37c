/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_HIST_H
#define SYSTOP_MODEL_HIST_H

#include <stdint.h>

#include "model/metric.h"

/* Log2 histogram of durations: slot i counts [2^i, 2^(i+1)) ns. Of the slots in use (struct hist_row) the first also
 * counts everything shorter, the last everything longer. */
#define LOG2_SLOTS 33

struct hist {
	uint32_t n[LOG2_SLOTS];
};

/*
 * hist_quantile - the duration below which the fraction @q of the events lie, interpolated linearly within its slot:
 * exact only to the slot's factor of two, hence shown with a ~.
 * @q: 0 < q <= 1; @max: the longest one, ns, exact: an upper bound of the result; VALUE_NA: unknown
 * Returns ns, VALUE_NA if @h is empty.
 */
uint64_t hist_quantile(const struct hist *h, enum hist_id id, double q, uint64_t max);

/* hist_add - adds the counts of @b to @a. hist_grew - adds what the programs' counts @now grew by since @before,
 * which becomes @now: @nr slots, the first of which begins at 2^@shift ns. */
void hist_add(struct hist *a, const struct hist *b);
void hist_grew(struct hist *a, int shift, const uint32_t *now, uint32_t *before, int nr);

#endif
