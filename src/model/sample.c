/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks that ticks show, each once, and the samples that have them. A tick's samples are one
 * block, which the tick and the past both hold.
 */
#include "model/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/internal.h"
#include "util/vec.h"

/* Ticks that a stack is kept beyond the last one that shows it: its thread may still wait where it
 * was, see collect/stacks.c. */
#define KEEP 16

/* Stacks that no tick shows any more are looked for so often. */
#define FORGET_EVERY 16

const char *const time_names[TIME_KINDS] = { "cpu", "runq", "sleep", "d" };

const struct stack *model_stack(struct model *m, const struct stack *like)
{
	size_t bytes = sizeof(*like) + like->nr * sizeof(like->frames[0]);
	/* Two stacks with one hash: the second one is told by the other. */
	uint64_t key = (like->hash ^ (uint64_t)like->check << 32) | 1;
	struct stack *s = map_get(&m->stacks, key);

	if (!s) {
		s = malloc(bytes);
		if (!s)
			return NULL;
		memcpy(s, like, bytes);
		if (map_put(&m->stacks, key, s)) {
			free(s);
			return NULL;
		}
	}
	s->seq = m->seq + 1; /* the tick to come, when called between two */
	return s;
}

int model_sample(struct model *m, const struct stack_sample *s)
{
	struct tick_node *n = m->now;

	if (!n->samples) {
		n->samples = calloc(1, sizeof(*n->samples));
		if (!n->samples)
			return -ENOMEM;
		n->samples->holders = 1;
	}
	return VEC_PUSH(n->samples->at, n->samples->nr, n->samples->room, *s);
}

void samples_put(struct sample_block *b)
{
	if (!b || --b->holders)
		return;
	free(b->at);
	free(b);
}

static uint64_t oldest_shown(const struct model *m)
{
	uint64_t oldest = past_oldest(m->past);

	for (const struct tick_node *n = m->held; n; n = n->next)
		if (n->tick.seq < oldest)
			oldest = n->tick.seq;
	return oldest < m->seq ? oldest : m->seq;
}

/* A stack is used by the ticks up to its seq: what is older than all ticks goes. */
void model_stacks_forget(struct model *m)
{
	uint64_t oldest;
	struct map kept = { 0 };

	if (m->seq % FORGET_EVERY)
		return;
	oldest = oldest_shown(m);
	for (size_t i = 0; i < m->stacks.room; i++) {
		struct stack *s = m->stacks.entries[i].value;

		if (!s)
			continue;
		if (s->seq + KEEP >= oldest) {
			if (map_put(&kept, m->stacks.entries[i].key, s)) {
				map_fini(&kept);
				return; /* the next time */
			}
		}
	}
	for (size_t i = 0; i < m->stacks.room; i++) {
		struct stack *s = m->stacks.entries[i].value;

		if (s && s->seq + KEEP < oldest)
			free(s);
	}
	map_fini(&m->stacks);
	m->stacks = kept;
}

void model_stacks_free(struct model *m)
{
	for (size_t i = 0; i < m->stacks.room; i++)
		free(m->stacks.entries[i].value);
	map_fini(&m->stacks);
}

const struct stack_sample *tick_samples(const struct tick *any, uint64_t seq, size_t *nr)
{
	const struct model *m = ((const struct tick_node *)any)->model;
	const struct sample_block *b = m->past ? past_samples(m->past, seq) : NULL;

	for (const struct tick_node *n = m->held; !b && n; n = n->next)
		if (n->tick.seq == seq)
			b = n->samples;
	*nr = b ? b->nr : 0;
	return b ? b->at : NULL;
}
