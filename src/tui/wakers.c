/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/wakers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "model/tick.h"
#include "tui/host.h"
#include "tui/subject.h"

#define NR_AT (int)(sizeof(((struct wakers *)0)->at) / sizeof(struct waker))

/* Softirq vectors, in the order of include/linux/interrupt.h and of /proc/softirqs. */
static const char *const softirqs[] = { "HI",      "TIMER",   "NET_TX",  "NET_RX",  "BLOCK",
					"IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };

void wakers_add(struct wakers *w, const struct stack_sample *s)
{
	uint32_t tid = s->waker & ((1U << WAKER_TID_BITS) - 1), number = s->waker >> WAKER_TID_BITS;
	struct waker new = { .context = s->waker || s->wake_context ? s->wake_context : WAKE_CONTEXTS };
	struct waker *at = NULL;

	if (!s->count || (s->kind != TIME_SLEEP && s->kind != TIME_D))
		return;
	new.number = new.context == WAKE_THREAD ? tid : number;
	new.during = new.context == WAKE_THREAD ? 0 : tid;
	for (int i = 0; i < w->nr && !at; i++)
		if (w->at[i].context == new.context && w->at[i].number == new.number)
			at = &w->at[i];
	if (!at && w->nr < NR_AT)
		at = &w->at[w->nr++];
	else if (!at)
		at = &w->at[NR_AT - 1];
	if (at->context != new.context || at->number != new.number || !at->count)
		*at = new;
	at->during = new.during;
	at->count += s->count;
	at->weight += s->whole;
	w->count += s->count;
}

static int more(const void *a, const void *b)
{
	const struct waker *x = a, *y = b;

	return x->count == y->count ? 0 : x->count > y->count ? -1 : 1;
}

void wakers_sort(struct wakers *w)
{
	qsort(w->at, w->nr, sizeof(w->at[0]), more);
}

static void thread_name(uint32_t tid, const struct tick *t, const struct host *host, char *buf, size_t size)
{
	const struct subject s = { SUBJECT_THREAD, tid, 0 };
	const struct row *r = subject_row(&s, t);
	char name[80];

	if (r) {
		subject_name(&s, r, buf, size);
		return;
	}
	host->thread_name(host->arg, tid, name, sizeof(name));
	snprintf(buf, size, "%s %u", *name ? name : "thread", tid);
}

void waker_name(const struct waker *w, const struct tick *t, const struct host *host, char *buf,
		size_t size)
{
	char source[64], thread[64], irq[40] = "";

	switch (w->context) {
	case WAKE_CONTEXTS:
		snprintf(buf, size, "not seen");
		return;
	case WAKE_THREAD:
		thread_name(w->number, t, host, buf, size);
		return;
	case WAKE_IRQ:
		host->irq_name(host->arg, w->number, irq, sizeof(irq));
		snprintf(source, sizeof(source), "irq %u%s%s", w->number, *irq ? " " : "", irq);
		break;
	case WAKE_SOFTIRQ:
		snprintf(source, sizeof(source), "softirq %s",
			 w->number < sizeof(softirqs) / sizeof(softirqs[0]) ? softirqs[w->number] : "?");
		break;
	case WAKE_TIMER:
		snprintf(source, sizeof(source), "timer");
		break;
	default:
		snprintf(source, sizeof(source), "another CPU");
	}
	if (w->during) {
		thread_name(w->during, t, host, thread, sizeof(thread));
		snprintf(buf, size, "%s, during %s", source, thread);
	} else {
		snprintf(buf, size, "%s", source);
	}
}

void wakers_text(const struct wakers *w, const struct tick *t, const struct host *host, char *buf,
		 size_t size)
{
	size_t used = 0;

	snprintf(buf, size, "-");
	for (int i = 0; i < w->nr; i++) {
		char name[160], one[180];
		int len;

		waker_name(&w->at[i], t, host, name, sizeof(name));
		len = snprintf(one, sizeof(one), "%s%s %.0f%%", i ? "   " : "", name,
			       100.0 * w->at[i].count / w->count);
		if (used + len >= size)
			return;
		used += snprintf(buf + used, size - used, "%s", one);
	}
}
