/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/old_stacks.h"
#include "collect/stacks_internal.h"
#include "model/health.h"
#include "model/model.h"
#include "model/sample.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/vec.h"

/* If all CPUs together have this many events, they are read before the next tick: a quarter of one CPU's ring. */
#define EVENTS_DUE (STACK_EVENTS / 4)

/* Limit of events that a tick shows: this many for each CPU, or PENDING_LEAST if that is more. At 99 Hz the longest interval has
 * up to 12,000 of each CPU. */
#define PENDING_CPU (16U << 10)
#define PENDING_LEAST (1U << 20)

struct stacks *stacks_new(const struct stacks_memory *mem, struct model *model)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->mem = *mem;
	s->model = model;
	s->tails = calloc(mem->nr_cpus, sizeof(*s->tails));
	s->newest = calloc(mem->max_slots, sizeof(*s->newest));
	s->waits = calloc(mem->max_slots, sizeof(*s->waits));
	s->old = old_stacks_new(mem->window_ns, mem->old_bytes);
	if (s->tails && s->newest && s->waits && s->old)
		return s;
	stacks_free(s);
	return NULL;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	old_stacks_free(s->old);
	if (s->idle_life)
		model_life_end(s->model, s->idle_life);
	free(s->newest);
	free(s->pending);
	free(s->tails);
	free(s->waits);
	free(s);
}

/* --- Stacks by their ids */

/* The stack of a complete entry; NULL: it is incomplete, or there is no memory. */
static const struct stack *read_entry(struct stacks *s, uint32_t half, uint32_t index)
{
	const struct stack_entry *at = &s->mem.entries[half * STACK_HALF(s->mem.index_bits) + index];
	uint8_t flags = __atomic_load_n(&at->flags, __ATOMIC_ACQUIRE);
	struct stack_entry e = *at;
	size_t lines = (e.nr + STACK_LINE_FRAMES - 1) / STACK_LINE_FRAMES;

	if (!(flags & STACK_READY) || e.nr > STACK_USER_MAX || e.line + lines > 2 * STACK_LINES_HALF(s->mem.index_bits))
		return NULL;
	e.flags = flags;
	return model_stack(s->model, &e, (const uint64_t *)&s->mem.lines[e.line]);
}

/* Whether the half that an id refers to still has it. */
static bool is_current(const struct stacks *s, uint32_t id)
{
	uint32_t generation = id >> s->mem.index_bits, now = s->mem.shared->stack_generation;

	return generation == now || (s->clear && (generation & 1) == s->clear - 1 &&
				     generation == s->left);
}

/* The stack with this id, NULL: none, or it is not available. */
static const struct stack *find_stack(struct stacks *s, uint32_t id)
{
	if (!id || !is_current(s, id))
		return NULL;
	return read_entry(s, id >> s->mem.index_bits & 1, id & (STACK_HALF(s->mem.index_bits) - 1));
}

static struct stacks_half half_of(const struct stacks *s, uint32_t generation)
{
	uint32_t half = generation & 1;

	return (struct stacks_half){
		.generation = generation,
		.index_bits = s->mem.index_bits,
		.entries = &s->mem.entries[half * STACK_HALF(s->mem.index_bits)],
		.lines = &s->mem.lines[half * STACK_LINES_HALF(s->mem.index_bits)],
	};
}

int stacks_each(const struct stacks *s, stacks_fn *fn, void *arg)
{
	uint32_t now = s->mem.shared->stack_generation;
	struct stacks_half left = half_of(s, s->left), present = half_of(s, now);
	int err = old_stacks_each(s->old, fn, arg);

	if (!err && s->clear)
		err = half_each(&left, fn, arg);
	if (!err && now)
		err = half_each(&present, fn, arg);
	return err;
}

void stacks_hold(struct stacks *s, bool held)
{
	s->held += held ? 1 : -1;
}

static bool is_half_full(const struct stacks *s)
{
	const struct shared *shared = s->mem.shared;
	uint32_t half = shared->stack_generation & 1;

	return shared->stack_generation && (shared->stack_entries[half] >= STACK_HALF(s->mem.index_bits) / 2 ||
					    shared->stack_lines[half] >= STACK_LINES_HALF(s->mem.index_bits) / 2);
}

/* A program that took a place in a half writes it within this time; a refresh drains twice in a row. */
#define LEFT_NS 10000000

/* Switches to the other half when this one is half full: the rest must last until the next look, for 2,000 new stacks
 * of maximum depth in a quarter of a second, and more with more CPUs. Clears the previous half when nothing can be
 * writing to it any more. */
static void turn(struct stacks *s)
{
	struct shared *shared = s->mem.shared;
	uint32_t half = shared->stack_generation & 1, size = STACK_HALF(s->mem.index_bits);

	if (s->clear && clock_ns(CLOCK_MONOTONIC) - s->left_at < LEFT_NS)
		return;
	if (s->clear) {
		struct stacks_half left = half_of(s, s->left);

		half = s->clear - 1;
		s->clear = 0;
		old_stacks_keep(s->old, &left, clock_ns(CLOCK_BOOTTIME));
		memset(&s->mem.entries[half * size], 0, size * sizeof(struct stack_entry));
		shared->stack_lines[half] = shared->stack_entries[half] = 0;
		return;
	}
	if (!is_half_full(s))
		return;
	s->clear = half + 1;
	s->left = shared->stack_generation;
	s->left_at = clock_ns(CLOCK_MONOTONIC);
	/* The last generation is odd. */
	shared->stack_generation = s->left == STACK_GENERATION_MAX(s->mem.index_bits) ? 2 : s->left + 1;
}

