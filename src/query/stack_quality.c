/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/stack_quality.h"

#include <stdbool.h>
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

const struct stack_cut_name stack_cuts[CUTS] = {
	[CUT_CALLER] = { "caller", "caller not found" },
	[CUT_UNREADABLE] = { "unreadable", "memory not readable" },
	[CUT_NO_CODE] = { "no_code", "no code there" },
	[CUT_TOO_DEEP] = { "too_deep", "too deep" },
	[CUT_NO_RULE] = { "no_rule", "no rule for the caller" },
	[CUT_EXEC] = { "exec", "inside execve" },
	[CUT_JIT] = { "jit", "JIT without frame pointers" },
	[CUT_NOT_TAKEN] = { "not_taken", "user stack not taken" },
	[CUT_NO_ROOM] = { "no_room", "no room" },
};

static enum stack_cut cut_of_end(const struct stack *s)
{
	static const uint8_t cuts[STACK_ENDS] = {
		[STACK_TRUNCATED] = CUT_CALLER, [STACK_UNREADABLE] = CUT_UNREADABLE, [STACK_NO_CODE] = CUT_NO_CODE,
		[STACK_TOO_DEEP] = CUT_TOO_DEEP, [STACK_NO_RULE] = CUT_NO_RULE,	     [STACK_EXEC] = CUT_EXEC,
	};
	uint64_t outermost = s && s->nr ? s->frames[s->nr - 1] : 0;

	if (!s || s->end >= STACK_ENDS)
		return CUT_NONE;
	/* Without unwind information or frame pointers any of these can follow. */
	if ((s->end == STACK_TRUNCATED || s->end == STACK_UNREADABLE || s->end == STACK_NO_CODE) && !(outermost & FRAME_KERNEL) &&
	    outermost & FRAME_ANONYMOUS && outermost != FRAME_GAP)
		return CUT_JIT;
	return cuts[s->end];
}

static enum stack_cut cut_of(const struct stack_sample *s)
{
	enum stack_cut user = cut_of_end(s->user);

	if (s->flags & (NOTE_USER_LOST | NOTE_KERNEL_LOST))
		return CUT_NO_ROOM;
	if (sample_lacks_user(s))
		return CUT_NOT_TAKEN;
	return user ? user : cut_of_end(s->kernel);
}

void stack_quality_add(struct stack_quality *q, const struct stack_sample *s)
{
	q->total += s->weight;
	if (!s->user && !s->kernel)
		return;
	q->stacks += s->weight;
	q->cut[cut_of(s)] += s->weight;
	add_frames(q, s);
}

uint64_t stack_quality_unwound(const struct stack_quality *q)
{
	return q->stacks ? q->cut[CUT_NONE] : VALUE_NA;
}

uint64_t stack_quality_functions(const struct stack_quality *q)
{
	return q->stacks ? (uint64_t)(q->functions + 0.5) : VALUE_NA;
}

uint64_t stack_quality_named(const struct stack_quality *q)
{
	return q->stacks ? (uint64_t)(q->named + 0.5) : VALUE_NA;
}

const char *stack_quality_cut_text(const struct stack_quality *q, char *buf, size_t size)
{
	bool shown[CUTS] = { [CUT_NONE] = true };
	size_t used = 0;
	char percent[16];

	*buf = '\0';
	for (int largest = -1; used < size; largest = -1) {
		for (int i = 0; i < CUTS; i++)
			if (!shown[i] && q->cut[i] && (largest < 0 || q->cut[i] > q->cut[largest]))
				largest = i;
		if (largest < 0)
			break;
		shown[largest] = true;
		used += snprintf(buf + used, size - used, "%s%s %s", used ? ", " : "cut: ",
				 stack_quality_percent(percent, sizeof(percent), q->cut[largest], q->stacks),
				 stack_cuts[largest].text);
	}
	return buf;
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
		len = snprintf(buf, size, "unwound %s fn %s named %s", unwound, functions, named);
	if (len > columns)
		snprintf(buf, size, "unwound %s named %s", unwound, named);
	return buf;
}
