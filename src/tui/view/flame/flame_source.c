/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources of samples for a flamegraph that other views open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample_list.h"
#include "model/tick.h"
#include "query/subject.h"
#include "tui/screen/host.h"
#include "tui/view/flame/flame_view.h"

int flame_source_samples(void *arg, sample_fn *fn, void *fn_arg)
{
	struct flame_view *s = arg;

	return s->source(s->source_arg, s->context, flame_ticks(s, s->context), fn, fn_arg);
}

uint64_t flame_ticks(const struct flame_view *s, const struct view_context *c)
{
	return s->compares && c->tick->seq > s->base_seq ? c->tick->seq - s->base_seq : HISTORY_TICKS;
}

/* --- Export of what is shown, as far as it is still remembered after a pause */

struct exporting {
	struct flame_view *view;
	const struct view_context *context;
	sample_fn *fn;
	void *fn_arg;
};

static int pass_on(void *arg, const struct stack_sample *s)
{
	const struct exporting *e = arg;

	return subject_holds_life(&e->context->within, s->life) ? e->fn(e->fn_arg, s) : 0;
}

static int shown_samples(void *arg, sample_fn *fn, void *fn_arg)
{
	struct exporting *e = arg;

	e->fn = fn;
	e->fn_arg = fn_arg;
	if (e->view->source)
		return flame_source_samples(e->view, pass_on, e);
	return tick_samples(e->context->tick, flame_ticks(e->view, e->context), pass_on, e);
}

/* Length of these refreshes, including suspend; 0: not known for samples of a source. */
static uint64_t shown_ns(const struct flame_view *s, const struct view_context *c)
{
	uint64_t ticks = flame_ticks(s, c), first;
	const struct tick *head;

	tick_past(c->tick, &first);
	if (c->tick->seq >= ticks && first < c->tick->seq - ticks + 1)
		first = c->tick->seq - ticks + 1;
	if (first > c->tick->seq) /* a pause longer than the history: only the shown refresh */
		first = c->tick->seq;
	head = s->source ? NULL : tick_head(c->tick, first);
	return head ? c->tick->boottime_ns - head->boottime_ns + head->interval_ns : 0;
}

void flame_export(struct flame_view *s, const struct view_context *c)
{
	struct exporting e = { .view = s, .context = c };
	uint64_t wall = c->tick->wall.tv_sec * 1000000000ULL + c->tick->wall.tv_nsec, ns = shown_ns(s, c);
	struct sample_set set = { .each = shown_samples, .arg = &e, .metric = s->options.metric, .from_ns = wall - ns,
				  .duration_ns = ns };
	char said[160] = "";

	s->context = c;
	c->host->save_samples(c->host->arg, &set, said, sizeof(said));
	c->notice(c->notice_arg, said);
}

void view_flame_metric(void *state, enum metric_id metric)
{
	((struct flame_view *)state)->options.metric = metric;
}

void view_flame_from(void *state, enum metric_id metric, flame_source *source, void *arg, const char *what)
{
	struct flame_view *s = state;

	s->options.metric = metric;
	s->source = source;
	s->source_arg = arg;
	snprintf(s->what, sizeof(s->what), "%s", what);
}

/* A source with samples of its own, which were found once. */
struct found {
	struct sample_list list;
	samples_find *find;
	bool done;
	enum metric_id metric;
	char what[96];
	uint64_t arg[]; /* argument of @find */
};

static int found_samples(void *arg, const struct view_context *c, uint64_t ticks, sample_fn *fn, void *fn_arg)
{
	struct found *f = arg;
	int err = f->done ? 0 : f->find(f->arg, c, &f->list);

	(void)ticks;
	f->done = true;
	for (size_t i = 0; !err && i < f->list.nr; i++)
		err = fn(fn_arg, &f->list.at[i]);
	return err;
}

static void found_free(void *arg)
{
	struct found *f = arg;

	sample_list_fini(&f->list);
	free(f);
}

static void found_init(void *state, void *arg)
{
	const struct found *f = arg;

	view_flame_from(state, f->metric, found_samples, arg, f->what);
	((struct flame_view *)state)->free_by = found_free;
}

bool view_flame_found(struct opening *o, enum metric_id metric, samples_find *find, const void *arg, size_t size,
		      const char *what)
{
	struct found *f = calloc(1, sizeof(*f) + size);

	if (!f)
		return false;
	f->find = find;
	f->metric = metric;
	snprintf(f->what, sizeof(f->what), "%s", what);
	memcpy(f->arg, arg, size);
	snprintf(o->name, sizeof(o->name), "%s", what);
	o->view = VIEW_FLAME;
	o->init = found_init;
	o->arg = f;
	return true;
}
