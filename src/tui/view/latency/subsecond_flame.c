/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The flamegraph of a range of parts of some seconds, from the recorder. */
#include "tui/view/latency/subsecond_flame.h"

#include "model/sample_list.h"
#include "query/calltree.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"

#define SEC 1000000000ULL

struct asked {
	struct subsecond_range range;
	enum subsecond_metric metric;
};

struct finding {
	const struct asked *asked;
	struct sample_list *list;
};

/* Adds the part of a sample that is in the range; a CPU sample has no length. */
static int on_sample(void *arg, const struct stack_sample *s, uint64_t from, uint64_t until)
{
	struct finding *f = arg;
	struct stack_sample part = *s;

	if (s->metric != METRIC_RUN)
		part.weight = subsecond_overlap(&f->asked->range, from, until);
	else if (!subsecond_has(&f->asked->range, from))
		return 0;
	return part.weight ? sample_list_add(f->list, &part) : 0;
}

/* A block is recorded at its end, so read on to the present. */
static int find(const void *arg, const struct view_context *c, struct sample_list *list)
{
	const struct asked *a = arg;
	struct finding f = { a, list };
	uint64_t since;

	return c->host->source.recorded_samples(c->host->source.arg, c->newest, a->range.first * SEC,
					 a->metric == SUBSECOND_D ? c->newest->boottime_ns : (a->range.last + 1) * SEC,
					 &since, on_sample, &f);
}

bool subsecond_flame(struct opening *o, const struct subsecond_range *r, enum subsecond_metric metric,
		     const char *what)
{
	const struct asked asked = { *r, metric };

	return view_flame_found(o, metric == SUBSECOND_D ? METRIC_D : METRIC_RUN, find, &asked, sizeof(asked),
				what);
}
