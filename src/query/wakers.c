/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/wakers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "model/tick.h"
#include "model/wait.h"
#include "query/source.h"
#include "query/subject.h"
#include "util/text.h"
#include "util/vec.h"

/* Without memory for a waker, it only adds to the count of all. */
static void add(struct wakers *w, const struct waker *new)
{
	uint64_t key = ((uint64_t)new->context << 32 | new->number) + 1;
	uintptr_t place = (uintptr_t)map_get(&w->places, key);

	w->count += new->count;
	if (!place) {
		if (map_put(&w->places, key, (void *)(uintptr_t)(w->nr + 1)))
			return;
		if (VEC_PUSH(w->at, w->nr, w->room, *new))
			map_del(&w->places, key);
		return;
	}
	w->at[place - 1].count += new->count;
	if (w->at[place - 1].during != new->during)
		w->at[place - 1].during = 0;
}

void wakers_add(struct wakers *w, const struct stack_sample *s)
{
	uint32_t tid = s->waker & ((1U << WAKER_TID_BITS) - 1), number = s->waker >> WAKER_TID_BITS;
	struct waker new = {
		.context = s->waker || s->wake_context ? s->wake_context : WAKE_CONTEXTS,
		.count = s->count,
	};

	/* Blocks without a stack have no waker, nor have those of the recorder. */
	if (!s->count || s->wake_context == WAKE_CONTEXTS || s->flags & NOTE_NO_STACK ||
	    (s->metric != METRIC_SLEEP && s->metric != METRIC_D))
		return;
	new.number = new.context == WAKE_THREAD ? tid : number;
	new.during = new.context == WAKE_THREAD ? 0 : tid;
	add(w, &new);
}

void wakers_add_woken(struct wakers *w, const struct woken *k)
{
	add(w, &(struct waker){ .context = k->context, .number = k->number, .count = k->count });
}

static int more(const void *a, const void *b)
{
	const struct waker *x = a, *y = b;

	return cmp_int(y->count, x->count);
}

void wakers_sort(struct wakers *w)
{
	VEC_SORT(w->at, w->nr, more);
	map_fini(&w->places);
}

void wakers_fini(struct wakers *w)
{
	free(w->at);
	map_fini(&w->places);
	*w = (struct wakers){ 0 };
}

/* The thread that has the number in the tick, of all that ever had it. */
static const struct row *find_thread(const struct tick *t, pid_t tid)
{
	for (size_t i = 0; i < t->nr_active; i++)
		if (t->active[i].number == tid)
			return &t->active[i];
	for (size_t i = 0; i < t->nr_idle; i++)
		if (t->idle[i].number == tid)
			return &t->idle[i];
	return NULL;
}

static void thread_name(uint32_t tid, const struct tick *t, const struct source *source, char *buf, size_t size)
{
	const struct row *r = find_thread(t, tid);
	struct subject s = subject_of(r);
	char name[80];

	if (r) {
		subject_name(&s, r, buf, size);
		return;
	}
	source->thread_name(source->arg, tid, name, sizeof(name));
	snprintf(buf, size, "%s %u", *name ? name : "thread", tid);
}

void waker_name(const struct waker *w, const struct tick *t, const struct source *source, char *buf,
		size_t size)
{
	char what[64], thread[64], irq[40] = "";

	if (w->context == WAKE_CONTEXTS) {
		snprintf(buf, size, "waking not seen");
		return;
	}
	if (w->context == WAKE_THREAD) {
		thread_name(w->number, t, source, buf, size);
		return;
	}
	wake_name(w->context, w->number, what, sizeof(what));
	if (w->context == WAKE_IRQ)
		source->irq_name(source->arg, w->number, irq, sizeof(irq));
	snprintf(buf, size, "%s%s%s", what, *irq ? " " : "", irq);
	if (w->during) {
		thread_name(w->during, t, source, thread, sizeof(thread));
		text_add(buf, size, ", during %s", thread);
	}
}

void wakers_text(const struct wakers *w, const struct tick *t, const struct source *source, char *buf,
		 size_t size)
{
	/* The first waker follows on the same line. */
	snprintf(buf, size, !w->nr ? "-" : t->timers_unseen ? "(timers not seen) " : "");
	for (size_t i = 0; i < w->nr; i++) {
		char name[160], one[180];

		if (i && w->at[i].count * 200 < w->count) /* this one and all that follow would show as 0% */
			return;
		waker_name(&w->at[i], t, source, name, sizeof(name));
		snprintf(one, sizeof(one), "%s%s %.0f%%", i ? "   " : "", name, 100.0 * w->at[i].count / w->count);
		if (strlen(buf) + strlen(one) >= size)
			return;
		text_add(buf, size, "%s", one);
	}
}
