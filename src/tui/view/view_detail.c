/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "model/sample.h"
#include "tui/screen/host.h"
#include "tui/view/detail.h"
#include "tui/widget/pager.h"

/* From top to bottom. */
static detail_pane *const panes[] = { detail_identity, detail_values, detail_memory, detail_time, detail_waits,
				     detail_behind,   detail_wakers, detail_stacks, detail_arguments };

struct detail_view {
	struct pager pager;      /* first */
	const struct tick *tick; /* held: the last one that has the row */
	const struct row *row;
	uint64_t searched;       /* refreshes up to this one were searched for the row */
	bool gone;
	uint64_t nr_shown;       /* struct view_context.nr_shown when what follows was found */
	struct values past[HISTORY_TICKS];
	uint64_t lengths[HISTORY_TICKS];
	struct pairs pairs;
	struct wakers wakers;
	struct stack_quality stacks[METRIC_COUNT];
};

/* Sums of the row's samples. */
struct adding {
	struct detail_view *view;
	const struct view_context *context;
};

static int add_quality(void *arg, const struct stack_sample *sample)
{
	const struct adding *a = arg;

	if (subject_holds_life(&a->context->within, sample->life))
		stack_quality_add(&a->view->stacks[sample->metric], sample);
	return 0;
}

static int is_held(void *arg, const struct life *l, const struct values *v)
{
	(void)v;
	return subject_holds_life(arg, l);
}

/* The last tick after @after and before @t in which the subject did something, held; NULL: none is remembered. */
static const struct tick *last_of(struct subject subject, const struct tick *t, uint64_t after)
{
	uint64_t oldest, seq = t->seq;

	tick_past(t, &oldest);
	while (--seq >= oldest && seq > after)
		if (tick_threads(t, seq, is_held, &subject) == 1)
			return tick_at(t, seq);
	return NULL;
}

static void add_wokens(struct wakers *w, const struct tick *t, const struct subject *of)
{
	for (size_t i = 0; i < t->nr_wokens; i++)
		if (subject_holds_life(of, t->wokens[i].life))
			wakers_add_woken(w, &t->wokens[i]);
}

static void find_wakers(struct wakers *w, const struct tick *t, const struct subject *of)
{
	const struct tick *head;

	wakers_fini(w);
	add_wokens(w, t, of);
	for (uint64_t back = 1; back < HISTORY_TICKS && back < t->seq && (head = tick_head(t, t->seq - back)); back++)
		add_wokens(w, head, of);
	wakers_sort(w);
}

/* Updates what another shown tick changes. */
static int take_tick(struct detail_view *s, const struct view_context *c)
{
	const struct row *r = subject_row(&c->within, c->tick);
	const struct tick *with = NULL;
	int err;

	s->gone = !r;
	if (r)
		with = tick_get(c->tick);
	else if (c->tick->seq > s->searched) /* it may have ended before the detail was opened, or during a pause */
		with = last_of(c->within, c->tick, s->searched);
	if (r || c->tick->seq > s->searched)
		s->searched = c->tick->seq;
	if (with) {
		tick_put(s->tick);
		s->tick = with;
		s->row = r ? r : subject_row(&c->within, with);
	}
	if (!s->row)
		return 0;
	find_wakers(&s->wakers, c->tick, &c->within);
	for (int i = 0; i < HISTORY_TICKS; i++)
		s->lengths[i] = tick_length(c->tick, HISTORY_TICKS - 1 - i);
	err = pairs_find(&s->pairs, c->tick, false, &c->within);
	if (!err)
		err = tick_history(c->tick, &s->row, 1, HISTORY_TICKS, false, s->past);
	s->nr_shown = err ? 0 : c->nr_shown;
	return err;
}

static int detail_update(void *state, const struct view_context *c)
{
	struct detail_view *s = state;
	int err = s->nr_shown == c->nr_shown ? 0 : take_tick(s, c);

	if (!s->row)
		return err;
	if (s->row->process) {
		c->host->want_memory(c->host->arg, &s->row->process->tgid, 1);
		c->host->want_commands(c->host->arg, &s->row->process->tgid, 1);
	}
	for (int m = 0; m < METRIC_COUNT; m++)
		stack_quality_begin(&s->stacks[m], &c->host->source);
	tick_samples(s->tick, 1, add_quality, &(struct adding){ s, c });
	return err;
}

static void detail_draw(void *state, const struct view_context *c)
{
	struct detail_view *s = state;
	struct detail d = { s->row, s->tick, s->gone, s->past, s->lengths, &s->pairs, &s->wakers, s->stacks, c };
	int y;

	do {
		struct paint p = pager_begin(&s->pager, c->paint, c->top, c->height);

		y = 0;
		for (size_t i = 0; s->row && i < sizeof(panes) / sizeof(panes[0]); i++)
			y = panes[i](&d, &p, y) + 1;
	} while (pager_end(&s->pager, y - 1));
}

static void detail_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	struct detail_view *s = state;
	char name[256];

	subject_name(&c->within, s->row, name, sizeof(name));
	snprintf(buf, size, "%s%s", name, !s->gone ? "" : s->tick && s->tick->seq > c->tick->seq ?
		 " is not there yet: a later refresh" : " is gone: its last refresh");
}

static const struct row *detail_selected(void *state)
{
	return ((struct detail_view *)state)->row;
}

static void detail_fini(void *state)
{
	struct detail_view *s = state;

	tick_put(s->tick);
	pairs_fini(&s->pairs);
	wakers_fini(&s->wakers);
}

const struct view view_detail = {
	.state_size = sizeof(struct detail_view),
	.update = detail_update,
	.draw = detail_draw,
	.act = pager_act,
	.status = detail_status,
	.selected = detail_selected,
	.enter = ACTION_FLAME,
	.fini = detail_fini,
};
