/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tick.h"

const char *const irq_kind_names[IRQ_KINDS] = { "hard", "vector", "soft" };

const char *const softirq_names[IRQ_SOFTIRQS] = { "HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
						  "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

uint64_t irq_quantile(const struct irq_values *v, double q)
{
	return slots_quantile(v->hist, IRQ_HIST_SLOTS, IRQ_HIST_SHIFT, q, v->max_ns);
}
