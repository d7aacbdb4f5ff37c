/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/wait.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/internal.h"
#include "util/vec.h"

const char *const wait_kind_names[WAIT_KINDS] = { "thread", "several", "wakeup", "limit" };

const char *const wake_context_names[WAKE_CONTEXTS] = { "thread", "irq", "softirq", "timer", "ipi" };

void wake_name(enum wake_context context, uint32_t number, char *buf, size_t size)
{
	if (context == WAKE_IRQ)
		snprintf(buf, size, number < WAKER_NUMBER_MAX ? "irq %u" : "irq %u+", number);
	else if (context == WAKE_SOFTIRQ)
		snprintf(buf, size, "softirq %s", number < IRQ_SOFTIRQS ? softirq_names[number] : "?");
	else
		snprintf(buf, size, context == WAKE_TIMER ? "timer" : "another CPU");
}

static const char *const wait_functions[] = {
	"__schedule", "schedule", "io_schedule", "preempt_schedule", "__switch_to", "bit_wait", "__wait_on_bit",
	"out_of_line_wait_on_bit", "wait_for_completion", "__wait_for_common", "wait_for_common", "__mutex_lock",
	"mutex_lock", "__mutex_lock_slowpath", "rwsem_", "down_", "__down", "rt_mutex", "__rt_mutex", "rwbase_",
	"__rwbase_", "rtlock_", "rt_spin_", "rt_read_lock", "rt_write_lock", "percpu_rwsem_wait", "__percpu_",
	"prepare_to_wait", "finish_wait", "wait_woken", "do_wait_", "msleep",
	"usleep_range", "hrtimer_nanosleep", "do_nanosleep", "__bio_", "blk_wait", "submit_bio_wait",
	"folio_wait_bit", "__folio_lock", "wait_on_page_bit", "__lock_page",
};

bool wait_functions_has(const char *function)
{
	for (size_t i = 0; i < sizeof(wait_functions) / sizeof(wait_functions[0]); i++)
		if (!strncmp(function, wait_functions[i], strlen(wait_functions[i])))
			return true;
	return false;
}

int model_wait(struct model *m, const struct wait *w)
{
	struct tick_lists *b = tick_lists_now(m);

	if (w->by)
		((struct life_node *)w->by)->named = true;
	return b ? VEC_PUSH(b->waits, b->nr_waits, b->waits_room, *w) : -ENOMEM;
}

int model_woken(struct model *m, const struct woken *w)
{
	struct tick_lists *b = tick_lists_now(m);

	return b ? VEC_PUSH(b->wokens, b->nr_wokens, b->wokens_room, *w) : -ENOMEM;
}

int model_away(struct model *m, const struct away *a)
{
	struct tick_lists *b = tick_lists_now(m);

	return b ? VEC_PUSH(b->aways, b->nr_aways, b->aways_room, *a) : -ENOMEM;
}

int model_irq_cpu(struct model *m, const struct irq_cpu *i)
{
	struct tick_lists *b = tick_lists_now(m);

	return b ? VEC_PUSH(b->irq_cpus, b->nr_irq_cpus, b->irq_cpus_room, *i) : -ENOMEM;
}

void model_hist(struct model *m, enum hist_id id, const struct hist *h)
{
	m->now->tick.hist[id] = *h;
}

/* Whether the cgroup's CPU limit stopped threads in the tick being built. */
static bool stopped(const struct tick_node *n, const struct cgroup *c)
{
	const struct cgroup_limit *limit = c->row < n->tick.nr_cgroups && n->cgroups[c->row].cgroup == c
						   ? &n->cgroup_totals[c->row].limit
						   : NULL;

	return limit && limit->nr_throttled != VALUE_NA && limit->nr_throttled;
}

void block_limits(struct tick_node *n)
{
	for (size_t i = 0; n->lists && i < n->lists->nr_waits; i++) {
		struct wait *w = &n->lists->waits[i];
		const struct cgroup *c = w->life->limiter;

		if (w->kind != WAIT_LIMIT)
			continue;
		while (c && !stopped(n, c))
			c = c->parent;
		w->limit = c ? c : w->life->limiter;
	}
}
