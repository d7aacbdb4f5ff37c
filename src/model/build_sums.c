/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds up a tick: threads to processes and cgroups, these to their parents, and all to the host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/internal.h"
#include "model/aggregate.h"
#include "util/vec.h"

static int add_process(struct tick_node *n, const struct process *p)
{
	struct row row = { .kind = ROW_PROCESS, .number = p->tgid, .process = p, .cgroup = p->cgroup };

	return VEC_PUSH(n->processes, n->tick.nr_processes, n->processes_room, row);
}

static struct total *process_total(struct tick_node *n, const struct process *process)
{
	struct process_node *p = (struct process_node *)process;
	struct total *grown;

	if (p->build == n->build)
		return &n->process_totals[p->total];
	grown = vec_grow(n->process_totals, n->nr_totals, &n->process_totals_room, sizeof(*grown));
	if (!grown)
		return NULL;
	n->process_totals = grown;
	if (add_process(n, process))
		return NULL;
	p->build = n->build;
	p->total = n->nr_totals++;
	grown += p->total;
	memset(grown, 0, sizeof(*grown));
	grown->row = n->tick.nr_processes - 1;
	grown->state = STATE_COUNT;
	grown->exited = grown->moved = true;
	return grown;
}

/* Whether the thread moved within the tick, and the life is what it did before. */
static bool moved_on(const struct tick_node *n, const struct life *l)
{
	const struct life_node *node = (const struct life_node *)l;

	return node->to_us && node->last == n->tick.seq;
}

/* Whether the thread leads its process, and did not move on within the tick. */
static bool leads(const struct tick_node *n, const struct life *l)
{
	return l->tid == l->tgid && !moved_on(n, l);
}

/* The process itself is as it is now: in a tick of the past its row has its leader's cgroup, or any thread's without one. */
static void process_place(struct tick_node *n, const struct total *t, const struct life *l)
{
	if (n != n->model->now && (!t->own_threads || leads(n, l)))
		n->processes[t->row].cgroup = l->cgroup;
}

/* What threads were before they moved on counts only if the row has nothing else. */
static void total_state(struct total *t, enum thread_state state, bool exited, bool moved)
{
	if (moved && !t->moved)
		return;
	if (!moved && t->moved) {
		t->state = STATE_COUNT;
		t->exited = true;
	}
	t->moved = moved;
	if (state < t->state)
		t->state = state;
	t->exited &= exited;
}

static void total_add(struct total *t, const struct row *thread, bool idle, bool moved)
{
	t->own_threads++;
	total_state(t, thread->state, thread->exited, moved);
	if (idle)
		t->idle[thread->state]++;
	else
		values_add_thread(&t->own, thread->values);
}

static void idle_in(const struct tick_node *n, struct cgroup *cgroup, enum thread_state state)
{
	if (!cgroup)
		return;
	if (cgroup->build != n->build)
		cgroup->idle[0] = cgroup->idle[1] = 0;
	cgroup->build = n->build;
	cgroup->idle[state == STATE_STOPPED]++;
}

int node_idle(struct tick_node *n, struct life *l, enum thread_state state)
{
	struct row row = idle_row(n, l, state);
	struct total *process = process_total(n, l->process);

	if (!process)
		return -ENOMEM;
	process_place(n, process, l);
	total_add(process, &row, true, moved_on(n, l));
	idle_in(n, l->cgroup, state);
	if (l->limiter != l->cgroup)
		idle_in(n, l->limiter, state);
	n->tick.nr_stopped += state == STATE_STOPPED;
	return VEC_PUSH(n->idle, n->tick.nr_idle, n->idle_room, row);
}

/* The totals of a cgroup's row, NULL if it has none in this tick. */
static struct total *cgroup_total(struct tick_node *n, const struct cgroup *cgroup)
{
	if (!cgroup || cgroup->row >= n->tick.nr_cgroups ||
	    n->cgroups[cgroup->row].cgroup != cgroup)
		return NULL;
	return &n->cgroup_totals[cgroup->row];
}

static void total_finish(struct total *t, struct row *r)
{
	values_split(&t->values);
	values_split(&t->own);
	r->values = &t->values;
	r->own = &t->own;
	if (r->kind == ROW_CGROUP) {
		r->limit = &t->limit;
		values_level(&t->values, &t->levels);
		values_no_level(&t->own);
	} else {
		values_level(&t->values, r->levels);
		values_level(&t->own, r->levels);
	}
	r->nr_threads = t->nr_threads;
	r->own_threads = t->own_threads;
	r->state = t->state;
	r->exited = t->exited;
}

/* A value that is unknown for every thread is unknown for idle ones, too, and not 0. */
static void hide_unknown(const struct model *m, struct values *v)
{
	for (int f = 0; f < METRIC_COUNT; f++)
		if (m->unknown[f])
			v->v[f] = VALUE_NA;
}

/* Adds the idle threads' time, which is the same for each. */
static void total_idle(const struct model *m, struct total *t, uint64_t interval_ns)
{
	for (int s = 0; s < STATE_COUNT; s++)
		if (t->idle[s])
			values_add_idle(&t->own, s, t->idle[s], interval_ns);
	hide_unknown(m, &t->own);
	t->values = t->own;
	t->nr_threads = t->own_threads;
}

static int add_up_active(struct tick_node *n)
{
	for (size_t i = 0; i < n->tick.nr_active; i++) {
		const struct row *thread = &n->active[i];
		struct total *process = process_total(n, thread->process);
		struct total *cgroup = cgroup_total(n, thread->cgroup);
		const struct cgroup *limiter = thread->thread->limiter;
		struct total *aside = limiter != thread->cgroup ? cgroup_total(n, limiter) : NULL;

		if (!process)
			return -ENOMEM;
		process_place(n, process, thread->thread);
		total_add(process, thread, false, moved_on(n, thread->thread));
		if (cgroup)
			total_add(cgroup, thread, false, false);
		if (aside)
			total_add(aside, thread, false, false);
	}
	return 0;
}

