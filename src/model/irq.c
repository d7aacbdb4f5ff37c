/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/tick.h"

#include <string.h>

const char *const irq_kind_names[IRQ_KINDS] = { "hard", "vector", "soft" };

const char *const softirq_names[IRQ_SOFTIRQS] = { "HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
						  "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

bool life_runs_softirqs(const struct life *l)
{
	return l->flags & PF_KTHREAD && (!strncmp(l->comm, "ksoftirqd/", 10) || !strncmp(l->comm, "ktimers/", 8));
}

enum hist_id irq_hist(enum irq_kind kind)
{
	return kind == IRQ_SOFT ? HIST_SOFTIRQ : HIST_IRQ;
}
