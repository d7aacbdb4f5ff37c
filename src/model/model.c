/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/sums.h"
#include "util/map.h"
#include "util/vec.h"

/* A process, and how many lives refer to it. A number is used again while ticks show the process
 * that had it: it belongs to the one whose threads live, and whose leader began when this did. */
struct process_node {
	struct process process; /* first: what ticks see */
	size_t lives, living;
	uint64_t leader_start;  /* 0: leader not seen yet */
	uint64_t seq; /* of the tick it last got a row in */
	size_t row;   /* that row's place */
};

struct life_node {
	struct life life; /* first: what ticks see */
	uint64_t ended;   /* seq of the tick in which it ended */
	struct life_node *next;
};

/* A thread that did nothing: 16 bytes until the tick is complete. */
struct idle_thread {
	struct life *life;
	enum thread_state state;
};

/* A row that adds up threads: its values, and how many idle threads they still lack. */
struct total {
	struct values values, own;
	uint32_t nr_threads, own_threads;
	uint32_t idle[STATE_COUNT];
	enum thread_state state; /* of the most active thread */
	bool exited;
};

/* A tick, its holders and its memory, which is used again for later ticks. */
struct tick_node {
	struct tick tick; /* first: what holders see */
	struct model *model;
	int holders;
	struct tick_node *next;

	struct row *threads;
	size_t threads_room;
	struct values *values; /* of the active threads, in their order */
	size_t nr_values, values_room;
	struct idle_thread *idle;
	size_t nr_idle, idle_room;
	struct values idle_values[STATE_COUNT];
	struct row *processes;
	struct total *process_totals;
	size_t processes_room, process_totals_room;
	struct row *cgroups;
	struct total *cgroup_totals;
	size_t cgroups_room, cgroup_totals_room;
	struct cpu_values *cpus;
	size_t cpus_room;
};

struct model {
	uint64_t seq;
	struct map processes;    /* tgid -> struct process_node */
	struct life_node *ended; /* newest first */
	struct tick_node *held;  /* newest first */
	struct tick_node *spare;
	struct tick_node *now;   /* being built */
};

struct model *model_new(void)
{
	return calloc(1, sizeof(struct model));
}

static void tick_node_free(struct tick_node *n)
{
	if (!n)
		return;
	free(n->threads);
	free(n->values);
	free(n->idle);
	free(n->processes);
	free(n->process_totals);
	free(n->cgroups);
	free(n->cgroup_totals);
	free(n->cpus);
	free(n);
}

/* Makes *@at show @cgroup, which stays known for as long as somebody shows it. */
static void cgroup_show(struct cgroup **at, struct cgroup *cgroup)
{
	if (cgroup)
		cgroup->refs++;
	if (*at)
		(*at)->refs--;
	*at = cgroup;
}

static void process_forget(struct model *m, const struct process_node *p)
{
	if (map_get(&m->processes, p->process.tgid) == p)
		map_del(&m->processes, p->process.tgid);
}

static void process_put(struct process_node *p)
{
	if (--p->lives)
		return;
	cgroup_show(&p->process.cgroup, NULL);
	free(p);
}

/* Frees the lives that no held tick can show any more. */
static void forget_lives(struct model *m)
{
	struct life_node **at = &m->ended, *l;
	uint64_t oldest = m->seq;

	for (struct tick_node *n = m->held; n; n = n->next)
		if (n->tick.seq < oldest)
			oldest = n->tick.seq;
	while (*at && (*at)->ended >= oldest)
		at = &(*at)->next;
	l = *at;
	*at = NULL;
	while (l) {
		struct life_node *next = l->next;

		cgroup_show(&l->life.cgroup, NULL);
		process_put((struct process_node *)l->life.process);
		free(l);
		l = next;
	}
}

void model_free(struct model *m)
{
	if (!m)
		return;
	m->seq = UINT64_MAX;
	forget_lives(m);
	tick_node_free(m->now);
	tick_node_free(m->spare);
	map_fini(&m->processes);
	free(m);
}

static struct process_node *process_of(struct model *m, const struct identity *id)
{
	struct process_node *p = map_get(&m->processes, id->tgid);
	bool leader = id->tid == id->tgid;

	if (p && !(leader && p->leader_start && p->leader_start != id->start_ns)) {
		if (leader)
			p->leader_start = id->start_ns;
		return p;
	}
	p = calloc(1, sizeof(*p));
	if (!p || map_put(&m->processes, id->tgid, p)) {
		free(p);
		return NULL;
	}
	p->process.tgid = id->tgid;
	if (leader)
		p->leader_start = id->start_ns;
	return p;
}

void model_life_update(struct life *l, const struct identity *id,
		       struct cgroup *cgroup)
{
	struct process *p = l->process;

