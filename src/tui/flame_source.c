/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a flamegraph is of, as other views open it. */
#include <stdio.h>

#include "tui/flame_view.h"

int flame_source_samples(void *arg, sample_fn *fn, void *fn_arg)
{
	struct flame_view *s = arg;

	return s->source(s->source_arg, s->context, fn, fn_arg);
}

void view_flame_set(void *state, enum flame_metric metric)
{
	((struct flame_view *)state)->options.metric = metric;
}

void view_flame_runq(void *state, void *arg)
{
	(void)arg;
	view_flame_set(state, FLAME_RUNQ);
}

void view_flame_from(void *state, enum flame_metric metric, flame_source *source, void *arg, const char *what)
{
	struct flame_view *s = state;

	s->options.metric = metric;
	s->source = source;
	s->source_arg = arg;
	snprintf(s->what, sizeof(s->what), "%s", what);
}

void view_flame_free_by(void *state, void (*free_by)(void *arg))
{
	((struct flame_view *)state)->free_by = free_by;
}
