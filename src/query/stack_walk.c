/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/stack_walk.h"

#include <stddef.h>

#include "model/sample.h"
#include "model/tick.h"
#include "query/source.h"
#include "sym/names.h"

static void add_mark(struct stack_walk *w, const char *mark)
{
	w->parts[w->nr_parts++].mark = mark;
}

static void add_frames(struct stack_walk *w, const uint64_t *frames, uint32_t nr, uint32_t tgid)
{
	w->parts[w->nr_parts++] = (struct stack_walk_part){ .frames = frames, .nr = nr, .tgid = tgid };
}

static void add_stack(struct stack_walk *w, const struct stack *s, bool marks)
{
	if (s && marks && s->end != STACK_COMPLETE)
		add_mark(w, "[truncated]");
	if (s)
		add_frames(w, s->frames, s->nr, s->tgid);
}

void stack_walk(struct stack_walk *w, const struct source *source, const struct stack_sample *s, int how)
{
	const struct stack *kernel = how & WALK_NO_KERNEL ? NULL : s->kernel;
	const struct stack *user = how & WALK_NO_USER ? NULL : s->user;
	bool marks = how & WALK_MARKS;

	*w = (struct stack_walk){ .source = source, .innermost = how & WALK_INNERMOST };
	if (marks && s->flags & NOTE_NEAR && (user || kernel))
		add_mark(w, "~");
	if (marks && !(how & WALK_NO_USER) && sample_lacks_user(s))
		add_mark(w, "[user stack not taken]");
	add_stack(w, user, marks);
	add_stack(w, kernel, marks);
	if (marks && !s->user && !s->kernel)
		add_mark(w, "[no stack]");
}

void stack_walk_frames(struct stack_walk *w, const struct source *source, const uint64_t *frames, uint32_t nr,
		       uint32_t tgid)
{
	*w = (struct stack_walk){ .source = source, .innermost = true };
	add_frames(w, frames, nr, tgid);
}

bool stack_walk_next(struct stack_walk *w)
{
	for (; w->part < w->nr_parts; w->part++, w->at = 0) {
		const struct stack_walk_part *p = &w->parts[w->innermost ? w->nr_parts - 1 - w->part : w->part];

		if (w->at >= (p->mark ? 1 : p->nr))
			continue;
		w->mark = p->mark;
		if (!p->mark) {
			w->frame = p->frames[w->innermost ? w->at : p->nr - 1 - w->at];
			w->tgid = p->tgid;
			w->kernel = w->frame & FRAME_KERNEL;
		}
		w->at++;
		return true;
	}
	return false;
}

const struct symbol *stack_walk_symbol(const struct stack_walk *w)
{
	return w->source->symbol(w->source->arg, w->frame, w->tgid);
}

const char *stack_walk_name(const struct stack_walk *w)
{
	const struct symbol *symbol = w->mark ? NULL : stack_walk_symbol(w);

	return w->mark ? w->mark : symbol ? symbol->name : "?";
}

static int ask(void *source, const struct stack_sample *s)
{
	struct stack_walk w;

	stack_walk(&w, source, s, WALK_INNERMOST);
	while (stack_walk_next(&w))
		stack_walk_symbol(&w);
	return 0;
}

void stack_walk_ask(const struct source *source, const struct tick *t)
{
	tick_samples(t, 1, ask, (void *)source);
}
