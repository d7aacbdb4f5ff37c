/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/interrupted_who.h"

#include <stdio.h>
#include <string.h>

#include "model/tick.h"
#include "query/source.h"
#include "util/map.h"
#include "util/text.h"

/* By index (irq.h): the kernel's functions for softirqs, and the purpose of the CPU's own vectors. */
static const char *const handlers[IRQ_LINES] = {
	"tasklet_hi_action",  "run_timer_softirq", "net_tx_action",      "net_rx_action",       "blk_done_softirq",
	"irq_poll_softirq",   "tasklet_action",    "sched_balance_softirq", "hrtimer_run_softirq", "rcu_core_si",
	[IRQ_LOC] = "apic timer", [IRQ_RES] = "reschedule", [IRQ_CAL] = "function call", [IRQ_IWI] = "irq work",
};

/* Maps each number to a chain of the entries that have it. */
static int by_number(struct map *m, struct interrupted_who *const *who, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (!who[i]->tid)
			continue;
		who[i]->next = map_get(m, who[i]->tid);
		err = map_put(m, who[i]->tid, who[i]);
	}
	return err;
}

static int on_life(void *arg, const struct life *l, uint64_t from, uint64_t to)
{
	for (struct interrupted_who *w = map_get(arg, l->tid); w; w = w->next) {
		char path[1024];

		if (w->at < from || w->at > to)
			continue;
		text_safe(w->name, sizeof(w->name), l->comm, sizeof(l->comm));
		text_safe(path, sizeof(path), l->cgroup->path, strlen(l->cgroup->path));
		text_elide(w->cgroup, sizeof(w->cgroup), path, 100);
	}
	return 0;
}

int interrupted_who_find(const struct tick *any, struct interrupted_who *const *who, size_t nr)
{
	struct map numbers = { 0 };
	int err = by_number(&numbers, who, nr);

	if (!err && numbers.nr)
		err = tick_lives(any, on_life, &numbers);
	map_fini(&numbers);
	return err;
}

const char *interrupted_who_text(const struct interrupted_who *w, const struct source *source, char *buf, size_t size)
{
	char name[80] = "";

	if (!w->tid) {
		snprintf(buf, size, "idle");
		return buf;
	}
	if (!*w->name)
		source->thread_name(source->arg, w->tid, name, sizeof(name));
	snprintf(buf, size, "%s %d", *w->name ? w->name : *name ? name : "thread", w->tid);
	return buf;
}

const char *irq_handler_text(const struct irq_source *s, char *buf, size_t size)
{
	if (s->kind == IRQ_HARD)
		text_safe(buf, size, s->device, strnlen(s->device, sizeof(s->device)));
	else
		snprintf(buf, size, "%s", s->index < IRQ_LINES && handlers[s->index] ? handlers[s->index] : "");
	if (!*buf)
		snprintf(buf, size, "-");
	return buf;
}