	l->tid = id->tid;
	l->ppid = id->ppid;
	l->uid = id->uid;
	memcpy(l->comm, id->comm, sizeof(l->comm));
	l->start_ns = id->start_ns;
	l->flags = id->flags;
	l->policy = id->policy;
	l->priority = id->priority;
	l->cpu = id->cpu;
	cgroup_show(&l->cgroup, cgroup);
	if (id->tid == id->tgid || !p->comm[0]) { /* the leader's, or the first thread's until then */
		memcpy(p->comm, id->comm, sizeof(p->comm));
		p->ppid = id->ppid;
		p->uid = id->uid;
		cgroup_show(&p->cgroup, cgroup);
	}
}

struct life *model_life(struct model *m, const struct identity *id, struct cgroup *cgroup)
{
	struct life_node *n = calloc(1, sizeof(*n));
	struct process_node *p = n ? process_of(m, id) : NULL;

	if (!p) {
		free(n);
		return NULL;
	}
	p->lives++;
	p->living++;
	n->life.process = &p->process;
	n->life.tgid = id->tgid;
	model_life_update(&n->life, id, cgroup);
	return &n->life;
}

void model_life_end(struct model *m, struct life *l)
{
	struct life_node *n = (struct life_node *)l;
	struct process_node *p = (struct process_node *)l->process;

	if (!--p->living)
		process_forget(m, p);
	n->ended = m->seq;
	n->next = m->ended;
	m->ended = n;
}

int model_begin(struct model *m, uint64_t interval_ns, uint64_t boottime_ns,
		const struct timespec *wall)
{
	struct tick_node *n = m->now;

	if (!n) {
		n = m->spare ? m->spare : calloc(1, sizeof(*n));
		m->spare = NULL;
	}
	if (!n)
		return -ENOMEM;
	for (size_t i = 0; n == m->now && i < n->tick.nr_cgroups; i++)
		((struct cgroup *)n->cgroups[i].cgroup)->refs--; /* of a tick that failed */
	forget_lives(m);
	n->tick = (struct tick){
		.seq = ++m->seq,
		.interval_ns = interval_ns,
		.boottime_ns = boottime_ns,
		.wall = *wall,
	};
	n->model = m;
	n->holders = 1;
	n->nr_values = n->nr_idle = 0;
	m->now = n;
	return 0;
}

int model_thread(struct model *m, struct life *l, enum thread_state state, bool exited,
		 const struct values *values)
{
	struct tick_node *n = m->now;
	struct row row = {
		.kind = ROW_THREAD,
		.state = state,
		.exited = exited,
		.thread = l,
		.process = l->process,
		.cgroup = l->cgroup,
		.nr_threads = 1,
		.own_threads = 1,
		.nr_throttled = VALUE_NA,
		.limit_throttled_ns = VALUE_NA,
	};

	if (VEC_PUSH(n->threads, n->tick.nr_active, n->threads_room, row))
		return -ENOMEM;
	return VEC_PUSH(n->values, n->nr_values, n->values_room, *values);
}

int model_idle(struct model *m, struct life *l, enum thread_state state)
{
	struct idle_thread idle = { l, state };

	return VEC_PUSH(m->now->idle, m->now->nr_idle, m->now->idle_room, idle);
}

int model_cpu(struct model *m, const struct cpu_values *cpu)
{
	return VEC_PUSH(m->now->cpus, m->now->tick.nr_cpus, m->now->cpus_room, *cpu);
}

