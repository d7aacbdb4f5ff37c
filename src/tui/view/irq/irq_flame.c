/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A flamegraph of interrupts. It shows the samples taken in them, each from the frame where the interrupt begins, as
 * the interrupted code has nothing to do with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "model/tick.h"
#include "query/calltree.h"
#include "query/stack_walk.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/view/irq/irq_view.h"

/* Prefixes of the functions that an interrupt or softirq begins with. */
static const char *const entries[] = {
	"handle_softirqs", "__do_softirq", "common_interrupt", "sysvec_", "gic_handle_irq", "handle_riscv_irq",
};

/* Cache: number of a stack's frames that belong to the interrupt, so that not every sample requests names. A
 * direct-mapped table: collisions are rare. */
#define CUTS 1024

struct irq_flame {
	const struct irq_source *source; /* NULL: all */
	struct {
		uint64_t hash;           /* of the stack */
		int nr;
	} cuts[CUTS];
	union {
		struct stack stack;
		uint64_t room[sizeof(struct stack) / sizeof(uint64_t) + STACK_KERNEL_MAX];
	} own;                           /* the shown part of a stack, while it is passed on */
};

/* The receiver of the cut samples. */
struct receiver {
	struct irq_flame *flame;
	const struct host *host;
	sample_fn *fn;
	void *arg;
};

static bool is_entry(const char *name)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (!strncmp(name, entries[i], strlen(entries[i])))
			return true;
	return false;
}

/* The innermost frames up to where the interrupt begins; all frames if that is not known (yet). */
static int own_frames(const struct receiver *r, const struct stack *s)
{
	const struct stack_sample sample = { .kernel = s };
	size_t place = s->hash % CUTS;
	struct stack_walk w;
	int nr = 0;

	if (r->flame->cuts[place].nr && r->flame->cuts[place].hash == s->hash)
		return r->flame->cuts[place].nr;
	stack_walk(&w, &r->host->source, &sample, WALK_INNERMOST);
	while (stack_walk_next(&w)) {
		nr++;
		if (!is_entry(stack_walk_name(&w)))
			continue;
		r->flame->cuts[place].hash = s->hash;
		r->flame->cuts[place].nr = nr;
		return nr;
	}
	return nr;
}

static const struct stack *own_part(const struct receiver *r, const struct stack *s)
{
	int nr = s ? own_frames(r, s) : 0;
	struct stack *own = &r->flame->own.stack;

	if (!s || nr == s->nr || nr > STACK_KERNEL_MAX)
		return s;
	memcpy(own, s, sizeof(*s) + nr * sizeof(s->frames[0]));
	own->nr = nr;
	own->end = STACK_COMPLETE;
	own->counted = 0;
	own->hash = ~s->hash; /* must differ from the whole stack's */
	return own;
}

static int on_sample(void *arg, const struct stack_sample *s)
{
	const struct receiver *r = arg;
	const struct irq_source *source = r->flame->source;
	struct stack_sample own = *s;

	if (!s->irq || (source && s->irq != source->index + 1))
		return 0;
	own.kernel = own_part(r, s->kernel);
	own.user = NULL;
	own.flags &= ~(NOTE_NO_USER | NOTE_USER_LOST);
	return r->fn(r->arg, &own);
}

static int samples(void *arg, const struct view_context *c, uint64_t ticks, sample_fn *fn, void *fn_arg)
{
	struct receiver r = { arg, c->host, fn, fn_arg };

	return tick_samples(c->tick, ticks, on_sample, &r);
}

/* Wall time, as the work of softirqs in ksoftirqd counts as running time of that thread. */
static void init(void *state, void *arg)
{
	const struct irq_source *source = ((struct irq_flame *)arg)->source;
	char what[64];

	snprintf(what, sizeof(what), "sampled in %s", source ? source->name : "interrupts");
	view_flame_from(state, METRIC_WALL, samples, arg, what);
}

bool irq_open_flame(const struct irq_source *source, struct opening *o)
{
	struct irq_flame *flame = calloc(1, sizeof(*flame));

	*o = (struct opening){ .view = VIEW_FLAME, .init = init, .arg = flame };
	snprintf(o->name, sizeof(o->name), "%s", source ? source->name : "interrupts");
	if (flame)
		flame->source = source;
	return flame;
}
