/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/old_stacks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/map.h"

/* Shared by all halves that contain it. */
struct old_stack {
	struct stack_entry entry;
	uint32_t halves;  /* number of halves that contain it */
	bool alone;       /* it is not in the map, where another stack has its place */
	uint64_t frames[];
};

struct old_half {
	uint32_t generation, index_bits;
	uint32_t nr;
	uint64_t left_ns; /* when it was cleared: slots written later have no ids of it */
	struct old_half *next;
	struct old_id {
		uint32_t index;
		struct old_stack *stack;
	} ids[];
};

struct old_stacks {
	uint64_t window_ns, max_bytes;
	struct old_half *oldest, **end;
	struct map stacks; /* stack_key() -> struct old_stack */
	uint64_t bytes;
	uint64_t early;
};

struct old_stacks *old_stacks_new(uint64_t window_ns, uint64_t max_bytes)
{
	struct old_stacks *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->window_ns = window_ns;
	o->max_bytes = max_bytes;
	o->end = &o->oldest;
	return o;
}

static size_t frames_bytes(const struct stack_entry *e)
{
	return e->nr * sizeof(uint64_t);
}

/* --- One stack */

static bool is_same(const struct old_stack *s, const struct stack_entry *e, const uint64_t *frames)
{
	return s->entry.hash == e->hash && s->entry.check == e->check && s->entry.tgid == e->tgid && s->entry.nr == e->nr &&
	       s->entry.end == e->end && s->entry.flags == e->flags && !memcmp(s->frames, frames, frames_bytes(e));
}

static struct old_stack *stack_take(struct old_stacks *o, const struct stack_entry *e, const uint64_t *frames)
{
	uint64_t key = stack_key(e->hash, e->check);
	struct old_stack *known = map_get(&o->stacks, key), *s = known;

	if (!known || !is_same(known, e, frames)) {
		s = malloc(sizeof(*s) + frames_bytes(e));
		if (!s)
			return NULL;
		*s = (struct old_stack){ .entry = *e, .alone = known };
		memcpy(s->frames, frames, frames_bytes(e));
		if (!known && map_put(&o->stacks, key, s)) {
			free(s);
			return NULL;
		}
		o->bytes += sizeof(*s) + frames_bytes(e);
	}
	s->halves++;
	return s;
}

static void stack_leave(struct old_stacks *o, struct old_stack *s)
{
	if (--s->halves)
		return;
	if (!s->alone)
		map_del(&o->stacks, stack_key(s->entry.hash, s->entry.check));
	o->bytes -= sizeof(*s) + frames_bytes(&s->entry);
	free(s);
}

/* --- Halves */

int half_each(const struct stacks_half *h, stacks_fn *fn, void *arg)
{
	uint32_t all = STACK_LINES_HALF(h->index_bits), first = (h->generation & 1) * all;
	int err = 0;

	for (uint32_t i = 0; i < STACK_HALF(h->index_bits) && !err; i++) {
		const struct stack_entry *e = &h->entries[i];
		size_t nr = (e->nr + STACK_LINE_FRAMES - 1) / STACK_LINE_FRAMES;

		if (!(__atomic_load_n(&e->flags, __ATOMIC_ACQUIRE) & STACK_READY) || e->nr > STACK_USER_MAX ||
		    e->line < first || e->line - first + nr > all)
			continue;
		err = fn(arg, h->generation << h->index_bits | i, e, (const uint64_t *)&h->lines[e->line - first]);
	}
	return err;
}

static size_t half_bytes(uint32_t nr)
{
	return sizeof(struct old_half) + nr * sizeof(struct old_id);
}

static void forget_oldest(struct old_stacks *o)
{
	struct old_half *h = o->oldest;

	for (uint32_t i = 0; i < h->nr; i++)
		stack_leave(o, h->ids[i].stack);
	o->bytes -= half_bytes(h->nr);
	o->oldest = h->next;
	if (!o->oldest) {
		o->end = &o->oldest;
		map_fini(&o->stacks); /* at its largest it takes a megabyte */
	}
	free(h);
}

static int count(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames)
{
	(void)id, (void)e, (void)frames;
	++*(uint32_t *)arg;
	return 0;
}

struct keeping {
	struct old_stacks *to;
	struct old_half *half;
	uint32_t room;
};

static int keep_one(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames)
{
	struct keeping *k = arg;
	struct old_stack *s = k->half->nr < k->room ? stack_take(k->to, e, frames) : NULL;

	if (s)
		k->half->ids[k->half->nr++] = (struct old_id){ id & (STACK_HALF(k->half->index_bits) - 1), s };
	return 0;
}

void old_stacks_keep(struct old_stacks *o, const struct stacks_half *h, uint64_t now)
{
	struct keeping k = { .to = o };

	if (!o->window_ns)
		return;
	half_each(h, count, &k.room);
	k.half = malloc(half_bytes(k.room));
	if (!k.half)
		return;
	*k.half = (struct old_half){ .generation = h->generation, .index_bits = h->index_bits, .left_ns = now };
	half_each(h, keep_one, &k);
	o->bytes += half_bytes(k.half->nr);
	*o->end = k.half;
	o->end = &k.half->next;
	while (o->oldest && o->bytes > o->max_bytes) {
		o->early += o->oldest->nr;
		forget_oldest(o);
	}
}

void old_stacks_age(struct old_stacks *o, uint64_t now)
{
	while (o->oldest && now > o->oldest->left_ns + o->window_ns)
		forget_oldest(o);
}

int old_stacks_each(const struct old_stacks *o, stacks_fn *fn, void *arg)
{
	int err = 0;

	for (const struct old_half *h = o->oldest; h && !err; h = h->next)
		for (uint32_t i = 0; i < h->nr && !err; i++)
			err = fn(arg, h->generation << h->index_bits | h->ids[i].index, &h->ids[i].stack->entry,
				 h->ids[i].stack->frames);
	return err;
}

uint64_t old_stacks_bytes(const struct old_stacks *o, uint64_t *early)
{
	*early = o->early;
	return o->bytes;
}

void old_stacks_free(struct old_stacks *o)
{
	if (!o)
		return;
	while (o->oldest)
		forget_oldest(o);
	free(o);
}
