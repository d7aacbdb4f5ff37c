/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flamegraph of some part of some seconds, from the recorder. */
#include "tui/subsecond_flame.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/sample_list.h"
#include "tui/flame.h"
#include "tui/host.h"
#include "tui/view.h"

#define SEC 1000000000ULL

struct source {
	struct subsecond_range range;
	enum subsecond_metric metric;
	char what[96];
	bool read;
	struct sample_list list;
};

/* What is in the range of a sample; a CPU's samples have no length. */
static int on_sample(void *arg, const struct stack_sample *s, uint64_t from, uint64_t until)
{
	struct source *source = arg;
	struct stack_sample part = *s;

	if (s->kind != TIME_CPU)
		part.weight = subsecond_overlap(&source->range, from, until);
	else if (!subsecond_has(&source->range, from))
		return 0;
	return part.weight ? sample_list_add(&source->list, &part) : 0;
}

/* The recorder is asked once: later, it does not have it any more. Blocks are told at their end, so up to now. */
static int samples(void *arg, const struct view_context *c, sample_fn *fn, void *fn_arg)
{
	struct source *s = arg;
	uint64_t since;
	int err = 0;

	if (!s->read)
		err = c->host->recorded_samples(c->host->arg, c->newest, s->range.first * SEC,
						s->metric == SUBSECOND_D ? c->newest->boottime_ns
									 : (s->range.last + 1) * SEC,
						&since, on_sample, s);
	s->read = true;
	for (size_t i = 0; i < s->list.nr && !err; i++)
		err = fn(fn_arg, &s->list.at[i]);
	return err;
}

static void fini(void *arg)
{
	struct source *s = arg;

	sample_list_fini(&s->list);
	free(s);
}

static void init(void *state, void *arg)
{
	const struct source *s = arg;

	view_flame_from(state, s->metric == SUBSECOND_D ? FLAME_D : FLAME_CPU, samples, arg, s->what);
	view_flame_free_by(state, fini);
}

bool subsecond_flame(struct opening *o, const struct subsecond_range *r, enum subsecond_metric metric,
		     const char *what)
{
	struct source *s = calloc(1, sizeof(*s));

	if (!s)
		return false;
	s->range = *r;
	s->metric = metric;
	snprintf(s->what, sizeof(s->what), "%s", what);
	snprintf(o->name, sizeof(o->name), "%s", what);
	o->view = &view_flame;
	o->init = init;
	o->arg = s;
	return true;
}
