/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tick.h"

const char *const irq_kind_names[IRQ_KINDS] = { "hard", "vector", "soft" };

const char *const softirq_names[IRQ_SOFTIRQS] = { "HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
						  "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

uint64_t irq_quantile(const struct irq_values *v, double q)
{
	uint64_t sum = 0, wanted, seen = 0;

	for (int i = 0; i < IRQ_HIST_SLOTS; i++)
		sum += v->hist[i];
	if (!sum)
		return VALUE_NA;
	wanted = q * sum;
	for (int i = 0; i < IRQ_HIST_SLOTS; i++) {
		uint64_t low = i ? 1ULL << (i + IRQ_HIST_SHIFT) : 0, high = 2ULL << (i + IRQ_HIST_SHIFT);

		if (seen + v->hist[i] > wanted || seen + v->hist[i] == sum) {
			uint64_t ns = low + (high - low) * (double)(wanted - seen) / (v->hist[i] ? v->hist[i] : 1);

			return v->max_ns && ns > v->max_ns ? v->max_ns : ns;
		}
		seen += v->hist[i];
	}
	return VALUE_NA;
}
