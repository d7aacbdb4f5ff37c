/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/subsecond.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/source.h"
#include "util/vec.h"

#define SEC 1000000000ULL

static uint64_t *parts_of(const struct subsecond *s, uint64_t second)
{
	return s->parts + second % SUBSECOND_SECONDS * SUBSECOND_PARTS;
}

static uint64_t first_second(const struct subsecond *s)
{
	return s->from + SUBSECOND_SECONDS < s->until ? s->until - SUBSECOND_SECONDS : s->from;
}

static bool has_second(const struct subsecond *s, uint64_t second)
{
	return second >= first_second(s) && second < s->until;
}

uint64_t subsecond_sum(const struct subsecond *s, uint64_t second, int first, int nr)
{
	uint64_t sum = 0;

	for (int i = first; i < first + nr && has_second(s, second); i++)
		sum += parts_of(s, second)[i];
	return sum;
}

bool subsecond_known(const struct subsecond *s, uint64_t second)
{
	return has_second(s, second) && s->known[second % SUBSECOND_SECONDS];
}

int subsecond_start(struct subsecond *s, enum subsecond_metric metric, uint64_t from)
{
	if (!s->parts)
		s->parts = calloc((size_t)SUBSECOND_SECONDS * SUBSECOND_PARTS, sizeof(*s->parts));
	s->metric = metric;
	s->from = s->until = from;
	s->since = from * SEC;
	map_fini(&s->waiting);
	return s->parts ? 0 : -ENOMEM;
}

void subsecond_fini(struct subsecond *s)
{
	free(s->parts);
	free(s->runs);
	free(s->blocks);
	map_fini(&s->waiting);
	*s = (struct subsecond){ 0 };
}

/* Adds a span to all the kept parts that it covers. */
static void add_span(struct subsecond *s, uint64_t from, uint64_t until)
{
	if (from < first_second(s) * SEC) /* a D state may have lasted for months */
		from = first_second(s) * SEC;
	while (from < until) {
		uint64_t end = from - from % SUBSECOND_PART_NS + SUBSECOND_PART_NS;

		if (end > until)
			end = until;
		if (has_second(s, from / SEC))
			parts_of(s, from / SEC)[from % SEC / SUBSECOND_PART_NS] += end - from;
		from = end;
	}
}

/* --- Waits for a CPU: a thread is woken on one CPU and runs on another */

static int add_turn(struct subsecond *s, uint32_t tid, uint64_t at, int to)
{
	const struct subsecond_turn turn = { at, tid, to };

	return tid ? VEC_PUSH(s->turns, s->nr_turns, s->turns_room, turn) : 0;
}

static int on_turn(struct subsecond *s, int cpu, const struct event *e)
{
	bool waits = e->state == RING_PREEMPTED || e->state == RING_YIELDED;
	int left = waits ? TURN_STOPS : e->state == RING_D ? TURN_IN_D : TURN_BLOCKED;
	int err = 0;

	if (cpu != s->cpu) {
		s->cpu = cpu;
		err = VEC_PUSH(s->runs, s->nr_runs, s->runs_room, s->nr_turns);
	}
	if (!err && event_begins_wait(e))
		err = add_turn(s, e->tid, e->at, TURN_WAITS);
	if (!err && e->kind == RING_SWITCH)
		err = add_turn(s, e->other, e->at, left);
	if (!err && e->kind == RING_SWITCH && !e->outside)
		err = add_turn(s, e->tid, e->at, TURN_RUNS);
	return err;
}

/* Merges two neighbouring runs by time. */
static void merge_two(const struct subsecond_turn *from, size_t a, size_t b, size_t end, struct subsecond_turn *to)
{
	size_t middle = b, at = a;

	while (a < middle || b < end)
		to[at++] = b == end || (a < middle && from[a].at <= from[b].at) ? from[a++] : from[b++];
}

