/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/recorded.h"

#include <errno.h>
#include <stdlib.h>

#include "model/tick.h"
#include "util/map.h"
#include "util/vec.h"

/* The owner of a thread number, and from when to when. */
struct span {
	pid_t tid;
	uint64_t from, to;
	const struct life *life;
};

#define TID_UNKNOWN (-1)

struct looking {
	struct event *events; /* samples and blocks, with complete tids */
	size_t nr, room;
	struct span *spans;   /* by tid and time */
	size_t nr_spans, spans_room;
	struct model *model;
	struct map stacks;    /* id -> stack of the model; SOME: wanted, not found yet */
	int cpu;              /* the events belong to this CPU: */
	int64_t current, before; /* the thread that runs there, and the previous one */
	size_t first;         /* first of its events */
};

#define SOME ((struct stack *)1)

/* --- Events */

static bool is_low_bits(uint32_t low, int64_t tid)
{
	return tid > 0 && (tid & RING_SAMPLE_TID) == low;
}

/* Assigns the events before the first switch to the thread that the switch replaces. */
static void resolve_tid(struct looking *g, uint32_t tid)
{
	for (size_t i = g->first; i < g->nr; i++)
		g->events[i].tid = is_low_bits(g->events[i].tid, tid) ? tid : 0;
}

static void on_switch(struct looking *g, const struct event *e)
{
	if (g->current == TID_UNKNOWN && g->before == TID_UNKNOWN)
		resolve_tid(g, e->other);
	g->before = e->other;
	g->current = e->outside ? 0 : e->tid;
}

static int want_stack(struct looking *g, uint32_t id)
{
	return id && !map_get(&g->stacks, id) ? map_put(&g->stacks, id, SOME) : 0;
}

static int keep(struct looking *g, const struct event *e)
{
	struct event with_tid = *e;

	if (is_low_bits(e->tid, g->current))
		with_tid.tid = g->current;
	else if (is_low_bits(e->tid, g->before))
		with_tid.tid = g->before;
	else if (g->current != TID_UNKNOWN)
		return 0;
	if (want_stack(g, e->user) || want_stack(g, e->kernel))
		return -ENOMEM;
	return VEC_PUSH(g->events, g->nr, g->room, with_tid);
}

static int on_event(void *arg, int cpu, const struct event *e)
{
	struct looking *g = arg;

	if (cpu != g->cpu) {
		if (g->current == TID_UNKNOWN)
			g->nr = g->first; /* without a switch the thread is unknown */
		g->cpu = cpu;
		g->current = g->before = TID_UNKNOWN;
		g->first = g->nr;
	}
	if (e->kind == RING_SWITCH)
		on_switch(g, e);
	return e->kind == RING_SAMPLE || e->kind == RING_BLOCK ? keep(g, e) : 0;
}

/* --- Threads and stacks */

static int on_life(void *arg, const struct life *l, uint64_t from, uint64_t to)
{
	struct looking *g = arg;
	const struct span span = { l->tid, from, to, l };

	return VEC_PUSH(g->spans, g->nr_spans, g->spans_room, span);
}

static int by_tid(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return cmp_int(x->tid, y->tid) ?: cmp_int(x->from, y->from);
}

/* The thread that had a number at that time; NULL: not known. */
static const struct life *who(const struct looking *g, pid_t tid, uint64_t at)
{
	size_t low = 0, high = g->nr_spans;
	const struct span key = { .tid = tid, .from = at };

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (by_tid(&g->spans[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && g->spans[low - 1].tid == tid && at <= g->spans[low - 1].to ? g->spans[low - 1].life : NULL;
}

static int on_stack(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames)
{
	struct looking *g = arg;
	const struct stack *kept;

	if (map_get(&g->stacks, id) != SOME)
		return 0;
	kept = model_stack(g->model, e, frames);
	return kept ? map_put(&g->stacks, id, (void *)kept) : -ENOMEM;
}

static const struct stack *stack(const struct looking *g, uint32_t id)
{
	const struct stack *s = id ? map_get(&g->stacks, id) : NULL;

	return s == SOME ? NULL : s;
}

static uint8_t notes(const struct looking *g, const struct event *e)
{
	if (!e->user && !e->kernel)
		return NOTE_NO_STACK;
	return (e->user && !stack(g, e->user) ? NOTE_USER_LOST : 0) |
	       (e->kernel && !stack(g, e->kernel) ? NOTE_KERNEL_LOST : 0);
}

static int emit(const struct looking *g, const struct recorded_source *l, const struct event *e, recorded_fn *fn,
		void *arg)
{
	bool block = e->kind == RING_BLOCK;
	int hz = block ? 0 : l->frequency(l->arg, e->at);
	struct stack_sample s = {
		.life = who(g, e->tid, e->at),
		.user = stack(g, e->user),
		.kernel = stack(g, e->kernel),
		.weight = block ? e->blocked_ns : 1000000000ULL / (hz > 0 ? hz : 1),
		.whole = block ? e->blocked_ns : 0,
		.count = 1,
		.wake_context = WAKE_CONTEXTS,
		.metric = !block ? METRIC_RUN : e->in_d ? METRIC_D : METRIC_SLEEP,
		.flags = notes(g, e),
	};
	uint64_t from = block ? e->at - e->off_ns : e->at;

	return s.life ? fn(arg, &s, from, block ? from + e->blocked_ns : from) : 0;
}

int recorded_read(const struct recorded_source *l, uint64_t from, uint64_t to, uint64_t *since, recorded_fn *fn,
		  void *arg)
{
	struct looking g = { .model = l->model, .cpu = -1, .current = TID_UNKNOWN, .before = TID_UNKNOWN };
	int err = l->events(l->arg, from, to, since, on_event, &g);

	if (g.current == TID_UNKNOWN)
		g.nr = g.first;
	if (!err)
		err = tick_lives(l->tick, on_life, &g);
	if (!err && g.nr)
		err = l->stacks(l->arg, on_stack, &g);
	VEC_SORT(g.spans, g.nr_spans, by_tid);
	for (size_t i = 0; i < g.nr && !err; i++)
		err = emit(&g, l, &g.events[i], fn, arg);
	map_fini(&g.stacks);
	free(g.events);
	free(g.spans);
	return err;
}
