/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"

/* Slots copied at once: the ring is written to meanwhile. */
#define CHUNK_SLOTS 262144U

/* Events held between two switches until the second one is known. */
#define HELD_MAX 256

#define TIME_MASK ((1ULL << RING_TIME_BITS) - 1)

/* A slot's time is at most this far outside the times of the marks around it: a mark is set a little later than its time. */
#define MARK_OFF_NS 30000000000ULL

struct reading {
	const struct snapshot_ring *ring;
	struct event_loss *loss;
	uint32_t mark;      /* index of the last mark at or before the current place */
	uint64_t from;
	struct event held[HELD_MAX];
	int nr_held;
	uint64_t switched;  /* time of the last switch */
	uint32_t next;      /* thread that the last switch brought */
	bool known;
	struct event part;  /* an event of which not all slots have been read yet, */
	int part_slots;     /* and how many have been; 0: there is no such event */
	bool begun;         /* the first slot of the last event was read */
	event_fn *fn;
	void *arg;
};

/* The full time of a slot: the one between the marks around it. False: there are several, as no mark was set for long while
 * systop was stopped or the host was suspended. */
static bool whole_time(struct reading *r, uint64_t place, uint64_t low, uint64_t *time)
{
	const struct snapshot_ring *ring = r->ring;
	uint64_t from, to;

	while (r->mark + 1 < ring->nr_marks && ring->marks[r->mark + 1].head <= place)
		r->mark++;
	from = ring->marks[r->mark].at;
	to = r->mark + 1 < ring->nr_marks ? ring->marks[r->mark + 1].at : ring->at;
	if (to > from && to - from > TIME_MASK - 2 * MARK_OFF_NS)
		return false;
	from = from > MARK_OFF_NS ? from - MARK_OFF_NS : 0;
	*time = from + ((low - from) & TIME_MASK);
	return true;
}

/* Whether both words are of this place's lap. */
static bool is_whole(const struct reading *r, uint64_t place, const struct ring_slot *s)
{
	uint64_t lap = place / r->ring->nr & 0xff;

	return s->a >> RING_LAP_SHIFT == lap && s->b >> RING_LAP_SHIFT == lap;
}

/* Decodes the values and the detail of the kinds for which struct event has members. */
static void read_values(struct event *e, uint32_t detail)
{
	const uint64_t *v = e->values;

	switch (e->kind) {
	case RING_SAMPLE:
	case RING_BLOCK:
		e->tid = detail & RING_SAMPLE_TID;
		e->user_mode = e->kind == RING_SAMPLE && detail & RING_USER_MODE;
		e->in_d = e->kind == RING_BLOCK && detail & RING_IN_D;
		e->io_wait = e->kind == RING_BLOCK && detail & RING_IO_WAIT;
		e->user = v[0];
		e->kernel = v[1];
		return;
	case RING_WAKING:
		e->context = detail;
		e->last_cpu = RING_WITH(v[0]) | RING_WITH(v[1]) << 6;
		break;
	case RING_SWITCH:
		e->state = detail & RING_STATE_MASK;
		e->outside = detail & RING_OTHER;
		break;
	case RING_NEW:
		e->thread = detail & RING_THREAD;
		break;
	case RING_IRQ:
		e->source = detail;
		e->off_ns = ring_span_ns(v[0]);
		e->tid = RING_TID(v[1]);
		return;
	case RING_EXEC:
	case RING_RENAME:
		break;
	default:
		return;
	}
	e->tid = RING_TID(v[0]);
	e->other = RING_TID(v[1]);
}

/* The first slot of an event. False: it is none, or its time is unknown. */
static bool decode(struct reading *r, uint64_t place, const struct ring_slot *s, struct event *e)
{
	uint32_t kind = ring_kind(s->a);
	uint64_t at;

	if (kind == RING_NONE || kind >= RING_KINDS || !whole_time(r, place, s->a & TIME_MASK, &at))
		return false;
	*e = (struct event){
		.at = at,
		.kind = kind,
		.values = { s->b & RING_VALUE_MASK, s->b >> RING_VALUE_BITS & RING_VALUE_MASK },
	};
	read_values(e, ring_detail(s->a));
	return true;
}

static int hand_on(struct reading *r, const struct event *e)
{
	return e->at >= r->from ? r->fn(r->arg, e) : 0;
}

/* Clamps a time between the last switch and the next one. */
static uint64_t between(const struct reading *r, uint64_t at, uint64_t not_after)
{
	if (at > not_after)
		at = not_after;
	return at < r->switched ? r->switched : at;
}

/*
 * Passes on the held events. Slots are in the order in which things happened, but the times of switches may differ:
 * they can come from another CPU's clock or from the kernel's sums (sched.bpf.c). Other events are clamped between the
 * switches around them.
 */
