/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flamegraph of a range of latencies. */
#include <errno.h>
#include <stdio.h>

#include "model/sample_list.h"
#include "query/calltree.h"
#include "tui/screen/view.h"
#include "tui/view/latency/latency_view.h"

struct finding {
	const struct latency_range *range;
	struct sample_list *list;
	struct latency_contributors contributors;
	struct map sampled;  /* contributor -> ns of its samples, */
	struct map count; /* and the number of these blocks */
};

/* A block counts with its whole length, in the refresh in which it ended. */
static int on_block(struct finding *f, const struct stack_sample *sample)
{
	const struct latency_contributor *who = map_get(&f->contributors.of, latency_thread_key(sample->life));
	struct stack_sample whole = *sample;
	uintptr_t sampled, count;

	if (!who || !sample->count || sample->flags & NOTE_GOES_ON ||
	    !latency_holds(f->range, sample->whole))
		return 0;
	sampled = (uintptr_t)map_get(&f->sampled, (uintptr_t)who) + sample->whole;
	count = (uintptr_t)map_get(&f->count, (uintptr_t)who) + sample->count;
	if (map_put(&f->sampled, (uintptr_t)who, (void *)sampled) || map_put(&f->count, (uintptr_t)who, (void *)count))
		return -ENOMEM;
	whole.weight = sample->whole;
	return sample_list_add(f->list, &whole);
}

static int on_sample(void *arg, const struct stack_sample *sample)
{
	struct finding *f = arg;
	uint64_t key;

	if (sample->metric != hists[f->range->kind].weight)
		return 0;
	switch (hists[f->range->kind].owner) {
	case HIST_OF_BLOCKS:
		return on_block(f, sample);
	case HIST_OF_SOURCES:
		key = sample->irq ? latency_source_key(sample->irq - 1) : 0;
		break;
	default:
		key = latency_thread_key(sample->life);
	}
	return key && map_get(&f->contributors.of, key) ? sample_list_add(f->list, sample) : 0;
}

/* Blocks whose stack was not taken add only their lengths. */
static int add_rest(struct finding *f, const struct latency_contributor *who)
{
	uint64_t sampled = (uintptr_t)map_get(&f->sampled, (uintptr_t)who);
	uint64_t count = (uintptr_t)map_get(&f->count, (uintptr_t)who);
	const struct stack_sample rest = {
		.life = &who->life,
		.weight = who->ns > sampled ? who->ns - sampled : 0,
		.count = who->count > count ? who->count - count : 0,
		.metric = hists[f->range->kind].weight,
		.flags = NOTE_NO_STACK,
	};

	return rest.weight ? sample_list_add(f->list, &rest) : 0;
}

static int find(const void *arg, const struct view_context *c, struct sample_list *list)
{
	const struct latency_range *r = arg;
	struct finding f = { .range = r, .list = list };
	int err = latency_contributors_find(&f.contributors, c->tick, r);

	if (!err)
		err = tick_samples_of(c->tick, r->first, r->last, on_sample, &f);
	for (size_t i = 0; !err && i < f.contributors.nr && hists[r->kind].owner == HIST_OF_BLOCKS; i++)
		err = add_rest(&f, f.contributors.at[i]);
	latency_contributors_fini(&f.contributors);
	map_fini(&f.sampled);
	map_fini(&f.count);
	return err;
}

bool latency_flame(struct opening *o, const struct latency_range *r, const struct view_context *c)
{
	char range[40], time[40], what[160];

	latency_range_text(r, range, sizeof(range));
	latency_time_text(r, c->tick, time, sizeof(time));
	/* Runqueue waits and interrupts have no stacks of their own: the flamegraph shows all of those of the
	 * range's contributors. */
	if (r->kind == HIST_RUNQ)
		snprintf(what, sizeof(what), "all waits of threads that waited %s, %s", range, time);
	else if (latency_is_irq(r->kind))
		snprintf(what, sizeof(what), "all of sources with %s %s, %s", hists[r->kind].name, range, time);
	else
		snprintf(what, sizeof(what), "%s %s, %s", hists[r->kind].name, range, time);
	return view_flame_found(o, hists[r->kind].weight, find, r, sizeof(*r), what);
}