/* Each CPU's run is sorted already: neighbours are merged until one run is left. */
static int sort_turns(struct subsecond *s)
{
	struct subsecond_turn *bigger = realloc(s->merged, (s->turns_room + 1) * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	s->merged = bigger;
	while (s->nr_runs > 1) {
		struct subsecond_turn *from = s->turns;
		size_t nr = 0;

		for (size_t i = 0; i < s->nr_runs; i += 2) {
			size_t middle = i + 1 < s->nr_runs ? s->runs[i + 1] : s->nr_turns;
			size_t end = i + 2 < s->nr_runs ? s->runs[i + 2] : s->nr_turns;

			merge_two(from, s->runs[i], middle, end, s->merged);
			s->runs[nr++] = s->runs[i];
		}
		s->nr_runs = nr;
		s->turns = s->merged;
		s->merged = from;
	}
	return 0;
}

/* A waking can come while the thread runs. Its next wait then begins when it is preempted, or with the waking that ends its block.
 * If none ends the block, the first waking did: only by another CPU's clock did it come before the block. */
static int take_turn(struct subsecond *s, const struct subsecond_turn *t)
{
	uint64_t waiting = (uintptr_t)map_get(&s->waiting, t->tid);

	switch (t->to) {
	case TURN_WAITS:
		return waiting && !(waiting & 1) ? 0 : map_put(&s->waiting, t->tid, (void *)(uintptr_t)(t->at << 1));
	case TURN_STOPS:
		return map_put(&s->waiting, t->tid, (void *)(uintptr_t)(t->at << 1));
	case TURN_IN_D:
	case TURN_BLOCKED:
		return waiting ? map_put(&s->waiting, t->tid, (void *)(uintptr_t)(waiting | 1)) : 0;
	default:
		if (waiting)
			add_span(s, waiting >> 1, t->at);
		map_del(&s->waiting, t->tid);
		return 0;
	}
}

/* A D state ends with the waking. If none follows, the waking came before the D state by another CPU's clock. A D state that began
 * before s->since has a block (add_blocks()). */
static int take_d(struct subsecond *s, const struct subsecond_turn *t)
{
	uint64_t since = (uintptr_t)map_get(&s->waiting, t->tid);

	if (t->to == TURN_IN_D && t->at >= s->since)
		return map_put(&s->waiting, t->tid, (void *)(uintptr_t)t->at);
	if (t->to == TURN_WAITS && since)
		add_span(s, since, t->at);
	map_del(&s->waiting, t->tid);
	return 0;
}

static int pair_turns(struct subsecond *s)
{
	int err = sort_turns(s);

	for (size_t i = 0; i < s->nr_turns && !err; i++)
		err = s->metric == SUBSECOND_D ? take_d(s, &s->turns[i]) : take_turn(s, &s->turns[i]);
	return err;
}

/* The turns of the first read are those of minutes, the turns of later ones those of a second. */
static void free_turns(struct subsecond *s)
{
	free(s->turns);
	free(s->merged);
	s->turns = s->merged = NULL;
	s->nr_turns = s->turns_room = 0;
}

/* Adds the D states whose switch may not have been read. */
static void add_blocks(struct subsecond *s)
{
	for (size_t i = 0; i < s->nr_blocks; i++)
		if (s->blocks[i].since < s->since)
			add_span(s, s->blocks[i].since, s->blocks[i].until);
}

/* --- Reading */

static int on_event(void *arg, int cpu, const struct event *e)
{
	struct subsecond *s = arg;
	uint64_t since = e->at - e->off_ns;

	if (s->metric == SUBSECOND_CPU) {
		if (e->kind == RING_SAMPLE && has_second(s, e->at / SEC))
			parts_of(s, e->at / SEC)[e->at % SEC / SUBSECOND_PART_NS]++;
		return 0;
	}
	if (s->metric == SUBSECOND_D && e->kind == RING_BLOCK && e->in_d)
		return VEC_PUSH(s->blocks, s->nr_blocks, s->blocks_room,
				((struct subsecond_block){ since, since + e->blocked_ns }));
	return on_turn(s, cpu, e);
}

int subsecond_read(struct subsecond *s, const struct source *source, uint64_t until)
{
	uint64_t from = s->until, since = from * SEC;
	bool gap;
	int err;

	if (until <= from)
		return 0;
	gap = until - from > SUBSECOND_SECONDS;
	if (gap)
		from = until - SUBSECOND_SECONDS;
	for (uint64_t second = from; second < until; second++)
		memset(parts_of(s, second), 0, SUBSECOND_PARTS * sizeof(*s->parts));
	s->until = until;
	s->nr_runs = s->nr_blocks = 0;
	s->cpu = -1;
	err = source->recorded_events(source->arg, from * SEC, until * SEC, &since, on_event, s);
	if (gap || since > from * SEC) { /* events were not read: threads that ran since would still count as waiting */
		map_fini(&s->waiting);
		s->since = since;
	}
	if (!err)
		err = pair_turns(s);
	free_turns(s);
	if (!err)
		add_blocks(s);
	for (uint64_t second = from; second < until; second++)
		s->known[second % SUBSECOND_SECONDS] = !err && second * SEC >= since;
	return err;
}

/* --- Ranges */

bool subsecond_has(const struct subsecond_range *r, uint64_t at)
{
	return at / SEC >= r->first && at / SEC <= r->last && at % SEC >= r->low && at % SEC < r->high;
}

uint64_t subsecond_overlap(const struct subsecond_range *r, uint64_t from, uint64_t until)
{
	uint64_t sum = 0, second = from / SEC > r->first ? from / SEC : r->first;

	for (; second <= r->last && second * SEC < until; second++) {
		uint64_t low = second * SEC + r->low, high = second * SEC + r->high;

		low = low > from ? low : from;
		high = high < until ? high : until;
		sum += high > low ? high - low : 0;
	}
	return sum;
}
