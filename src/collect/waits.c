/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/waits.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "area.h"
#include "model/model.h"
#include "model/wait.h"
#include "util/clock.h"
#include "util/vec.h"

/* Distinct sums (waits, wakers, sleeps) kept per tick; further ones are counted as lost. */
#define SUMS_MAX 262144

/* CPU time for reading per 250 ms, 1 % of one CPU: showing the events takes at most as much again. */
#define DRAIN_NS 2500000

/* Events between two reads of the clock. */
#define DRAIN_EVENTS 256

/* If all CPUs together have this many events, they are read before the next tick, so that the tick can read the rest in
 * DRAIN_NS. */
#define EVENTS_DUE 64

/* Events of a thread since the last tick, added up: one sum per distinct kind. */
struct sum {
	uint32_t slot;
	uint32_t next;      /* of the same thread: index + 1, 0: none */
	uint32_t index;     /* in waits.table */
	uint8_t kind;       /* enum wait_event_kind */
	uint8_t context;
	uint8_t histogram;  /* of sleeps and D states: slot of struct hist */
	uint32_t number;    /* of a waker */
	uint16_t turn;      /* as in struct thread */
	const struct life *by;
	uint32_t count;
	uint64_t ns;
};

/* What is known about the thread in a slot. */
struct thread {
	uint32_t first;        /* of its sums: index + 1, 0: none */
	uint32_t streak_since; /* start of the streak of wakings by one waker that was active at the last tick, */
	uint32_t streak_reported;  /* and how many of its wakings are reported; 0: none, or its end is, too */
	uint16_t turn;         /* how often its sums were taken: later events of the slot get sums of their own */
	bool streak_over;      /* another streak was active at the last tick, and the end of this one is not read yet */
};

struct waits {
	struct waits_memory mem;
	struct model *model;
	waits_life *life;
	void *arg;
	uint64_t *tails;    /* of each CPU's ring */
	struct thread *threads; /* one per slot */
	struct sum *sums;
	size_t nr, room;
	uint32_t *table;    /* hash table of sums: index + 1, 0: none; at most half full */
	size_t table_room;  /* a power of two, or 0 */
	int first_cpu;      /* of the next drain: rotates, so that a lack of time does not always hit the same CPUs */
	uint64_t lost;
};

uint64_t waits_price(int online)
{
	return online > WAIT_PRICE_CPUS ? WAIT_PRICE_NS * (uint64_t)online / WAIT_PRICE_CPUS : WAIT_PRICE_NS;
}

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
	free(w->table);
	free(w);
}

static bool is_like(const struct sum *a, const struct sum *b)
{
	return a->slot == b->slot && a->turn == b->turn && a->kind == b->kind && a->by == b->by && a->number == b->number &&
	       a->context == b->context && a->histogram == b->histogram;
}

/* The index of the sum equal to @like, or the first free one for it. There is always a free one. */
static uint32_t find_index(const struct waits *w, const struct sum *like)
{
	uint64_t key = (uint64_t)like->slot << 32 | like->kind << 24 | like->context << 16 | like->histogram;
	uint64_t hash = (key ^ (uint64_t)like->turn << 8 ^ (uintptr_t)like->by * 0x9e3779b97f4a7c15ULL ^ (uint64_t)like->number << 40) *
			0xd6e8feb86659fd93ULL;
	uint32_t index = hash >> 32 & (w->table_room - 1);

	while (w->table[index] && !is_like(&w->sums[w->table[index] - 1], like))
		index = (index + 1) & (w->table_room - 1);
	return index;
}

/* Room for one more sum in the table. */
static int table_grow(struct waits *w)
{
	size_t room = w->table_room ? 2 * w->table_room : 1024;
	uint32_t *table;

	if (2 * (w->nr + 1) <= w->table_room)
		return 0;
	table = calloc(room, sizeof(*table));
	if (!table)
		return -ENOMEM;
	free(w->table);
	w->table = table;
	w->table_room = room;
	for (size_t i = 0; i < w->nr; i++) {
		w->sums[i].index = find_index(w, &w->sums[i]);
		w->table[w->sums[i].index] = i + 1;
	}
	return 0;
}