/* The values of a process all of whose @nr threads slept. */
static const struct values *values_asleep(struct tick_node *n, uint32_t nr)
{
	struct values *v = &n->asleep[nr];

	if (n->asleep_made[nr])
		return v;
	*v = (struct values){ 0 };
	values_add_idle(v, STATE_SLEEP, nr, n->tick.interval_ns);
	hide_unknown(n->model, v);
	values_split(v);
	values_no_level(v); /* they differ in these, which are read from the row */
	n->asleep_made[nr] = true;
	return v;
}

/* A process whose threads all slept shares its values with others like it, unless it has more than ASLEEP_MAX. */
static int add_resting_process(struct tick_node *n, const struct process_node *p)
{
	struct total *total = NULL;
	struct row *row;

	if (p->build == n->build || p->resting[1] || p->resting[0] > ASLEEP_MAX) {
		total = process_total(n, &p->process);
		if (!total)
			return -ENOMEM;
		total->idle[STATE_SLEEP] = p->resting[0];
		total->idle[STATE_STOPPED] = p->resting[1];
		total->own_threads += p->resting[0] + p->resting[1];
		if (p->resting[0])
			total_state(total, STATE_SLEEP, false, false);
		if (p->resting[1])
			total_state(total, STATE_STOPPED, false, false);
		return 0;
	}
	if (add_process(n, &p->process))
		return -ENOMEM;
	row = &n->processes[n->tick.nr_processes - 1];
	row->values = row->own = values_asleep(n, p->resting[0]);
	row->nr_threads = row->own_threads = p->resting[0];
	row->state = STATE_SLEEP;
	row->incomplete = n->incomplete;
	return 0;
}

/* Prefetch distance, in processes. */
#define PREFETCH 8

static int add_resting(struct tick_node *n)
{
	const struct resting *r = &n->model->resting;
	int err = 0;

	if (!n->asleep)
		n->asleep = malloc((ASLEEP_MAX + 1) * sizeof(*n->asleep));
	if (!n->asleep)
		return -ENOMEM;
	memset(n->asleep_made, 0, sizeof(n->asleep_made));
	for (size_t i = 0; !err && i < r->nr_processes; i++) {
		if (i + PREFETCH < r->nr_processes) {
			__builtin_prefetch(r->processes[i + PREFETCH]);
			__builtin_prefetch(&r->processes[i + PREFETCH]->resting);
		}
		err = add_resting_process(n, r->processes[i]);
	}
	return err ? err : resting_show(n);
}

static void add_up_cgroups(struct tick_node *n)
{
	for (size_t i = 0; i < n->tick.nr_cgroups; i++)
		total_idle(n->model, &n->cgroup_totals[i], n->tick.interval_ns);
	/* Parents come before their children: going backwards, every row is complete when it is added. */
	for (size_t i = n->tick.nr_cgroups; i-- > 0;) {
		struct total *t = &n->cgroup_totals[i];
		struct total *above = cgroup_total(n, n->cgroups[i].cgroup->parent);

		if (above) {
			values_add(&above->values, &t->values);
			above->nr_threads += t->nr_threads;
		} else if (!n->cgroups[i].cgroup->aside) {
			values_add(&n->tick.total, &t->values);
		}
		total_finish(t, &n->cgroups[i]);
	}
	values_split(&n->tick.total);
	values_no_level(&n->tick.total);
}

static void add_up_processes(struct tick_node *n)
{
	for (size_t i = 0; i < n->nr_totals; i++) {
		struct total *t = &n->process_totals[i];

		total_idle(n->model, t, n->tick.interval_ns);
		total_finish(t, &n->processes[t->row]);
		n->processes[t->row].incomplete = n->incomplete;
	}
}

int node_finish(struct tick_node *n)
{
	struct model *m = n->model;
	int err;

	for (size_t i = 0; i < n->tick.nr_active; i++)
		n->active[i].values = n->active[i].own = &n->values[i];
	for (int s = 0; s < STATE_COUNT; s++) {
		n->idle_values[s] = (struct values){ 0 };
		values_add_idle(&n->idle_values[s], s, 1, n->tick.interval_ns);
		hide_unknown(m, &n->idle_values[s]);
		values_no_level(&n->idle_values[s]);
	}
	err = levels_room(n);
	if (!err)
		err = add_up_active(n);
	if (!err && n == m->now)
		err = add_resting(n);
	if (err)
		return err;
	levels_show(n);
	add_up_cgroups(n);
	add_up_processes(n);
	for (size_t i = 0; i < n->tick.nr_cgroups; i++)
		n->cgroups[i].incomplete = n->incomplete;
	for (size_t i = 0; i < n->tick.nr_active; i++)
		n->tick.total_d += n->active[i].state == STATE_D;
	n->tick.active = n->active;
	n->tick.idle = n->idle;
	n->tick.processes = n->processes;
	n->tick.cgroups = n->cgroups;
	n->tick.cpus = n->cpus;
	n->tick.irqs = n->irqs;
	for (int h = 0; h < HISTS_OF_THREADS; h++)
		n->tick.hist[h] = n->tick.total.hist[h];
	if (n->lists)
		tick_lists_show(n->lists, &n->tick);
	n->oldest = history_oldest(m->history);
	if (n->tick.seq < n->oldest)
		n->oldest = n->tick.seq;
	n->next = m->held;
	m->held = n;
	return 0;
}
