/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/internal.h"
#include "util/vec.h"

static void node_free(struct tick_node *n)
{
	if (!n)
		return;
	free(n->active);
	free(n->values);
	free(n->idle);
	free(n->asleep);
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

	if (m) {
		m->ended.end = &m->ended.first;
		m->unshown.end = &m->unshown.first;
	}
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
	if (vec_ample(n->active_room, n->tick.nr_active) || vec_ample(n->idle_room, n->tick.nr_idle)) {
		node_free(n);
		return;
	}
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
	map_fini(&m->children);
	free(m->places);
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
	n->nr_values = n->nr_totals = 0;
	return n;
}

int node_thread(struct tick_node *n, struct life *l, enum thread_state state, bool exited,
		const struct values *values)
{
	struct row row = thread_row(l, state, exited);

	if (VEC_PUSH(n->active, n->tick.nr_active, n->active_room, row))
		return -ENOMEM;
	return VEC_PUSH(n->values, n->nr_values, n->values_room, *values);
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
	static const uint32_t nobody[2];
	const uint32_t *idle;
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
	idle = n == n->model->now ? cgroup->resting : cgroup->build == n->build ? cgroup->idle : nobody;
	grown[n->tick.nr_cgroups].idle[STATE_SLEEP] = idle[0];
	grown[n->tick.nr_cgroups].idle[STATE_STOPPED] = idle[1];
	grown[n->tick.nr_cgroups].own_threads = idle[0] + idle[1];
	cgroup->row = n->tick.nr_cgroups;
	if (VEC_PUSH(n->cgroups, n->tick.nr_cgroups, n->cgroups_room, row))
		return -ENOMEM;
	cgroup->refs++;
	n->tick.nr_aside += cgroup->aside;
	return 0;
}

/* A tick failed: the next one has its number and its time. */
static void take_back(struct model *m, const struct tick_node *n)
{
	m->seq--;
	m->awake_ns -= n->tick.interval_ns;
}

int model_begin_early(struct model *m)
{
	if (m->early)
		return 0;
	if (m->now) { /* left by a tick that failed */
		take_back(m, m->now);
		node_release(m->now);
		m->now = NULL;
	}
	threads_forget(m);
	model_stacks_forget(m);
	m->now = node_new(m);
	if (!m->now)
		return -ENOMEM;
	m->now->tick.seq = ++m->seq;
	m->early = true;
	return 0;
}

int model_begin(struct model *m, uint64_t interval_ns, uint64_t boottime_ns,
		const struct timespec *wall)
{
	struct tick_node *n;
	int err = model_begin_early(m);

	if (err)
		return err;
	m->early = false;
	n = m->now;
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
	((struct process_node *)l->process)->shown = true;
}

int model_thread(struct model *m, struct life *l, enum thread_state state, bool exited,
		 const struct values *values)
{
	life_shown(m, l);
	resting_remove(m, (struct life_node *)l);
	return node_thread(m->now, l, state, exited, values);
}

int model_idle(struct model *m, struct life *l, enum thread_state state)
{
	life_shown(m, l);
	return resting_add(m, (struct life_node *)l, state);
}

void model_not_idle(struct model *m, struct life *l)
{
	resting_remove(m, (struct life_node *)l);
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

const struct tick *model_end(struct model *m, const uint64_t loss[LOSS_COUNT], const struct self_cost *self)
{
	struct tick_node *n = m->now;

	block_limits(n);
	memcpy(n->tick.loss, loss, sizeof(n->tick.loss));
	n->tick.self = *self;
	/* A thread without a slot is missing even while it sleeps, when no loss is counted. */
	n->incomplete = loss[LOSS_NO_SLOT] || loss[LOSS_NO_STORAGE] || loss[LOSS_UNLISTED] > m->unlisted;
	m->unlisted = loss[LOSS_UNLISTED];
	if (node_finish(n))
		return NULL;
	m->now = NULL;
	if (!m->history || !history_remember(m, n))
		return &n->tick;
	take_back(m, n);
	tick_put(&n->tick);
	return NULL;
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
