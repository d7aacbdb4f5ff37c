/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/stack_quality.h"

#include <stdio.h>

#include "model/metric.h"
#include "model/sample.h"
#include "model/tick.h"
#include "query/source.h"
#include "query/stack_walk.h"
#include "sym/names.h"

void stack_quality_begin(struct stack_quality *q, const struct source *source)
{
	*q = (struct stack_quality){ .source = source };
	q->names = (uint32_t)source->names_generation(source->arg) + 1;
	q->names += !q->names; /* 0 is no generation */
}

static void count_names(const struct stack_quality *q, struct stack *s)
{
	struct stack_walk w;

	s->counted = q->names;
	s->nr_real = s->nr_functions = s->nr_named = 0;
	stack_walk_frames(&w, q->source, s->frames, s->nr, s->tgid);
	while (stack_walk_next(&w)) {
		const struct symbol *symbol = w.frame == FRAME_GAP ? NULL : stack_walk_symbol(&w);

		s->nr_real += w.frame != FRAME_GAP;
		s->nr_functions += symbol && (symbol->named || symbol->function);
		s->nr_named += symbol && symbol->named;
	}
}

/* Adds what a sample's frames have: their share in its weight. */
static void add_frames(struct stack_quality *q, const struct stack_sample *s)
{
	const struct stack *const parts[] = { s->user, s->kernel };
	uint32_t frames = 0, functions = 0, named = 0;

	for (int i = 0; i < 2; i++) {
		if (!parts[i])
			continue;
		if (parts[i]->counted != q->names)
			count_names(q, (struct stack *)parts[i]);
		frames += parts[i]->nr_real;
		functions += parts[i]->nr_functions;
		named += parts[i]->nr_named;
	}
	if (!frames)
		return;
	q->functions += functions == frames ? s->weight : s->weight * (double)functions / frames;
	q->named += named == frames ? s->weight : s->weight * (double)named / frames;
}

static bool is_unwound(const struct stack_sample *s)
{
	return !sample_lacks_user(s) && !(s->flags & (NOTE_USER_LOST | NOTE_KERNEL_LOST)) &&
	       (!s->user || s->user->end == STACK_COMPLETE) && (!s->kernel || s->kernel->end == STACK_COMPLETE);
}

void stack_quality_add(struct stack_quality *q, const struct stack_sample *s)
{
	q->total += s->weight;
	if (!s->user && !s->kernel)
		return;
	q->stacks += s->weight;
	q->unwound += is_unwound(s) ? s->weight : 0;
	add_frames(q, s);
}

uint64_t stack_quality_unwound(const struct stack_quality *q)
{
	return q->stacks ? q->unwound : VALUE_NA;
}

uint64_t stack_quality_functions(const struct stack_quality *q)
{
	return q->stacks ? (uint64_t)(q->functions + 0.5) : VALUE_NA;
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

const char *stack_quality_text(const struct stack_quality *q, char *buf, size_t size, int columns)
{
	char unwound[16], functions[16], named[16];
	int len;

	stack_quality_percent(unwound, sizeof(unwound), stack_quality_unwound(q), q->stacks);
	stack_quality_percent(functions, sizeof(functions), stack_quality_functions(q), q->stacks);
	stack_quality_percent(named, sizeof(named), stack_quality_named(q), q->stacks);
	len = snprintf(buf, size, "unwound %s functions %s named %s", unwound, functions, named);
	if (len > columns)
		snprintf(buf, size, "unwound %s fn %s named %s", unwound, functions, named);
	return buf;
}
