/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "model/tick.h"
#include "tui/list.h"
#include "tui/view.h"

struct threads {
	struct list list;
	struct columns columns;
	bool processes;
	bool hide_idle;
};

static bool did_something(const struct row *r)
{
	const uint64_t *v = r->values->v;

	return v[FIELD_RUN] || v[FIELD_RUNQ] || v[FIELD_D] || v[FIELD_WAKEUPS] || r->exited;
}

static int threads_update(void *state, const struct view_context *c)
{
	struct threads *s = state;
	const struct tick *t = c->tick;
	int err = 0;

	list_clear(&s->list);
	for (size_t i = 0; !err && s->processes && i < t->nr_processes; i++)
		if (!s->hide_idle || did_something(&t->processes[i]))
			err = list_add(&s->list, &t->processes[i]);
	for (size_t i = 0; !err && !s->processes && i < t->nr_active; i++)
		err = list_add(&s->list, &t->active[i]);
	for (size_t i = 0; !err && !s->processes && !s->hide_idle && i < t->nr_idle; i++)
		err = list_add(&s->list, &t->idle[i]);
	list_sort(&s->list, c->height > 1 ? c->height - 1 : 0, sorting_before, c->sorting);
	return err;
}

static void threads_draw(void *state, const struct view_context *c)
{
	struct threads *s = state;

	columns_place(&s->columns, c->paint->width, false, c->sorting);
	columns_titles(&s->columns, c->paint, c->top, s->processes ? "PID" : "TID", c->tick,
		       c->sorting);
	for (int y = 1; y < c->height; y++) {
		size_t i = s->list.top + y - 1;

		if (i < s->list.nr)
			columns_row(&s->columns, c->paint, c->top + y, s->list.rows[i], c->tick,
				    i == s->list.cursor, NULL);
		else
			paint_clear(c->paint, c->top + y, 0);
	}
}

static bool threads_act(void *state, enum action a, const struct view_context *c)
{
	struct threads *s = state;

	switch (a) {
	case ACTION_PROCESSES:
		s->processes = !s->processes;
		s->list.sticks = false;
		s->list.cursor = s->list.top = 0;
		return true;
	case ACTION_IDLE:
		s->hide_idle = !s->hide_idle;
		return true;
	case ACTION_SORT_LEFT:
	case ACTION_SORT_RIGHT:
		c->sorting->by =
			columns_next(&s->columns, c->sorting, a == ACTION_SORT_LEFT ? -1 : 1);
		return true;
	default:
		if (!list_act(&s->list, a))
			return false;
		threads_update(state, c);
		list_stick(&s->list);
		return true;
	}
}

static void threads_status(void *state, const struct view_context *c, char *buf, size_t size)
{
	struct threads *s = state;
	size_t shown = s->list.nr - s->list.top, height = c->height > 1 ? c->height - 1 : 0;

	snprintf(buf, size, "%zu of %zu %s", shown < height ? shown : height,
		 s->processes ? c->tick->nr_processes : c->tick->nr_active + c->tick->nr_idle,
		 s->processes ? "processes" : "threads");
}

static void threads_fini(void *state)
{
	list_fini(&((struct threads *)state)->list);
}

const struct view view_threads = {
	.name = "Threads",
	.state_size = sizeof(struct threads),
	.update = threads_update,
	.draw = threads_draw,
	.act = threads_act,
	.status = threads_status,
	.fini = threads_fini,
};
