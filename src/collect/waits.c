/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/waits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model/wait.h"
#include "util/map.h"
#include "util/vec.h"

/* Different waits, wakers and sleeps of a tick; what is beyond them is one of its thread's last ones. */
#define SUMS_MAX 262144

/* What is told of a thread since the last tick, added up: one each of everything that differs. */
struct sum {
	uint32_t slot;
	uint32_t next;      /* of the same thread: index + 1, 0: none */
	uint8_t kind;       /* enum wait_event_kind */
	uint8_t context;
	uint8_t histogram;  /* of sleeps and D states: slot of struct latency */
	uint32_t number;    /* of a waker */
	const struct life *by;
	uint32_t count;
	uint64_t ns;
};

/* Of a slot: what is known of its thread. */
struct thread {
	uint32_t first;        /* of its sums: index + 1, 0: none */
	uint32_t streak_since; /* of the wakings by one waker that went on at the last tick: since which one, */
	uint32_t streak_told;  /* and how many of it are told; 0: or its end is */
	bool streak_over;      /* another one went on at the last tick, and the end of this one was not read yet */
};

struct waits {
	struct waits_memory mem;
	struct model *model;
	waits_life *life;
	void *arg;
	uint64_t *tails;    /* of each CPU's ring */
	struct thread *threads; /* one a slot */
	struct sum *sums;
	size_t nr, room;
	uint64_t lost;
};

struct waits *waits_new(const struct waits_memory *mem, struct model *model, waits_life *life, void *arg)
{
	struct waits *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->mem = *mem;
	w->model = model;
	w->life = life;
	w->arg = arg;
	w->tails = calloc(mem->nr_cpus, sizeof(*w->tails));
	w->threads = calloc(mem->max_slots, sizeof(*w->threads));
	if (w->tails && w->threads)
		return w;
	waits_free(w);
	return NULL;
}

void waits_free(struct waits *w)
{
	if (!w)
		return;
	free(w->tails);
	free(w->threads);
	free(w->sums);
	free(w);
}

/* Adds to the sum that is like @like; a thread has few. */
static int add(struct waits *w, const struct sum *like)
{
	struct thread *t = &w->threads[like->slot];
	struct sum new = *like;

	for (uint32_t at = t->first; at; at = w->sums[at - 1].next) {
		struct sum *s = &w->sums[at - 1];

		if (s->kind != like->kind || s->by != like->by || s->number != like->number ||
		    s->context != like->context || s->histogram != like->histogram)
			continue;
		s->count += like->count;
		s->ns += like->ns;
		return 0;
	}
	if (w->nr >= SUMS_MAX) {
		w->lost++;
		return 0;
	}
	new.next = t->first;
	if (VEC_PUSH(w->sums, w->nr, w->room, new))
		return -ENOMEM;
	t->first = w->nr;
	return 0;
}

/* Who is meant by slot.waker. */
static uint32_t number_of(uint8_t context, uint32_t waker)
{
	return context == WAKE_THREAD ? waker & ((1U << WAKER_TID_BITS) - 1) : waker >> WAKER_TID_BITS;
}

static uint8_t histogram_slot(uint64_t ns)
{
	int slot = 63 - __builtin_clzll(ns | 1);

	return slot < LATENCY_SLOTS ? slot : LATENCY_SLOTS - 1;
}

/* A streak of wakings by one waker that ended: what was not told yet. Those that ended on different CPUs come in any
 * order. */
static int add_woken(struct waits *w, const struct wait_event *e)
{
	struct thread *t = &w->threads[e->slot];
	bool went_on = t->streak_since == (uint32_t)e->b;
	uint32_t told = went_on ? t->streak_told : 0;
	struct sum s = { .slot = e->slot, .kind = WAIT_EVENT_WOKEN, .context = e->context,
			 .number = number_of(e->context, e->by), .count = (uint32_t)e->a - told };

	if (went_on) {
		t->streak_told = 0;
		t->streak_over = false;
	}
	return (uint32_t)e->a > told ? add(w, &s) : 0;
}

static int add_wait(struct waits *w, const struct wait_event *e)
{
	struct sum s = { .slot = e->slot, .kind = e->kind, .count = 1, .ns = e->a };
	struct sum rest = { .slot = e->slot, .kind = WAIT_EVENT_BEHIND, .count = 1, .ns = e->b };
	int err = 0;

	if (e->kind == WAIT_EVENT_BEHIND && e->by && e->by < w->mem.max_slots) {
		s.by = w->life(w->arg, e->by);
		if (!s.by)
			rest.ns += e->a;
	}
	/* Behind nobody in particular: WAIT_SEVERAL. */
	if (e->kind != WAIT_EVENT_BEHIND || s.by)
		err = add(w, &s);
	return !err && rest.ns ? add(w, &rest) : err;
}

