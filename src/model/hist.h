/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_HIST_H
#define SYSTOP_MODEL_HIST_H

#include <stdint.h>

#include "slot.h" /* HIST_SLOTS, HIST_SHIFT: the layout bpf/ fills */

/* Log2 histogram of durations: slot i counts [2^i, 2^(i+1)) units of 1024 ns; slot 0 also counts
 * everything shorter, the last one everything longer. */
struct hist {
	uint32_t n[HIST_SLOTS];
};

/*
 * hist_quantile - the duration below which the fraction @q of the events lie, interpolated
 * linearly within its slot: right within the slot's factor of two, hence shown with a ~.
 * @q: 0 < q <= 1
 * Returns ns, VALUE_NA if @h is empty.
 */
uint64_t hist_quantile(const struct hist *h, double q);

/* hist_quantile_upto - the same, at most @max, the longest one: ns, exact; VALUE_NA: it is not known. */
uint64_t hist_quantile_upto(const struct hist *h, double q, uint64_t max);

/* slots_quantile - the same of @nr slots whose first one counts up to 2 << @shift ns. The last one goes up to @max. */
uint64_t slots_quantile(const uint32_t *n, int nr, int shift, double q, uint64_t max);

/* hist_add - adds the counts of @b to @a. */
void hist_add(struct hist *a, const struct hist *b);

#endif
