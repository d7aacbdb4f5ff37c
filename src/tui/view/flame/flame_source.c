/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources of samples for a flamegraph that other views open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample_list.h"
#include "tui/view/flame/flame_view.h"

int flame_source_samples(void *arg, sample_fn *fn, void *fn_arg)
{
	struct flame_view *s = arg;

	return s->source(s->source_arg, s->context, fn, fn_arg);
}

void view_flame_runq(void *state, void *arg)
{
	(void)arg;
	((struct flame_view *)state)->options.metric = METRIC_RUNQ;
}

void view_flame_d(void *state, void *arg)
{
	(void)arg;
	((struct flame_view *)state)->options.metric = METRIC_D;
}

void view_flame_from(void *state, enum metric_id metric, flame_source *source, void *arg, const char *what)
{
	struct flame_view *s = state;

	s->options.metric = metric;
	s->source = source;
	s->source_arg = arg;
	snprintf(s->what, sizeof(s->what), "%s", what);
}

/* A source of its own: samples that were found once. */
struct found {
	struct sample_list list;
	samples_find *find;
	bool done;
	enum metric_id metric;
	char what[96];
	uint64_t arg[]; /* argument of @find */
};

static int found_samples(void *arg, const struct view_context *c, sample_fn *fn, void *fn_arg)
{
	struct found *f = arg;
	int err = f->done ? 0 : f->find(f->arg, c, &f->list);

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