int model_cgroup(struct model *m, struct cgroup *cgroup, uint64_t nr_throttled,
		 uint64_t throttled_ns)
{
	struct tick_node *n = m->now;
	struct row row = {
		.kind = ROW_CGROUP,
		.state = STATE_SLEEP,
		.cgroup = cgroup,
		.nr_throttled = nr_throttled,
		.limit_throttled_ns = throttled_ns,
	};
	struct total *grown = vec_grow(n->cgroup_totals, n->tick.nr_cgroups,
				       &n->cgroup_totals_room, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	n->cgroup_totals = grown;
	memset(&grown[n->tick.nr_cgroups], 0, sizeof(*grown));
	grown[n->tick.nr_cgroups].state = STATE_SLEEP;
	cgroup->row = n->tick.nr_cgroups;
	if (VEC_PUSH(n->cgroups, n->tick.nr_cgroups, n->cgroups_room, row))
		return -ENOMEM;
	cgroup->refs++;
	return 0;
}

static int idle_rows(struct tick_node *n)
{
	static const struct row blank = {
		.kind = ROW_THREAD,
		.nr_threads = 1,
		.own_threads = 1,
		.nr_throttled = VALUE_NA,
		.limit_throttled_ns = VALUE_NA,
	};
	size_t nr = n->tick.nr_active + n->nr_idle;

	if (nr > n->threads_room) {
		struct row *grown = reallocarray(n->threads, nr, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		n->threads = grown;
		n->threads_room = nr;
	}
	for (int s = 0; s < STATE_COUNT; s++) {
		n->idle_values[s] = (struct values){ 0 };
		values_add_idle(&n->idle_values[s], s, 1, n->tick.interval_ns);
	}
	for (size_t i = 0; i < n->tick.nr_active; i++)
		n->threads[i].values = n->threads[i].own = &n->values[i];
	for (size_t i = 0; i < n->nr_idle; i++) {
		struct row *r = &n->threads[n->tick.nr_active + i];
		const struct idle_thread *idle = &n->idle[i];

		*r = blank;
		r->state = idle->state;
		r->thread = idle->life;
		r->process = idle->life->process;
		r->cgroup = idle->life->cgroup;
		r->values = r->own = &n->idle_values[idle->state];
	}
	n->tick.nr_threads = nr;
	return 0;
}

/* The totals of a cgroup's row, NULL if it has none in this tick. */
static struct total *cgroup_total(struct tick_node *n, const struct cgroup *cgroup)
{
	if (!cgroup || cgroup->row >= n->tick.nr_cgroups ||
	    n->cgroups[cgroup->row].cgroup != cgroup)
		return NULL;
	return &n->cgroup_totals[cgroup->row];
}

static struct total *process_total(struct model *m, const struct row *thread)
{
	struct process_node *p = (struct process_node *)thread->process;
	struct tick_node *n = m->now;
	struct total *grown;
	struct row row = {
		.kind = ROW_PROCESS,
		.process = thread->process,
		.cgroup = thread->process->cgroup,
		.nr_throttled = VALUE_NA,
		.limit_throttled_ns = VALUE_NA,
	};

	if (p->seq == m->seq)
		return &n->process_totals[p->row];
	grown = vec_grow(n->process_totals, n->tick.nr_processes, &n->process_totals_room,
			 sizeof(*grown));
	if (!grown)
		return NULL;
	n->process_totals = grown;
	grown += n->tick.nr_processes;
	memset(grown, 0, sizeof(*grown));
	grown->state = STATE_COUNT;
	grown->exited = true;
	p->seq = m->seq;
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

static void total_finish(struct total *t, struct row *r)
{
	values_split(&t->values);
	values_split(&t->own);
	r->values = &t->values;
	r->own = &t->own;
	r->nr_threads = t->nr_threads;
	r->own_threads = t->own_threads;
	r->state = t->state;
	r->exited = t->exited;
}

/* Adds the idle threads' time, which is the same for all of them. */
static void total_idle(struct total *t, uint64_t interval_ns)
{
	for (int s = 0; s < STATE_COUNT; s++)
		if (t->idle[s])
			values_add_idle(&t->own, s, t->idle[s], interval_ns);
	t->values = t->own;
	t->nr_threads = t->own_threads;
}

static int add_up_threads(struct model *m)
{
	struct tick_node *n = m->now;

	for (size_t i = 0; i < n->tick.nr_threads; i++) {
		const struct row *thread = &n->threads[i];
		bool idle = i >= n->tick.nr_active;
		struct total *process = process_total(m, thread);
		struct total *cgroup = cgroup_total(n, thread->cgroup);

		if (!process)
			return -ENOMEM;
		total_add(process, thread, idle);
		if (cgroup)
			total_add(cgroup, thread, idle);
	}
	return 0;
}

static void add_up_cgroups(struct model *m)
{
	struct tick_node *n = m->now;

	for (size_t i = 0; i < n->tick.nr_cgroups; i++)
		total_idle(&n->cgroup_totals[i], n->tick.interval_ns);
	/* Parents stand before their children: backwards, every row is complete when it is added. */
	for (size_t i = n->tick.nr_cgroups; i-- > 0;) {
		struct total *t = &n->cgroup_totals[i];
		struct total *above = cgroup_total(n, n->cgroups[i].cgroup->parent);

		if (above) {
			values_add(&above->values, &t->values);
			above->nr_threads += t->nr_threads;
		} else {
			values_add(&n->tick.total, &t->values);
		}
		total_finish(t, &n->cgroups[i]);
	}
	values_split(&n->tick.total);
}

const struct tick *model_end(struct model *m, const uint64_t loss[LOSS_COUNT],
			     const struct self_cost *self, bool incomplete)
{
	struct tick_node *n = m->now;

	if (idle_rows(n) || add_up_threads(m))
		return NULL;
	add_up_cgroups(m);
	for (size_t i = 0; i < n->tick.nr_processes; i++) {
		total_idle(&n->process_totals[i], n->tick.interval_ns);
		total_finish(&n->process_totals[i], &n->processes[i]);
		n->processes[i].incomplete = incomplete;
	}
	for (size_t i = 0; i < n->tick.nr_cgroups; i++)
		n->cgroups[i].incomplete = incomplete;
	for (size_t i = 0; i < n->tick.nr_threads; i++)
		n->tick.total_d += n->threads[i].state == STATE_D;
	n->tick.threads = n->threads;
	n->tick.processes = n->processes;
	n->tick.cgroups = n->cgroups;
	n->tick.cpus = n->cpus;
	memcpy(n->tick.loss, loss, sizeof(n->tick.loss));
	n->tick.self = *self;
	n->next = m->held;
	m->held = n;
	m->now = NULL;
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
	for (size_t i = 0; i < n->tick.nr_cgroups; i++)
		((struct cgroup *)n->cgroups[i].cgroup)->refs--;
	if (n->model->spare)
		tick_node_free(n->model->spare);
	n->model->spare = n;
}
