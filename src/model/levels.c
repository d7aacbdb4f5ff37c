/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Levels of processes in a tick: in pieces that never move, as rows refer to them while more are added. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/internal.h"
#include "util/vec.h"

struct levels *levels_of(const struct tick_node *n, const struct process *p)
{
	uint32_t place = ((const struct process_node *)p)->place;

	return &n->levels[place / LEVELS_PIECE][place % LEVELS_PIECE];
}

int levels_room(struct tick_node *n)
{
	while (n->nr_levels * LEVELS_PIECE < n->model->nr_placed) {
		struct levels *piece = malloc(LEVELS_PIECE * sizeof(*piece));

		if (!piece || VEC_PUSH(n->levels, n->nr_levels, n->levels_room, piece)) {
			free(piece);
			return -ENOMEM;
		}
	}
	return 0;
}

void values_level(struct values *v, const struct levels *levels)
{
	memcpy(&v->v[METRIC_LEVELS], levels->v, sizeof(levels->v));
}

void values_no_level(struct values *v)
{
	struct levels none;

	levels_unknown(&none);
	values_level(v, &none);
}

/* A past tick only knows the levels of processes whose threads did something: these threads have them. */
static void levels_recall(struct levels *to, const struct values *thread)
{
	memcpy(to->v, &thread->v[METRIC_LEVELS], sizeof(to->v));
}

void levels_show(struct tick_node *n)
{
	bool past = n != n->model->now;

	for (size_t i = 0; i < n->tick.nr_processes; i++) {
		struct levels *levels = levels_of(n, n->processes[i].process);

		n->processes[i].levels = levels;
		if (past)
			levels_unknown(levels);
		else
			*levels = ((const struct process_node *)n->processes[i].process)->levels;
	}
	for (size_t i = 0; i < n->tick.nr_active; i++) {
		n->active[i].levels = levels_of(n, n->active[i].process);
		if (past)
			levels_recall(levels_of(n, n->active[i].process), &n->values[i]);
		else
			values_level(&n->values[i], n->active[i].levels);
	}
}
