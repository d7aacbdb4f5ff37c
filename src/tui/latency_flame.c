/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flamegraph of a range of latencies. */
#include <stdio.h>
#include <stdlib.h>

#include "model/sample.h"
#include "tui/flame.h"
#include "tui/latency_range.h"
#include "tui/view.h"

struct source {
	struct latency_range range;
	char what[96];
	size_t nr;
	uint64_t keys[]; /* of threads or sources, sorted; of sleep and D state samples tell how long it was */
};

struct filtering {
	const struct source *source;
	sample_fn *fn;
	void *arg;
};

static const enum flame_metric metrics[LATENCY_KINDS] = {
	[LATENCY_RUNQ] = FLAME_RUNQ, [LATENCY_SLEEP] = FLAME_SLEEP, [LATENCY_D] = FLAME_D,
	[LATENCY_IRQ] = FLAME_IRQ, [LATENCY_SOFTIRQ] = FLAME_IRQ,
};

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x == y ? 0 : x < y ? -1 : 1;
}

static bool has_key(const struct source *s, uint64_t key)
{
	return bsearch(&key, s->keys, s->nr, sizeof(key), by_number);
}

static int on_sample(void *arg, const struct stack_sample *sample)
{
	const struct filtering *f = arg;
	const struct source *s = f->source;
	const struct latency_range *r = &s->range;
	bool takes;

	switch (r->kind) {
	case LATENCY_RUNQ:
		takes = sample->kind == TIME_RUNQ && has_key(s, latency_thread_key(sample->life));
		break;
	case LATENCY_SLEEP:
	case LATENCY_D: /* those that ended: they are what was counted */
		takes = sample->kind == (r->kind == LATENCY_D ? TIME_D : TIME_SLEEP) && sample->count &&
			!(sample->flags & NOTE_GOES_ON) && latency_holds(r, sample->whole);
		break;
	default:
		takes = sample->kind == TIME_IRQ && sample->irq && has_key(s, latency_source_key(sample->irq - 1));
	}
	return takes ? f->fn(f->arg, sample) : 0;
}

static int samples(void *arg, const struct view_context *c, sample_fn *fn, void *fn_arg)
{
	const struct source *s = arg;
	struct filtering f = { s, fn, fn_arg };

	return tick_samples_of(c->tick, s->range.first, s->range.last, on_sample, &f);
}

static void init(void *state, void *arg)
{
	const struct source *s = arg;

	view_flame_from(state, metrics[s->range.kind], samples, arg, s->what);
}

bool latency_flame(struct opening *o, const struct latency_parties *p, const struct view_context *c)
{
	struct source *s = malloc(sizeof(*s) + p->nr * sizeof(s->keys[0]));
	char range[40], time[40];

	if (!s)
		return false;
	s->range = p->range;
	s->nr = p->nr;
	for (size_t i = 0; i < p->nr; i++)
		s->keys[i] = latency_is_irq(p->range.kind) ? latency_source_key(p->at[i]->row.number)
							   : latency_thread_key(&p->at[i]->life);
	qsort(s->keys, s->nr, sizeof(s->keys[0]), by_number);
	latency_range_text(&p->range, range, sizeof(range));
	latency_time_text(&p->range, c->tick, time, sizeof(time));
	snprintf(s->what, sizeof(s->what), "%s %s, %s", latency_names[p->range.kind], range, time);
	snprintf(o->name, sizeof(o->name), "%s", s->what);
	o->view = &view_flame;
	o->init = init;
	o->arg = s;
	return true;
}