static int flush_held(struct reading *r, uint64_t not_after)
{
	int err = 0;

	for (int i = 0; i < r->nr_held && !err; i++) {
		struct event *e = &r->held[i];
		bool slice = e->kind != RING_BLOCK && event_rows[e->kind].shape == EVENT_SLICE;
		uint64_t began = e->at > e->off_ns ? e->at - e->off_ns : 0;

		e->at = between(r, e->at, not_after);
		if (e->kind == RING_IRQ) /* must not begin before the previous switch, either */
			began = between(r, began, not_after);
		if (slice)
			e->off_ns = e->at > began ? e->at - began : 0;
		err = hand_on(r, e);
	}
	r->nr_held = 0;
	return err;
}

static int add_switch(struct reading *r, struct event *e)
{
	int err = flush_held(r, e->at);

	if (e->at < r->switched)
		e->at = r->switched;
	r->switched = e->at;
	r->loss->gaps += r->known && e->other != r->next;
	r->known = !e->outside;
	r->next = e->tid;
	return err ? err : hand_on(r, e);
}

static int add(struct reading *r, struct event *e)
{
	int err = 0;

	if (e->kind == RING_SWITCH)
		return add_switch(r, e);
	if (r->nr_held == HELD_MAX)
		err = flush_held(r, e->at);
	r->held[r->nr_held++] = *e;
	return err;
}

/* All its slots are there. */
static int add_whole(struct reading *r, struct event *e)
{
	const struct event_row *row = &event_rows[e->kind];

	if (row->shape == EVENT_SLICE && row->slots > 1)
		e->off_ns = e->values[event_measure(row)];
	if (e->kind == RING_BLOCK) { /* its whole time may not fit into the value, its wait for a CPU does */
		e->blocked_ns = e->values[3];
		e->off_ns = e->blocked_ns + ((e->off_ns - e->blocked_ns) & RING_VALUE_A_MASK);
	}
	return add(r, e);
}

/* An event of which not all slots are read is lost as a whole. */
static void add_lost(struct reading *r)
{
	r->loss->torn++;
	r->known = false;
	r->part_slots = 0;
}

static int add_slot(struct reading *r, uint64_t place, const struct ring_slot *s)
{
	struct event *e = &r->part;
	uint64_t kind = s->a >> RING_KIND_SHIFT & 15;

	if (!is_whole(r, place, s)) {
		add_lost(r);
		return 0;
	}
	if (kind == RING_KIND_VALUES) {
		int at = 2 * r->part_slots;

		if (!r->part_slots) {
			r->loss->torn += r->begun; /* otherwise its first slot precedes the part that is read */
			return 0;
		}
		e->values[at] = ring_value_a(s->a);
		e->values[at + 1] = s->b & ((1ULL << RING_LAP_SHIFT) - 1);
		r->part_slots = r->part_slots + 1 < event_rows[e->kind].slots ? r->part_slots + 1 : 0;
		return r->part_slots ? 0 : add_whole(r, e);
	}
	if (r->part_slots) /* the rest of it never came */
		add_lost(r);
	r->begun = decode(r, place, s, e);
	if (!r->begun) {
		add_lost(r);
		return 0;
	}
	r->part_slots = event_rows[e->kind].slots > 1;
	return r->part_slots ? 0 : add(r, e);
}

/* Reads slots @place to @place + @nr, as far as they were not overwritten before they were copied. */
static int read_chunk(struct reading *r, uint64_t place, uint32_t nr, struct ring_slot *copy)
{
	const struct snapshot_ring *ring = r->ring;
	uint32_t at = place & (ring->nr - 1), left = ring->nr - at;
	uint64_t head;
	int err = 0;

	memcpy(copy, &ring->slots[at], (nr < left ? nr : left) * sizeof(*copy));
	if (nr > left)
		memcpy(copy + left, ring->slots, (nr - left) * sizeof(*copy));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	head = __atomic_load_n(ring->head, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < nr && !err; i++, place++) {
		if (place + ring->nr >= head) {
			err = add_slot(r, place, &copy[i]);
			continue;
		}
		r->loss->overwritten++;
		r->known = r->begun = false;
		r->part_slots = 0;
	}
	return err;
}

int snapshot_read(const struct snapshot_ring *ring, uint64_t from, event_fn *fn, void *arg,
		  struct event_loss *loss)
{
	struct reading r = { .ring = ring, .loss = loss, .from = from, .fn = fn, .arg = arg };
	uint64_t place = ring->end > ring->nr ? ring->end - ring->nr : 0;
	uint32_t most = ring->nr < CHUNK_SLOTS ? ring->nr : CHUNK_SLOTS;
	struct ring_slot *copy;
	int err = 0;

	if (!ring->nr_marks)
		return 0;
	if (place < ring->from)
		place = ring->from;
	/* Slots older than the first mark have no known time. */
	if (place < ring->marks[0].head)
		place = ring->marks[0].head;
	copy = malloc(most * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	while (place < ring->end && !err) {
		uint32_t nr = ring->end - place < most ? ring->end - place : most;

		err = read_chunk(&r, place, nr, copy);
		place += nr;
	}
	if (!err)
		err = flush_held(&r, UINT64_MAX);
	free(copy);
	return err;
}
