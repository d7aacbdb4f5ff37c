/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/kept.h"

#include "export/capture.h"
#include "export/trace_index.h"
#include "record/keep.h"
#include "record/snapshot.h"

/* A live ring may be overwritten while it is read: one part in MARGIN is skipped at its old end. */
#define MARGIN 16

static const struct trace_index_cpu *cpu_of(const struct kept *k, uint32_t cpu)
{
	return &TRACE_INDEX_AT(k->index, cpus, struct trace_index_cpu)[cpu];
}

static struct snapshot_ring ring_of(const struct kept *k, uint32_t cpu)
{
	const struct trace_index_cpu *c = cpu_of(k, cpu);
	const struct keep_ring *r = &k->rings[cpu];

	return (struct snapshot_ring){
		.slots = r->slots,
		.nr = k->index->ring_slots,
		.head = r->head,
		.from = r->from,
		.end = c->head,
		.marks = TRACE_INDEX_AT(k->index, marks, struct event_mark) + c->first,
		.nr_marks = c->nr,
		.at = k->index->clocks.boottime_ns,
	};
}

static bool has(void *arg, uint32_t cpu)
{
	const struct kept *k = arg;
	const struct trace_index_cpu *c = cpu_of(k, cpu);

	return c->online && c->nr && k->rings[cpu].slots && c->first + (uint64_t)c->nr <= k->index->marks.nr;
}

static int first_time(void *arg, const struct event *e)
{
	*(uint64_t *)arg = e->at;
	return 1;
}

/* The first slot of a CPU's ring that will still be valid when it is read. */
static uint64_t first_left(const struct snapshot_ring *ring, bool copied)
{
	uint64_t head = *ring->head, gone = head > ring->nr ? head - ring->nr : 0;

	if (gone && !copied)
		gone += ring->nr / MARGIN;
	return gone > ring->from ? gone : ring->from;
}

/* Since when a CPU's ring is complete: the first mark in it, or the first event if that is older. */
static uint64_t since(void *arg, uint32_t cpu)
{
	const struct kept *k = arg;
	struct snapshot_ring ring = ring_of(k, cpu);
	uint64_t first = k->index->end;
	struct event_loss loss = { 0 };

	/* slots that are gone by now are before the trace: they do not count as lost */
	ring.from = k->rings[cpu].from = first_left(&ring, k->rings[cpu].copied);
	snapshot_read(&ring, 0, first_time, &first, &loss);
	for (uint32_t i = 0; i < ring.nr_marks; i++)
		if (ring.marks[i].head >= ring.from)
			return ring.marks[i].at < first ? ring.marks[i].at : first;
	return first;
}

static int events(void *arg, uint32_t cpu, uint64_t from, event_fn *fn, void *fn_arg, struct event_loss *loss)
{
	const struct snapshot_ring ring = ring_of(arg, cpu);

	return snapshot_read(&ring, from, fn, fn_arg, loss);
}

void kept_capture(struct capture *c, struct kept *k)
{
	c->index = k->index;
	c->arg = k;
	c->has = has;
	c->since = since;
	c->events = events;
}
