/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/stack_quality.h"

#include <stdio.h>

#include "model/metric.h"
#include "model/sample.h"
#include "model/tick.h"
#include "query/source.h"
#include "query/stack_walk.h"
#include "sym/names.h"

/* More stacks than the programs have ids for at a time: the cache is emptied when it is full. */
#define KNOWN_MAX (1 << 17)

/* Value in known: never NULL. */
#define COUNTED(frames, named) (void *)(((uintptr_t)(frames) << 16 | (named)) + 1)

struct count {
	uint32_t frames, named;
};

static struct count count_names(const struct source *source, const struct stack *s)
{
	struct count c = { 0 };
	struct stack_walk w;

	stack_walk_frames(&w, source, s->frames, s->nr, s->tgid);
	while (stack_walk_next(&w)) {
		const struct symbol *symbol = w.frame == FRAME_GAP ? NULL : stack_walk_symbol(&w);

		c.frames += w.frame != FRAME_GAP;
		c.named += symbol && symbol->named;
	}
	return c;
}

static void add_stack(struct stack_names *n, const struct source *source, const struct stack *s, struct count *sum)
{
	uint64_t key = (s->hash ^ (uint64_t)s->check << 32) | 1; /* as model_stack() */
	uintptr_t known = (uintptr_t)map_get(&n->known, key);
	struct count c = { (known - 1) >> 16, (known - 1) & 0xffff };

	if (!known) {
		c = count_names(source, s);
		(void)map_put(&n->known, key, COUNTED(c.frames, c.named)); /* on failure it is counted again */
	}
	sum->frames += c.frames;
	sum->named += c.named;
}

double stack_names_share(struct stack_names *n, const struct source *source, const struct stack_sample *s)
{
	uint64_t generation = source->names_generation(source->arg);
	struct count sum = { 0 };

	if (n->generation != generation || n->known.nr >= KNOWN_MAX)
		stack_names_fini(n);
	n->generation = generation;
	if (s->user)
		add_stack(n, source, s->user, &sum);
	if (s->kernel)
		add_stack(n, source, s->kernel, &sum);
	return sum.frames ? (double)sum.named / sum.frames : 0;
}

void stack_names_fini(struct stack_names *n)
{
	map_fini(&n->known);
	*n = (struct stack_names){ 0 };
}

static bool is_unwound(const struct stack_sample *s)
{
	return !sample_lacks_user(s) && !(s->flags & (NOTE_USER_LOST | NOTE_KERNEL_LOST)) &&
	       (!s->user || s->user->end == STACK_COMPLETE) && (!s->kernel || s->kernel->end == STACK_COMPLETE);
}

void stack_quality_add(struct stack_quality *q, const struct stack_sample *s, double named)
{
	q->total += s->weight;
	if (!s->user && !s->kernel)
		return;
	q->stacks += s->weight;
	q->unwound += is_unwound(s) ? s->weight : 0;
	q->named += s->weight * named;
}

uint64_t stack_quality_unwound(const struct stack_quality *q)
{
	return q->stacks ? q->unwound : VALUE_NA;
}

uint64_t stack_quality_named(const struct stack_quality *q)
{
	return q->stacks ? (uint64_t)(q->named + 0.5) : VALUE_NA;
}

const char *stack_quality_percent(char *buf, size_t size, uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * part / whole : 0;

	if (part == VALUE_NA || !whole)
		snprintf(buf, size, "-");
	else if (part && part < whole && (percent < 0.5 || percent >= 99.5))
		snprintf(buf, size, percent < 0.5 ? "1%%" : "99%%");
	else
		snprintf(buf, size, "%.0f%%", percent);
	return buf;
}

const char *stack_quality_text(const struct stack_quality *q, char *buf, size_t size)
{
	char unwound[16], named[16];

	snprintf(buf, size, "unwound %s named %s",
		 stack_quality_percent(unwound, sizeof(unwound), stack_quality_unwound(q), q->stacks),
		 stack_quality_percent(named, sizeof(named), stack_quality_named(q), q->stacks));
	return buf;
}