static int add_event(struct waits *w, const struct wait_event *e)
{
	struct sum s = { .slot = e->slot, .kind = e->kind, .count = 1, .ns = e->a };

	if (!e->slot || e->slot >= w->mem.max_slots)
		return 0;
	switch (e->kind) {
	case WAIT_EVENT_WOKEN:
		return add_woken(w, e);
	case WAIT_EVENT_D:
	case WAIT_EVENT_SLEEP:
		s.histogram = histogram_slot(e->a);
		return add(w, &s);
	default:
		return add_wait(w, e);
	}
}

static int drain_cpu(struct waits *w, int cpu)
{
	const struct wait_event *ring = &w->mem.events[(size_t)cpu * WAIT_EVENTS];
	uint64_t head = __atomic_load_n(&w->mem.cpus[cpu].wait_events, __ATOMIC_ACQUIRE), *tail = &w->tails[cpu];
	int err = 0;

	while (!err && *tail != head) {
		struct wait_event e = ring[*tail % WAIT_EVENTS];
		uint64_t now;

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		now = __atomic_load_n(&w->mem.cpus[cpu].wait_events, __ATOMIC_RELAXED);
		/* The next one may be being written. */
		if (now + 1 - *tail > WAIT_EVENTS) {
			uint64_t first = now + WAIT_EVENTS / 8 - WAIT_EVENTS;

			w->lost += first - *tail;
			*tail = first;
			if (first > head)
				head = first;
			continue;
		}
		err = add_event(w, &e);
		++*tail;
	}
	return err;
}

int waits_drain(struct waits *w)
{
	int err = 0;

	for (int cpu = 0; !err && cpu < w->mem.nr_cpus; cpu++)
		err = drain_cpu(w, cpu);
	return err;
}

/* The streak that goes on. Its wakings are counted while the copy is made: that is believed if it is still the same. */
static int add_streak(struct waits *w, uint32_t slot, const struct slot *c)
{
	struct thread *t = &w->threads[slot];
	struct sum streak = { .slot = slot, .kind = WAIT_EVENT_WOKEN };
	uint32_t since = c->waker_since, count = c->wakeups - since;

	if (__atomic_load_n(&w->mem.slots[slot].waker_since, __ATOMIC_ACQUIRE) != since || !c->in_scope)
		return 0;
	if (t->streak_since != since) {
		/* Its end is in a ring, which is read before the next tick, or was lost. */
		if (t->streak_told && !t->streak_over) {
			t->streak_over = true;
			return 0;
		}
		t->streak_since = since;
		t->streak_told = 0;
		t->streak_over = false;
	}
	if (count <= t->streak_told)
		return 0;
	streak.count = count - t->streak_told;
	streak.context = c->wake >> WAKE_CONTEXT_SHIFT & 7;
	streak.number = number_of(streak.context, c->waker);
	t->streak_told = count;
	return add(w, &streak);
}

int waits_take(struct waits *w, uint32_t slot, const struct slot *c, bool over, uint32_t *taken)
{
	int err = add_streak(w, slot, c);

	*taken = w->threads[slot].first;
	w->threads[slot].first = 0;
	if (over)
		w->threads[slot] = (struct thread){ 0 };
	return err;
}

static int show_sum(struct waits *w, const struct sum *s, struct life *life)
{
	struct wait wait = { .life = life, .by = s->by, .ns = s->ns, .count = s->count };
	struct away away = { .life = life, .ns = s->ns, .count = s->count, .slot = s->histogram };
	struct woken woken = { .life = life, .count = s->count, .number = s->number, .context = s->context };

	switch (s->kind) {
	case WAIT_EVENT_WOKEN:
		return model_woken(w->model, &woken);
	case WAIT_EVENT_D:
	case WAIT_EVENT_SLEEP:
		away.kind = s->kind == WAIT_EVENT_D ? LATENCY_D : LATENCY_SLEEP;
		return model_away(w->model, &away);
	case WAIT_EVENT_LIMIT:
		wait.kind = WAIT_LIMIT;
		break;
	case WAIT_EVENT_WAKEUP:
		wait.kind = WAIT_WAKEUP;
		break;
	default:
		wait.kind = s->by ? WAIT_BEHIND : WAIT_SEVERAL;
	}
	return model_wait(w->model, &wait);
}

int waits_show(struct waits *w, uint32_t taken, struct life *life)
{
	int err = 0;

	for (uint32_t at = taken; at && !err; at = w->sums[at - 1].next)
		err = show_sum(w, &w->sums[at - 1], life);
	return err;
}

void waits_end(struct waits *w)
{
	for (size_t i = 0; i < w->nr; i++)
		w->threads[w->sums[i].slot].first = 0;
	w->nr = 0;
}

uint64_t waits_lost(const struct waits *w)
{
	return w->lost;
}
