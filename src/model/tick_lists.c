/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "model/internal.h"
#include "model/wait.h"

struct tick_lists *tick_lists_now(struct model *m)
{
	struct tick_node *n = m->now;

	if (!n->lists) {
		n->lists = calloc(1, sizeof(*n->lists));
		if (n->lists)
			n->lists->holders = 1;
	}
	return n->lists;
}

void tick_lists_put(struct tick_lists *b)
{
	if (!b || --b->holders)
		return;
	free(b->samples);
	free(b->waits);
	free(b->wokens);
	free(b->aways);
	free(b->irq_cpus);
	free(b);
}

size_t tick_lists_bytes(const struct tick_lists *b)
{
	return sizeof(*b) + b->samples_room * sizeof(*b->samples) + b->waits_room * sizeof(*b->waits) +
	       b->wokens_room * sizeof(*b->wokens) + b->aways_room * sizeof(*b->aways) +
	       b->irq_cpus_room * sizeof(*b->irq_cpus);
}

void tick_lists_show(const struct tick_lists *b, struct tick *t)
{
	t->waits = b->waits;
	t->nr_waits = b->nr_waits;
	t->wokens = b->wokens;
	t->nr_wokens = b->nr_wokens;
	t->aways = b->aways;
	t->nr_aways = b->nr_aways;
	t->irq_cpus = b->irq_cpus;
	t->nr_irq_cpus = b->nr_irq_cpus;
}
