/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flamegraph of a range of latencies. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/sample_list.h"
#include "tui/flame.h"
#include "tui/latency_range.h"
#include "tui/view.h"

struct source {
	struct latency_range range;
	char what[96];
	bool found;
	struct sample_list list; /* found once: the refreshes do not change, but are forgotten some time */
};

struct finding {
	struct source *source;
	struct latency_parties parties;
	struct map told; /* party -> ns that samples tell */
};

static const enum flame_metric metrics[LATENCY_KINDS] = {
	[LATENCY_RUNQ] = FLAME_RUNQ, [LATENCY_SLEEP] = FLAME_SLEEP, [LATENCY_D] = FLAME_D,
	[LATENCY_IRQ] = FLAME_IRQ, [LATENCY_SOFTIRQ] = FLAME_IRQ,
};

/* A block that ended counts as a whole, in the refresh that it ended in. */
static int on_block(struct finding *f, const struct stack_sample *sample)
{
	const struct latency_party *party = map_get(&f->parties.of, latency_thread_key(sample->life));
	struct stack_sample whole = *sample;
	uintptr_t told;

	if (!party || !sample->count || sample->flags & NOTE_GOES_ON ||
	    !latency_holds(&f->source->range, sample->whole))
		return 0;
	told = (uintptr_t)map_get(&f->told, (uintptr_t)party) + sample->whole;
	if (map_put(&f->told, (uintptr_t)party, (void *)told))
		return -ENOMEM;
	whole.weight = sample->whole;
	return sample_list_add(&f->source->list, &whole);
}

static int on_sample(void *arg, const struct stack_sample *sample)
{
	struct finding *f = arg;
	struct source *s = f->source;
	bool takes;

	switch (s->range.kind) {
	case LATENCY_RUNQ:
		takes = sample->kind == TIME_RUNQ && map_get(&f->parties.of, latency_thread_key(sample->life));
		break;
	case LATENCY_SLEEP:
		return sample->kind == TIME_SLEEP ? on_block(f, sample) : 0;
	case LATENCY_D:
		return sample->kind == TIME_D ? on_block(f, sample) : 0;
	default:
		takes = sample->kind == TIME_IRQ && sample->irq &&
			map_get(&f->parties.of, latency_source_key(sample->irq - 1));
	}
	return takes ? sample_list_add(&s->list, sample) : 0;
}

/* Blocks whose stack was not taken are known by their lengths only. */
static int add_rest(struct finding *f, const struct latency_party *party)
{
	uint64_t told = (uintptr_t)map_get(&f->told, (uintptr_t)party);
	const struct stack_sample rest = {
		.life = &party->life,
		.weight = party->ns > told ? party->ns - told : 0,
		.kind = f->source->range.kind == LATENCY_D ? TIME_D : TIME_SLEEP,
		.flags = NOTE_NO_STACK,
	};

	return rest.weight ? sample_list_add(&f->source->list, &rest) : 0;
}

static int find(struct source *s, const struct tick *any)
{
	const struct latency_range *r = &s->range;
	struct finding f = { .source = s };
	int err = latency_parties_find(&f.parties, any, r);

	if (!err)
		err = tick_samples_of(any, r->first, r->last, on_sample, &f);
	for (size_t i = 0; !err && i < f.parties.nr && (r->kind == LATENCY_SLEEP || r->kind == LATENCY_D); i++)
		err = add_rest(&f, f.parties.at[i]);
	latency_parties_fini(&f.parties);
	map_fini(&f.told);
	return err;
}

static int samples(void *arg, const struct view_context *c, sample_fn *fn, void *fn_arg)
{
	struct source *s = arg;
	int err = s->found ? 0 : find(s, c->tick);

	s->found = true;
	for (size_t i = 0; !err && i < s->list.nr; i++)
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

	view_flame_from(state, metrics[s->range.kind], samples, arg, s->what);
	view_flame_free_by(state, fini);
}

bool latency_flame(struct opening *o, const struct latency_range *r, const struct view_context *c)
{
	struct source *s = calloc(1, sizeof(*s));
	char range[40], time[40];

	if (!s)
		return false;
	s->range = *r;
	latency_range_text(r, range, sizeof(range));
	latency_time_text(r, c->tick, time, sizeof(time));
	snprintf(s->what, sizeof(s->what), "%s %s, %s", latency_names[r->kind], range, time);
	snprintf(o->name, sizeof(o->name), "%s", s->what);
	o->view = &view_flame;
	o->init = init;
	o->arg = s;
	return true;
}