/* --- Reading the rings */

static bool is_crowded(const struct stacks *s)
{
	return s->nr_pending >= PENDING_LEAST && s->nr_pending >= (size_t)s->mem.nr_cpus * PENDING_CPU;
}

static int keep(struct stacks *s, const struct stack_event *e)
{
	struct pending p = { .event = *e };
	uint32_t *newest;

	if (e->slot >= s->mem.max_slots)
		return 0;
	if (is_crowded(s)) {
		s->lost++;
		return 0;
	}
	newest = e->slot ? &s->newest[e->slot] : &s->idle;
	p.user = find_stack(s, e->user);
	p.kernel = find_stack(s, e->kernel);
	if (e->user && !p.user) /* the dictionary turned twice since it was taken */
		p.event.flags |= STACK_USER_LOST;
	if (e->kernel && !p.kernel)
		p.event.flags |= STACK_KERNEL_LOST;
	s->lost += (e->user && !p.user) + (e->kernel && !p.kernel);
	if (p.user && p.user->end < STACK_ENDS)
		s->ends[p.user->end]++;
	p.next = *newest;
	if (VEC_PUSH(s->pending, s->nr_pending, s->pending_room, p))
		return -ENOMEM;
	*newest = s->nr_pending;
	return 0;
}

static int drain_cpu(struct stacks *s, int cpu)
{
	const struct stack_event *ring = s->mem.areas[cpu]->stack_events;
	uint64_t head = __atomic_load_n(&s->mem.cpus[cpu].stack_events, __ATOMIC_ACQUIRE);
	uint64_t *tail = &s->tails[cpu];
	int err = 0;

	if (head - *tail > STACK_EVENTS) {
		s->lost += head - *tail - STACK_EVENTS;
		*tail = head - STACK_EVENTS;
	}
	for (; !err && *tail != head; ++*tail) {
		const struct stack_event *at = &ring[*tail % STACK_EVENTS];
		struct stack_event e;

		if (__atomic_load_n(&at->seq, __ATOMIC_ACQUIRE) != *tail + 1) {
			if (head - *tail < STACK_EVENTS / 2)
				return 0; /* it is being written */
			s->lost++;
			continue;
		}
		e = *at;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&at->seq, __ATOMIC_RELAXED) != *tail + 1)
			s->lost++; /* overwritten */
		else
			err = keep(s, &e);
	}
	return err;
}

bool stacks_due(const struct stacks *s)
{
	uint64_t nr = 0;

	for (int cpu = 0; cpu < s->mem.nr_cpus; cpu++)
		nr += __atomic_load_n(&s->mem.cpus[cpu].stack_events, __ATOMIC_RELAXED) - s->tails[cpu];
	return nr >= EVENTS_DUE || s->clear || is_half_full(s);
}

int stacks_drain(struct stacks *s)
{
	int err = 0;

	for (int cpu = 0; !err && cpu < s->mem.nr_cpus; cpu++)
		if (s->mem.areas[cpu])
			err = drain_cpu(s, cpu);
	turn(s);
	if (!s->held)
		old_stacks_age(s->old, clock_ns(CLOCK_BOOTTIME));
	return err;
}

void stacks_end(struct stacks *s)
{
	for (size_t i = 0; i < s->nr_pending; i++)
		s->newest[s->pending[i].event.slot] = 0;
	s->nr_pending = s->idle = 0;
}

const uint64_t *stacks_ends(const struct stacks *s)
{
	return s->ends;
}

uint64_t stacks_lost(const struct stacks *s)
{
	return s->lost;
}

void stacks_health(const struct stacks *s, struct health *h)
{
	const struct shared *shared = s->mem.shared;
	uint32_t half = shared->stack_generation & 1, bits = s->mem.index_bits;
	uint64_t early, old = old_stacks_bytes(s->old, &early);

	health_add(h, "Maps", "stacks", HEALTH_ON, "%u of %u in the current half: %.1f %%", shared->stack_entries[half],
		   STACK_HALF(bits), 100.0 * shared->stack_entries[half] / STACK_HALF(bits));
	health_add(h, "Maps", "frames", HEALTH_ON, "%u of %u lines: %.1f %%", shared->stack_lines[half], STACK_LINES_HALF(bits),
		   100.0 * shared->stack_lines[half] / STACK_LINES_HALF(bits));
	if (early)
		health_add(h, "Maps", "stacks of the window", HEALTH_DEGRADED,
			   "%s; %" PRIu64 " dropped early: a trace lacks them", BYTES_TEXT(old), early);
	else
		health_add(h, "Maps", "stacks of the window", HEALTH_ON, "%s: kept for the recorder's oldest events",
			   BYTES_TEXT(old));
}
