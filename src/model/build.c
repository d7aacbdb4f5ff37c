/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/internal.h"
#include "model/aggregate.h"
#include "util/vec.h"

static void node_free(struct tick_node *n)
{
	if (!n)
		return;
	free(n->active);
	free(n->values);
	free(n->idle);
	free(n->processes);
	free(n->process_totals);
	for (size_t i = 0; i < n->nr_levels; i++)
		free(n->levels[i]);
	free(n->levels);
	free(n->cgroups);
	free(n->cgroup_totals);
	free(n->cpus);
	free(n->irqs);
	free(n);
}

struct model *model_new(size_t past_bytes)
{
	struct model *m = calloc(1, sizeof(*m));

	if (m)
		m->ended_end = &m->ended;
	if (m && past_bytes) {
		m->history = history_new(past_bytes);
		if (!m->history) {
			free(m);
			return NULL;
		}
	}
	return m;
}

void node_release(struct tick_node *n)
{
	for (size_t i = 0; i < n->tick.nr_cgroups; i++)
		((struct cgroup *)n->cgroups[i].cgroup)->refs--;
	tick_lists_put(n->lists);
	n->lists = NULL;
	if (n->model->spare)
		node_free(n->model->spare);
	n->model->spare = n;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	if (m->now)
		node_release(m->now);
	history_free(m->history);
	threads_free(m);
	model_stacks_free(m);
	node_free(m->spare);
	map_fini(&m->processes);
	free(m);
}

struct tick_node *node_new(struct model *m)
{
	struct tick_node *n = m->spare ? m->spare : calloc(1, sizeof(*n));

	m->spare = NULL;
	if (!n)
		return NULL;
	n->tick = (struct tick){ 0 };
	n->model = m;
	n->holders = 1;
	n->build = ++m->builds;
	n->nr_values = n->nr_stopped = 0;
	return n;
}

static struct levels *process_levels(const struct tick_node *n, size_t row)
{
	return &n->levels[row / LEVELS_PIECE][row % LEVELS_PIECE];
}

/* Makes room for the levels of one more process, which nothing is known of yet. */
static int levels_add(struct tick_node *n, size_t row)
{
	if (row / LEVELS_PIECE == n->nr_levels) {
		struct levels *piece = malloc(LEVELS_PIECE * sizeof(*piece));

		if (!piece || VEC_PUSH(n->levels, n->nr_levels, n->levels_room, piece)) {
			free(piece);
			return -ENOMEM;
		}
	}
	levels_unknown(process_levels(n, row));
	return 0;
}

static struct total *process_total(struct tick_node *n, const struct row *thread)
{
	struct process_node *p = (struct process_node *)thread->process;
	struct total *grown;
	struct row row = {
		.kind = ROW_PROCESS,
		.number = thread->process->tgid,
		.process = thread->process,
		.cgroup = thread->process->cgroup,
	};

	if (p->build == n->build)
		return &n->process_totals[p->row];
	grown = vec_grow(n->process_totals, n->tick.nr_processes, &n->process_totals_room,
			 sizeof(*grown));
	if (!grown || levels_add(n, n->tick.nr_processes))
		return NULL;
	n->process_totals = grown;
	grown += n->tick.nr_processes;
	memset(grown, 0, sizeof(*grown));
	grown->state = STATE_COUNT;
	grown->exited = true;
	p->build = n->build;
	p->row = n->tick.nr_processes;
	return VEC_PUSH(n->processes, n->tick.nr_processes, n->processes_room, row) ? NULL : grown;
}

static void total_add(struct total *t, const struct row *thread, bool idle)
{
	t->own_threads++;
	if (thread->state < t->state)
		t->state = thread->state;
	t->exited &= thread->exited;
	if (idle)
		t->idle[thread->state]++;
	else
		values_add(&t->own, thread->values);
}

static struct row thread_row(struct life *l, enum thread_state state, bool exited)
{
	return (struct row){
		.kind = ROW_THREAD,
		.state = state,
		.exited = exited,
		.number = l->tid,
		.nr_threads = 1,
		.own_threads = 1,
		.thread = l,
		.process = l->process,
		.cgroup = l->cgroup,
	};
}