/* Adds to the sum equal to @like. */
static int add(struct waits *w, const struct sum *like)
{
	struct thread *t = &w->threads[like->slot];
	struct sum new = *like, *known;

	if (table_grow(w))
		return -ENOMEM;
	new.turn = t->turn;
	new.index = find_index(w, &new);
	if (w->table[new.index]) {
		known = &w->sums[w->table[new.index] - 1];
		known->count += like->count;
		known->ns += like->ns;
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
	w->table[new.index] = w->nr;
	return 0;
}

/* The number that slot.waker stands for. */
static uint32_t number_of(uint8_t context, uint32_t waker)
{
	return context == WAKE_THREAD ? waker & ((1U << WAKER_TID_BITS) - 1) : waker >> WAKER_TID_BITS;
}

static uint8_t histogram_slot(uint64_t ns)
{
	int slot = 63 - __builtin_clzll(ns | 1);

	return slot < LOG2_SLOTS ? slot : LOG2_SLOTS - 1;
}

/* Adds the unreported part of a streak of wakings by one waker that ended. Streaks that ended on different CPUs come in
 * any order. */
static int add_woken(struct waits *w, const struct wait_event *e)
{
	struct thread *t = &w->threads[e->slot];
	bool went_on = t->streak_since == (uint32_t)e->b;
	uint32_t reported = went_on ? t->streak_reported : 0;
	struct sum s = { .slot = e->slot, .kind = WAIT_EVENT_WOKEN, .context = e->context,
			 .number = number_of(e->context, e->by), .count = (uint32_t)e->a - reported };

	if (went_on) {
		t->streak_reported = 0;
		t->streak_over = false;
	}
	return (uint32_t)e->a > reported ? add(w, &s) : 0;
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
	/* No particular thread: WAIT_SEVERAL. */
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

static bool is_over(uint64_t until)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) >= until;
}

/* Reads up to the initial head of the ring, or until systop's CPU time is @until: then it returns 1. */
static int drain_cpu(struct waits *w, int cpu, uint64_t until)
{
	const struct wait_event *ring = w->mem.areas[cpu]->wait_events;
	uint64_t head = __atomic_load_n(&w->mem.cpus[cpu].wait_events, __ATOMIC_ACQUIRE), *tail = &w->tails[cpu];
	int err = 0;

	for (uint32_t nr = 0; !err && *tail != head; nr++) {
		struct wait_event e = ring[*tail % WAIT_EVENTS];
		uint64_t now;

		if (nr % DRAIN_EVENTS == DRAIN_EVENTS - 1 && is_over(until))
			break;
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
	if (err || *tail == head)
		return err;
	/* The rest cannot wait: slots of dead threads are reused after this. */
	w->lost += head - *tail;
	*tail = head;
	return 1;
}

bool waits_due(const struct waits *w)
{
	uint64_t nr = 0;

	for (int cpu = 0; cpu < w->mem.nr_cpus; cpu++)
		nr += __atomic_load_n(&w->mem.cpus[cpu].wait_events, __ATOMIC_RELAXED) - w->tails[cpu];
	return nr >= EVENTS_DUE;
}

int waits_drain(struct waits *w)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + DRAIN_NS;
	int first = w->first_cpu, err = 0;

	for (int i = 0; err >= 0 && i < w->mem.nr_cpus; i++) {
		int cpu = (first + i) % w->mem.nr_cpus;

		err = w->mem.areas[cpu] ? drain_cpu(w, cpu, until) : 0;
		if (err > 0 && w->first_cpu == first) /* those behind it get no time: they are first next time */
			w->first_cpu = (cpu + 1) % w->mem.nr_cpus;
	}
	return err < 0 ? err : 0;
}

/* Adds the streak in progress. Its wakings are counted while the slot is copied: valid if the streak is still the
 * same. */
static int add_streak(struct waits *w, uint32_t slot, const struct slot *c)
{
	struct thread *t = &w->threads[slot];
	struct sum streak = { .slot = slot, .kind = WAIT_EVENT_WOKEN };
	uint32_t since = c->waker_since, count = c->wakeups - since;

	if (__atomic_load_n(&w->mem.slots[slot].waker_since, __ATOMIC_ACQUIRE) != since || !c->in_scope)
		return 0;
	if (t->streak_since != since) {
		/* Its end is in a ring, which is read before the next tick, or was lost. */
		if (t->streak_reported && !t->streak_over) {
			t->streak_over = true;
			return 0;
		}
		t->streak_since = since;
		t->streak_reported = 0;
		t->streak_over = false;
	}
	if (count <= t->streak_reported)
		return 0;
	streak.count = count - t->streak_reported;
	streak.context = c->wake >> WAKE_CONTEXT_SHIFT & 7;
	streak.number = number_of(streak.context, c->waker);
	t->streak_reported = count;
	return add(w, &streak);
}

int waits_take(struct waits *w, uint32_t slot, const struct slot *c, bool over, uint32_t *taken)
{
	int err = add_streak(w, slot, c);

	*taken = w->threads[slot].first;
	if (over)
		w->threads[slot] = (struct thread){ .turn = w->threads[slot].turn };
	w->threads[slot].first = 0;
	w->threads[slot].turn++;
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
		away.kind = s->kind == WAIT_EVENT_D ? HIST_D : HIST_SLEEP;
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

	for (uint32_t at = taken, next; at && !err; at = next) {
		next = w->sums[at - 1].next; /* far from this one, as they are in the order of their events */
		__builtin_prefetch(&w->sums[next - !!next]);
		err = show_sum(w, &w->sums[at - 1], life);
	}
	return err;
}

void waits_end(struct waits *w)
{
	for (size_t i = 0; i < w->nr; i++) {
		w->threads[w->sums[i].slot].first = 0;
		w->table[w->sums[i].index] = 0;
	}
	w->nr = 0;
}

uint64_t waits_lost(const struct waits *w)
{
	return w->lost;
}
