/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/stack_quality.h"

#include <stdio.h>
#include <string.h>

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

_Static_assert((int)LACKS == STACK_LACKS, "a count for each");

static enum frame_lack lack_of(const struct stack_walk *w)
{
	const struct source *source = w->source;
	const struct symbol *symbol;

	if (source->lack)
		return source->lack(source->arg, w->frame, w->tgid);
	symbol = stack_walk_symbol(w);
	if (symbol && symbol->named)
		return LACK_NOTHING;
	return symbol && symbol->function ? LACK_SYMBOL : LACK_FILE;
}

static void count_names(const struct stack_quality *q, struct stack *s)
{
	struct stack_walk w;

	s->counted = q->names;
	memset(s->lacks, 0, sizeof(s->lacks));
	stack_walk_frames(&w, q->source, s->frames, s->nr, s->tgid);
	while (stack_walk_next(&w))
		if (w.frame != FRAME_GAP)
			s->lacks[lack_of(&w)]++;
}

static double share_of(uint64_t weight, uint32_t part, uint32_t whole)
{
	return part == whole ? weight : weight * (double)part / whole;
}

/* Adds the shares of a sample's weight whose frames are functions, and those that lack something. */
static void add_frames(struct stack_quality *q, const struct stack_sample *s)
{
	const struct stack *const parts[] = { s->user, s->kernel };
	uint32_t lacks[LACKS] = { 0 }, frames = 0;

	for (int i = 0; i < 2; i++) {
		if (!parts[i])
			continue;
		if (parts[i]->counted != q->names)
			count_names(q, (struct stack *)parts[i]);
		for (int lack = 0; lack < LACKS; lack++) {
			lacks[lack] += parts[i]->lacks[lack];
			frames += parts[i]->lacks[lack];
		}
	}
	if (!frames)
		return;
	for (int lack = 0; lack < LACKS; lack++)
		q->lacks[lack] += share_of(s->weight, lacks[lack], frames);
	q->functions += share_of(s->weight, lacks[LACK_NOTHING] + lacks[LACK_SYMBOL] + lacks[LACK_DEBUG], frames);
}

const struct stack_reason stack_cuts[CUTS] = {
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

const struct stack_reason stack_lacks[] = {
	[LACK_NOTHING] = { "nothing", "nothing" },
	[LACK_SYMBOL] = { "stripped", "stripped, no debug file" },
	[LACK_DEBUG] = { "reading_debug", "debug file being read" },
	[LACK_READ] = { "not_read", "not read yet" },
	[LACK_HIDDEN] = { "hidden", "kernel symbols hidden" },
	[LACK_GONE] = { "gone", "file not there" },
	[LACK_BAD] = { "unreadable", "file unreadable" },
	[LACK_JIT] = { "jit", "JIT without names" },
	[LACK_UNWIND] = { "no_unwind", "code without unwind rows" },
	[LACK_FILE] = { "no_file", "file unknown" },
};

_Static_assert(sizeof(stack_lacks) / sizeof(stack_lacks[0]) == LACKS, "a text for each");

static enum stack_cut cut_of_end(const struct stack *s)
{
	static const uint8_t cuts[STACK_ENDS] = {
		[STACK_TRUNCATED] = CUT_CALLER, [STACK_UNREADABLE] = CUT_UNREADABLE, [STACK_NO_CODE] = CUT_NO_CODE,
		[STACK_TOO_DEEP] = CUT_TOO_DEEP, [STACK_NO_RULE] = CUT_NO_RULE,	     [STACK_EXEC] = CUT_EXEC,
	};
	uint64_t outermost = s && s->nr ? s->frames[s->nr - 1] : 0;

	if (!s || s->end >= STACK_ENDS)
		return CUT_NONE;
	/* A walk through JIT code without unwind information or frame pointers can end in any of these ways. */
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
	return q->stacks ? (uint64_t)(q->lacks[LACK_NOTHING] + 0.5) : VALUE_NA;
}

/* A list of reasons with their weights. */
struct reasons {
	const char *title;
	uint64_t weight[16];
	const char *text[16];
	int nr;
};

_Static_assert(CUTS <= 16 && LACKS <= 16, "room for all reasons");

static void add_reason(struct reasons *r, uint64_t weight, const char *text)
{
	r->weight[r->nr] = weight;
	r->text[r->nr++] = text;
}

/* Appends the reasons after the first @used characters, the largest first. Returns the number of characters in all, or as it would
 * be with more room. */
static size_t put_reasons(struct reasons *r, uint64_t all, char *buf, size_t size, size_t used)
{
	size_t begin = used;

	for (int largest = -1; used < size; largest = -1) {
		for (int i = 0; i < r->nr; i++)
			if (r->weight[i] && (largest < 0 || r->weight[i] > r->weight[largest]))
				largest = i;
		if (largest < 0)
			break;
		used += snprintf(buf + used, size - used, "%s%s%s %s", used > begin ? ", " : begin ? "; " : "",
				 used > begin ? "" : r->title,
				 STACK_PERCENT(r->weight[largest], all), r->text[largest]);
		r->weight[largest] = 0;
	}
	return used;
}

const char *stack_quality_cut_text(const struct stack_quality *q, char *buf, size_t size)
{
	struct reasons cut = { .title = "cut: " };

	*buf = '\0';
	for (int i = CUT_NONE + 1; i < CUTS; i++)
		add_reason(&cut, q->cut[i], stack_cuts[i].text);
	put_reasons(&cut, q->stacks, buf, size, 0);
	return buf;
}

const char *stack_quality_lack_text(const struct stack_quality *q, char *buf, size_t size)
{
	struct reasons function = { .title = "no function: " }, name = { .title = "no name: " };

	*buf = '\0';
	for (int i = LACK_NOTHING + 1; i < LACKS; i++)
		add_reason(i == LACK_SYMBOL || i == LACK_DEBUG ? &name : &function, stack_quality_lack(q, i), stack_lacks[i].text);
	put_reasons(&name, q->stacks, buf, size, put_reasons(&function, q->stacks, buf, size, 0));
	return buf;
}

uint64_t stack_quality_lack(const struct stack_quality *q, int lack)
{
	return (uint64_t)(q->lacks[lack] + 0.5);
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
	const char *unwound = STACK_PERCENT(stack_quality_unwound(q), q->stacks);
	const char *functions = STACK_PERCENT(stack_quality_functions(q), q->stacks);
	const char *named = STACK_PERCENT(stack_quality_named(q), q->stacks);
	int len = snprintf(buf, size, "unwound %s functions %s named %s", unwound, functions, named);

	if (len > columns)
		len = snprintf(buf, size, "unwound %s fn %s named %s", unwound, functions, named);
	if (len > columns)
		snprintf(buf, size, "unwound %s named %s", unwound, named);
	return buf;
}