int node_thread(struct tick_node *n, struct life *l, enum thread_state state, bool exited,
		const struct values *values)
{
	struct row row = thread_row(l, state, exited);

	if (VEC_PUSH(n->active, n->tick.nr_active, n->active_room, row))
		return -ENOMEM;
	return VEC_PUSH(n->values, n->nr_values, n->values_room, *values);
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

/* Adds up while the row is cached: there can be 50,000 of these. */
int node_idle(struct tick_node *n, struct life *l, enum thread_state state)
{
	struct row row = thread_row(l, state, false);
	struct total *process = process_total(n, &row);

	if (!process)
		return -ENOMEM;
	total_add(process, &row, true);
	idle_in(n, l->cgroup, state);
	if (l->limiter != l->cgroup)
		idle_in(n, l->limiter, state);
	n->nr_stopped += state == STATE_STOPPED;
	row.values = row.own = &n->idle_values[state];
	row.levels = process_levels(n, ((const struct process_node *)l->process)->row);
	return VEC_PUSH(n->idle, n->tick.nr_idle, n->idle_room, row);
}

int node_cpu(struct tick_node *n, const struct cpu_values *cpu)
{
	return VEC_PUSH(n->cpus, n->tick.nr_cpus, n->cpus_room, *cpu);
}

int node_irq(struct tick_node *n, const struct irq_values *irq)
{
	return VEC_PUSH(n->irqs, n->tick.nr_irqs, n->irqs_room, *irq);
}

int node_cgroup(struct tick_node *n, struct cgroup *cgroup, const struct cgroup_limit *limit, const struct levels *levels)
{
	struct row row = { .kind = ROW_CGROUP, .state = STATE_SLEEP, .cgroup = cgroup };
	struct total *grown = vec_grow(n->cgroup_totals, n->tick.nr_cgroups,
				       &n->cgroup_totals_room, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	n->cgroup_totals = grown;
	memset(&grown[n->tick.nr_cgroups], 0, sizeof(*grown));
	grown[n->tick.nr_cgroups].state = STATE_SLEEP;
	grown[n->tick.nr_cgroups].limit = *limit;
	if (levels)
		grown[n->tick.nr_cgroups].levels = *levels;
	else
		levels_unknown(&grown[n->tick.nr_cgroups].levels);
	if (cgroup->build == n->build) {
		grown[n->tick.nr_cgroups].idle[STATE_SLEEP] = cgroup->idle[0];
		grown[n->tick.nr_cgroups].idle[STATE_STOPPED] = cgroup->idle[1];
		grown[n->tick.nr_cgroups].own_threads = cgroup->idle[0] + cgroup->idle[1];
	}
	cgroup->row = n->tick.nr_cgroups;
	if (VEC_PUSH(n->cgroups, n->tick.nr_cgroups, n->cgroups_room, row))
		return -ENOMEM;
	cgroup->refs++;
	n->tick.nr_aside += cgroup->aside;
	return 0;
}

int model_begin(struct model *m, uint64_t interval_ns, uint64_t boottime_ns,
		const struct timespec *wall)
{
	struct tick_node *n;

	if (m->now) /* left by a tick that failed */
		node_release(m->now);
	threads_forget(m);
	model_stacks_forget(m);
	n = m->now = node_new(m);
	if (!n)
		return -ENOMEM;
	n->tick.seq = ++m->seq;
	n->tick.interval_ns = interval_ns;
	m->awake_ns += interval_ns;
	n->tick.awake_ns = m->awake_ns;
	n->tick.boottime_ns = boottime_ns;
	n->tick.wall = *wall;
	host_unknown(&n->tick.host);
	return 0;
}

static void life_shown(struct model *m, struct life *l)
{
	struct life_node *n = (struct life_node *)l;

	if (!n->first)
		n->first = m->seq;
}

int model_thread(struct model *m, struct life *l, enum thread_state state, bool exited,
		 const struct values *values)
{
	life_shown(m, l);
	return node_thread(m->now, l, state, exited, values);
}

int model_idle(struct model *m, struct life *l, enum thread_state state)
{
	life_shown(m, l);
	return node_idle(m->now, l, state);
}

int model_irq(struct model *m, const struct irq_values *irq)
{
	return node_irq(m->now, irq);
}

int model_cpu(struct model *m, const struct cpu_values *cpu)
{
	return node_cpu(m->now, cpu);
}

void model_timers_unseen(struct model *m)
{
	m->now->tick.timers_unseen = true;
}

void model_rss_error(struct model *m, const struct level_error *error)
{
	m->now->tick.rss_error = *error;
}

void model_unknown(struct model *m, enum metric_id metric, bool unknown)
{
	m->unknown[metric] = unknown;
}

void model_pressure(struct model *m, const struct pressure pressure[PRESSURE_COUNT])
{
	memcpy(m->now->tick.pressure, pressure, sizeof(m->now->tick.pressure));
}

void model_host(struct model *m, const struct host_state *host)
{
	m->now->tick.host = *host;
}

int model_cgroup(struct model *m, struct cgroup *cgroup, const struct cgroup_limit *limit, const struct levels *levels)
{
	return node_cgroup(m->now, cgroup, limit, levels);
}

/* The totals of a cgroup's row, NULL if it has none in this tick. */
static struct total *cgroup_total(struct tick_node *n, const struct cgroup *cgroup)
{
	if (!cgroup || cgroup->row >= n->tick.nr_cgroups ||
	    n->cgroups[cgroup->row].cgroup != cgroup)
		return NULL;
	return &n->cgroup_totals[cgroup->row];
}

static void values_level(struct values *v, const struct levels *levels)
{
	memcpy(&v->v[METRIC_LEVELS], levels->v, sizeof(levels->v));
}

static void values_no_level(struct values *v)
{
	struct levels none;

	levels_unknown(&none);
	values_level(v, &none);
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

/* What is unknown of every thread is so of idle ones, too: they did not do nothing. */
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

/* Of a tick of the past, levels are only known of processes whose threads did something: these have them. */
static void levels_recall(struct levels *to, const struct values *thread)
{
	memcpy(to->v, &thread->v[METRIC_LEVELS], sizeof(to->v));
}

/* Gives processes, and their threads that did something, their levels. */
static void add_levels(struct tick_node *n)
{
	bool past = n != n->model->now;

	for (size_t i = 0; i < n->tick.nr_active; i++) {
		const struct process_node *p = (const struct process_node *)n->active[i].process;

		n->active[i].levels = process_levels(n, p->row);
		if (past)
			levels_recall(process_levels(n, p->row), &n->values[i]);
		else
			values_level(&n->values[i], &p->levels);
	}
	for (size_t i = 0; i < n->tick.nr_processes; i++) {
		n->processes[i].levels = process_levels(n, i);
		if (!past)
			*process_levels(n, i) = ((const struct process_node *)n->processes[i].process)->levels;
	}
}

static int add_up_active(struct tick_node *n)
{
	for (size_t i = 0; i < n->tick.nr_active; i++) {
		const struct row *thread = &n->active[i];
		struct total *process = process_total(n, thread);
		struct total *cgroup = cgroup_total(n, thread->cgroup);
		const struct cgroup *limiter = thread->thread->limiter;
		struct total *aside = limiter != thread->cgroup ? cgroup_total(n, limiter) : NULL;

		if (!process)
			return -ENOMEM;
		total_add(process, thread, false);
		if (cgroup)
			total_add(cgroup, thread, false);
		if (aside)
			total_add(aside, thread, false);
	}
	return 0;
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

int node_finish(struct tick_node *n)
{
	struct model *m = n->model;

	for (size_t i = 0; i < n->tick.nr_active; i++)
		n->active[i].values = n->active[i].own = &n->values[i];
	for (int s = 0; s < STATE_COUNT; s++) {
		n->idle_values[s] = (struct values){ 0 };
		values_add_idle(&n->idle_values[s], s, 1, n->tick.interval_ns);
		hide_unknown(m, &n->idle_values[s]);
		values_no_level(&n->idle_values[s]);
	}
	if (add_up_active(n))
		return -ENOMEM;
	add_levels(n);
	add_up_cgroups(n);
	for (size_t i = 0; i < n->tick.nr_processes; i++) {
		total_idle(m, &n->process_totals[i], n->tick.interval_ns);
		total_finish(&n->process_totals[i], &n->processes[i]);
		n->processes[i].incomplete = n->incomplete;
	}
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

const struct tick *model_end(struct model *m, const uint64_t loss[LOSS_COUNT],
			     const struct self_cost *self, bool incomplete)
{
	struct tick_node *n = m->now;

	block_limits(n);
	memcpy(n->tick.loss, loss, sizeof(n->tick.loss));
	n->tick.self = *self;
	n->incomplete = incomplete;
	if (node_finish(n))
		return NULL;
	m->now = NULL;
	if (m->history && history_remember(m, n))
		return NULL;
	return &n->tick;
}

const struct tick *tick_get(const struct tick *t)
{
	((struct tick_node *)t)->holders++;
	return t;
}

void tick_put(const struct tick *t)
{
	struct tick_node *n = (struct tick_node *)t, **at;

	if (!t || --n->holders)
		return;
	for (at = &n->model->held; *at != n; at = &(*at)->next)
		;
	*at = n->next;
	node_release(n);
}
