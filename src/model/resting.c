/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that sleep or are stopped: most of 50,000. They are kept from tick to tick until they are reported to do something
 * else, so that a refresh does work only for those that did. A tick reuses the memory of the tick before the previous
 * one: only the rows that have changed since are written.
 */
#include <errno.h>

#include "model/internal.h"
#include "util/vec.h"

static struct process_node *process_of(const struct life_node *l)
{
	return (struct process_node *)l->life.process;
}

/* Notes that another thread is at @at. */
static void changed(struct resting *r, uint32_t at)
{
	r->changed[r->changes++ % RESTING_CHANGES] = at;
}

/* Counts a thread in or out of its cgroups. */
static void count_in(const struct life *l, bool stopped, int change)
{
	if (l->cgroup)
		l->cgroup->resting[stopped] += change;
	if (l->limiter != l->cgroup && l->limiter)
		l->limiter->resting[stopped] += change;
}

static int process_rests(struct resting *r, struct process_node *p)
{
	if (VEC_PUSH(r->processes, r->nr_processes, r->processes_room, p))
		return -ENOMEM;
	p->rests_at = r->nr_processes - 1;
	return 0;
}

static void process_stirs(struct resting *r, struct process_node *p)
{
	struct process_node *last = r->processes[--r->nr_processes];

	r->processes[p->rests_at] = last;
	last->rests_at = p->rests_at;
}

/* Puts a thread at @at, where another one was. */
static void put(struct resting *r, uint32_t at, struct life_node *l)
{
	r->threads[at] = l;
	l->rests = at + 1;
	changed(r, at);
}

static bool is_stopped(const struct resting *r, const struct life_node *l)
{
	return l->rests <= r->nr_stopped;
}

int resting_add(struct model *m, struct life_node *l, enum thread_state state)
{
	struct resting *r = &m->resting;
	struct process_node *p = process_of(l);
	bool stopped = state == STATE_STOPPED;

	if (l->rests && is_stopped(r, l) == stopped)
		return 0;
	resting_remove(m, l);
	if (!(p->resting[0] | p->resting[1]) && process_rests(r, p))
		return -ENOMEM;
	if (VEC_PUSH(r->threads, r->nr, r->room, l)) {
		if (!(p->resting[0] | p->resting[1]))
			process_stirs(r, p);
		return -ENOMEM;
	}
	if (stopped)
		put(r, r->nr - 1, r->threads[r->nr_stopped]);
	put(r, stopped ? r->nr_stopped++ : r->nr - 1, l);
	p->resting[stopped]++;
	count_in(&l->life, stopped, 1);
	return 0;
}

void resting_remove(struct model *m, struct life_node *l)
{
	struct resting *r = &m->resting;
	struct process_node *p = process_of(l);
	uint32_t at = l->rests - 1;
	bool stopped;

	if (!l->rests)
		return;
	stopped = is_stopped(r, l);
	if (stopped) {
		put(r, at, r->threads[--r->nr_stopped]);
		at = r->nr_stopped;
	}
	if (at < --r->nr)
		put(r, at, r->threads[r->nr]);
	l->rests = 0;
	p->resting[stopped]--;
	if (!(p->resting[0] | p->resting[1]))
		process_stirs(r, p);
	count_in(&l->life, stopped, -1);
}

static void show(struct tick_node *n, uint32_t at)
{
	const struct resting *r = &n->model->resting;

	n->idle[at] = idle_row(n, &r->threads[at]->life, at < r->nr_stopped ? STATE_STOPPED : STATE_SLEEP);
}

int resting_show(struct tick_node *n)
{
	const struct resting *r = &n->model->resting;
	uint64_t from = n->resting_shown;

	n->resting_shown = 0;
	while (n->idle_room < r->nr) {
		struct row *grown = vec_grow(n->idle, n->idle_room, &n->idle_room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		n->idle = grown;
	}
	if (!from || r->changes - (from - 1) > RESTING_CHANGES) {
		for (uint32_t at = 0; at < r->nr; at++)
			show(n, at);
	} else {
		for (uint64_t i = from - 1; i < r->changes; i++)
			if (r->changed[i % RESTING_CHANGES] < r->nr)
				show(n, r->changed[i % RESTING_CHANGES]);
	}
	n->resting_shown = r->changes + 1;
	n->tick.nr_idle = r->nr;
	n->tick.nr_stopped = r->nr_stopped;
	return 0;
}
