/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Levels of processes in a tick: in pieces that never move, as rows refer to them while more are added. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/internal.h"
#include "util/vec.h"

struct levels *levels_of_row(const struct tick_node *n, size_t row)
{
	return &n->levels[row / LEVELS_PIECE][row % LEVELS_PIECE];
}

int levels_add(struct tick_node *n, size_t row)
{
	if (row / LEVELS_PIECE == n->nr_levels) {
		struct levels *piece = malloc(LEVELS_PIECE * sizeof(*piece));

		if (!piece || VEC_PUSH(n->levels, n->nr_levels, n->levels_room, piece)) {
			free(piece);
			return -ENOMEM;
		}
	}
	levels_unknown(levels_of_row(n, row));
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

	for (size_t i = 0; i < n->tick.nr_active; i++) {
		const struct process_node *p = (const struct process_node *)n->active[i].process;

		n->active[i].levels = levels_of_row(n, p->row);
		if (past)
			levels_recall(levels_of_row(n, p->row), &n->values[i]);
		else
			values_level(&n->values[i], &p->levels);
	}
	for (size_t i = 0; i < n->tick.nr_processes; i++) {
		n->processes[i].levels = levels_of_row(n, i);
		if (!past)
			*levels_of_row(n, i) = ((const struct process_node *)n->processes[i].process)->levels;
	}
}
