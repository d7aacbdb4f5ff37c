/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Start, ticks and end: iterates over the collectors without naming any. Threads are the core: see slots.h. */
#include "collect/collect.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "collect/health.h"
#include "collect/seed.h"
#include "collect/slots.h"
#include "model/model.h"
#include "proc/sched_ext.h"
#include "util/clock.h"
#include "util/fail.h"
#include "util/heap.h"
#include "util/online.h"

#include "systop.skel.h"

/* The host was suspended if the difference of its two clocks grew by more than this: two consecutive reads may differ,
 * too. */
#define SUSPEND_MIN_NS 1000000

/* Calls a hook of every collector that is open, until one fails. */
#define EACH(c, err, hook, ...)                                                                                                 \
	do {                                                                                                                    \
		COLLECTOR_EACH (&(c)->set, i, hook)                                                                             \
			(err) = (err) ? (err) : collectors[i]->hook((c), ##__VA_ARGS__);                                        \
	} while (0)

/* Upper bound of the time in suspend so far: other programs may run between the two reads. */
static uint64_t suspended_ns(void)
{
	uint64_t boot = clock_ns(CLOCK_BOOTTIME), monotonic = clock_ns(CLOCK_MONOTONIC);

	return boot > monotonic + SUSPEND_MIN_NS ? boot - monotonic : 0;
}

/* The first switch of a CPU shows that it came back online. */
static void collect_offline(struct collect *c)
{
	for (int cpu = 0; cpu < c->nr_cpus; cpu++)
		if (!online_is(c->online, cpu))
			c->cpus_memory[cpu].offline = 1;
}

/* A sched_ext scheduler can come and go at any time. */
static void collect_sched_ext(struct collect *c)
{
	struct sched_ext s;

	sched_ext_read(SCHED_EXT_DIR, &s);
	c->shared->sched_ext = s.on;
}

/* The end of a tick, or the beginning of the first one. */
struct instant {
	uint64_t now, boot;
	struct timespec wall;
};

/* Captures the host at one instant; again if systop lost its CPU meanwhile. With very many threads capturing takes so long that
 * this would happen each time: then it is done once. */
#define CAPTURE_TRIES 3
#define CAPTURE_AWAY_NS 100000
#define CAPTURE_QUICK_NS 2000000

static int collect_capture(struct collect *c, struct instant *at)
{
	int64_t used, away;
	int tries = 0, err;

	do {
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		at->now = clock_ns(CLOCK_MONOTONIC);
		at->boot = clock_ns(CLOCK_BOOTTIME);
		clock_gettime(CLOCK_REALTIME, &at->wall);
		err = slots_capture(c->sched, at->now);
		COLLECTOR_EACH (&c->set, i, capture)
			collectors[i]->capture(c);
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - used;
		away = clock_ns(CLOCK_MONOTONIC) - at->now - used; /* negative by the time between reads of the two clocks */
	} while (!err && away >= CAPTURE_AWAY_NS && used < CAPTURE_QUICK_NS && ++tries < CAPTURE_TRIES);
	return err;
}

/* Programs first, then the existing threads, then the samplers: threads that switch meanwhile enter themselves, and our
 * own start is not measured. */
static int collect_attach(struct collect *c)
{
	struct shared *shared = c->shared;
	struct instant begin;
	int err;

	shared->suspended_ns = suspended_ns();
	for (int cpu = 0; cpu < c->nr_cpus; cpu++)
		c->cpus_memory[cpu].suspended_ns = shared->suspended_ns;
	shared->started_ns = clock_ns(CLOCK_MONOTONIC);
	collect_offline(c);
	collect_sched_ext(c);
	err = systop__attach(c->skel);
	if (err)
		return err;
	err = seed_run(c->skel->progs.seed_task, c->threads, c->max_threads, shared);
	if (err < 0)
		return err;
	c->seed_missed = err;
	shared->seeded = 1;
	err = 0;
	for (int i = 0; i < COLLECTOR_COUNT; i++)
		if (!err && collectors[i]->attach)
			err = collectors[i]->attach(c);
	if (err)
		return err;
	err = collect_capture(c, &begin);
	if (!err) /* the first one takes ms, as it is the first to touch its memory */
		err = collect_capture(c, &begin);
	if (err)
		return err;
	c->now = begin.now;
	err = slots_baseline(c->sched, c->now);
	EACH(c, err, baseline, c->now);
	return err;
}

static int collect_load(struct collect *c)
{
	struct load_report report;
	int err;

	c->load.options = c->options;
	c->load.online = c->online;
	err = load_programs(&c->skel, &c->load, &report);
	if (err)
		return err;
	c->shared = &c->skel->bss->shared;
	return 0;
}

static const char *next_step(struct collect *c, const char *step)
{
	if (c->options->report_step)
		c->options->report_step(step);
	return step;
}

static int collect_open(struct collect *c, const char **step)
{
	int err = 0;

	for (int i = 0; i < COLLECTOR_COUNT && !err; i++) {
		if (collectors[i]->step)
			*step = next_step(c, collectors[i]->step);
		if (collectors[i]->open)
			err = collectors[i]->open(c);
	}
	return err;
}

/* The cost of systop since the start, as far as the collectors know it. */
static struct self_cost collectors_cost(const struct collect *c)
{
	struct self_cost cost = { .bpf_bytes = c->bpf_bytes };

	COLLECTOR_EACH (&c->set, i, cost)
		collectors[i]->cost(c, &cost);
	return cost;
}

static void read_cost(struct collect *c, struct self_cost *cost)
{
	struct self_cost all = collectors_cost(c);

	self_read(&c->self, all.bpf_ns, all.bpf_bytes, cost);
	cost->recorder_bytes = all.recorder_bytes;
}

/* The last step: reads the values that the first tick is compared with. */
static int collect_ready(struct collect *c)
{
	struct self_cost start;
	int err = 0;

	EACH(c, err, ready);
	c->bpf_bytes = memory_bytes(c->skel->obj);
	read_cost(c, &start);
	return err;
}

struct collect *collect_new(const struct collect_options *o, struct model *model,
			    struct cgroups *cgroups)
{
	struct collect *c = calloc(1, sizeof(*c));
	const char *step = "begin";
	int err = -ENOMEM;

	if (!c)
		goto out;
	c->options = o;
	c->load.ring_fd = -1;
	c->model = model;
	c->cgroups = cgroups;
	c->set = (struct collector_set){ collectors, c->states, COLLECTOR_COUNT };
	c->nr_cpus = libbpf_num_possible_cpus();
	c->rarely = c->more_rarely = c->waits_rarely = 1;
	budget_init(&c->budget, collectors, COLLECTOR_COUNT, o,
		    (uint64_t[]){ [BUDGET_CPU] = o->max_cpu, [BUDGET_MEMORY] = o->max_memory });
	c->online = online_new(c->nr_cpus);
	step = next_step(c, "open /proc/self/statm");
	err = c->online ? self_open(&c->self) : -ENOMEM;
	if (!err) {
		step = next_step(c, "load BPF programs");
		err = collect_load(c);
		heap_give_back();
	}
	if (!err) {
		step = next_step(c, "read BPF memory");
		err = collect_open(c, &step);
	}
	if (!err) {
		step = next_step(c, "attach BPF programs");
		err = collect_attach(c);
	}
	if (!err)
		err = collect_ready(c);
	heap_work();
out:
	if (!err) {
		c->options = NULL;
		return c;
	}
	fail(err, EXIT_STATUS_RUNTIME, "cannot %s: %s", step, strerror(-err));
	fail_fix("systop --check");
	collect_free(c);
	return NULL;
}

/* Samplers are attached last and removed first. */
void collect_free(struct collect *c)
{
	if (!c)
		return;
	collectors_close(c);
	if (c->skel)
		systop__detach(c->skel);
	load_end(&c->load);
	online_free(c->online);
	memory_unmap(&c->memory);
	systop__destroy(c->skel);
	self_close(&c->self);
	free(c);
}

/* The longest time without reading what the programs wrote. */
#define UNREAD_NS 1000000000ULL

static bool is_due(const struct collect *c)
{
	if (clock_ns(CLOCK_MONOTONIC) - c->read_ns >= UNREAD_NS)
		return true;
	COLLECTOR_EACH (&c->set, i, due)
		if (collectors[i]->due(c))
			return true;
	return false;
}

/* Runs before dead threads are harvested. */
static int collect_follow(struct collect *c)
{
	bool changed = online_follow(c->online);
	int err = 0;

	c->read_ns = clock_ns(CLOCK_MONOTONIC);
	EACH(c, err, follow, changed);
	return err;
}

int collect_harvest(struct collect *c, uint64_t deadline)
{
	struct shared *shared = c->shared;
	uint64_t suspended = suspended_ns();
	int err;

	shared->seconds = clock_ns(CLOCK_BOOTTIME) / 1000000000;
	if (suspended > shared->suspended_ns + SUSPEND_MIN_NS)
		shared->suspended_ns = suspended;
	if (!is_due(c))
		return 0;
	COLLECTOR_EACH (&c->set, i, grow)
		collectors[i]->grow(c);
	err = collect_follow(c);
	return err ? err : slots_harvest(c->sched, deadline);
}

bool collect_crowded(const struct collect *c)
{
	return slots_crowded(c->sched);
}

int collect_early(struct collect *c, uint64_t deadline)
{
	return slots_show_early(c->sched, deadline);
}

/* A process whose parent ended moves to another parent, or to init. If it ended itself meanwhile, nothing happens. */
static void collect_orphan(void *arg, pid_t tgid)
{
	struct collect *c = arg;

	seed_iterate(c->skel->progs.seed_task, tgid, true);
}

static void collect_loss(const struct collect *c, uint64_t loss[LOSS_COUNT])
{
	COLLECTOR_EACH (&c->set, i, loss)
		collectors[i]->loss(c, loss);
}

void collect_health_loss(const struct collect *c, struct health *h)
{
	uint64_t loss[LOSS_COUNT] = { 0 };

	collect_loss(c, loss);
	health_loss(h, loss);
}

void collect_health(const struct collect *c, struct health *h)
{
	health_programs(h, c, c->skel->obj);
	health_memory(h, collectors_cost(c).bpf_bytes);
	model_health(c->model, h);
	COLLECTOR_EACH (&c->set, i, health)
		collectors[i]->health(c, h);
	health_budget(h, &c->budget);
}

/* CPU in 1/1000 % of one CPU; memory in bytes: BPF maps, the recorder's rings, private memory of the processes. */
static uint64_t cost_of(enum budget_kind kind, const struct self_cost *cost, uint64_t ns)
{
	if (kind == BUDGET_CPU)
		return ns ? (cost->cpu_ns + cost->bpf_ns) * 100000 / ns : 0;
	return cost->bpf_bytes + cost->recorder_bytes + self_private_bytes();
}

_Static_assert(BUDGET_ROWS <= SELF_SHED_MAX, "a tick names all that is left out");

/* Sheds or takes back at most one row per budget. */
static void keep_budget(struct collect *c, struct self_cost *cost, uint64_t ns)
{
	const struct collector_shed *row;

	for (enum budget_kind kind = 0; kind < BUDGET_KINDS; kind++) {
		bool shed;

		if (!c->budget.parts[kind].limit)
			continue;
		row = budget_step(&c->budget, kind, cost_of(kind, cost, ns), ns, &shed);
		if (row)
			row->set(c, shed);
	}
	while ((row = budget_shed(&c->budget, cost->nr_shed)))
		cost->shed[cost->nr_shed++] = row->name;
}

uint64_t collect_since(const struct collect *c)
{
	return c->now;
}

const struct tick *collect_tick(struct collect *c)
{
	uint64_t loss[LOSS_COUNT] = { 0 }, now, interval;
	struct instant at = { 0 };
	struct self_cost cost;
	int err;

	collect_sched_ext(c);
	err = collect_follow(c);
	collect_offline(c);
	if (!err)
		err = slots_harvest(c->sched, 0);
	if (!err)
		err = collect_capture(c, &at);
	now = at.now;
	interval = now - c->now;
	if (!err)
		err = model_begin(c->model, interval, at.boot, &at.wall);
	if (!err) {
		err = slots_tick(c->sched, now);
		model_orphans(c->model, collect_orphan, c);
	}
	EACH(c, err, tick, now);
	if (err) {
		errno = -err;
		return NULL;
	}
	c->now = now;
	collect_loss(c, loss);
	read_cost(c, &cost);
	keep_budget(c, &cost, interval);
	COLLECTOR_EACH (&c->set, i, after)
		collectors[i]->after(c);
	return model_end(c->model, loss, &cost);
}
