/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/owner.h"
#include "model/sample.h"
#include "model/wait.h"

#define SEC 1000000000ULL
#define PF_KTHREAD 0x00200000

static const struct owner is_slice = { OWNER_SLICE, 0, OWNER_SYSTEM, "batch.slice", "batch.slice" };
static const struct owner is_unit = { OWNER_UNIT, 0, OWNER_SYSTEM, "postgresql@14-main.service", "postgresql@14-main" };
static const struct owner is_container = { OWNER_CONTAINER, 1, OWNER_SYSTEM, .container_id = "3f2a91c04b7e5d6c8f90",
					   .container = "builder", .runtime = "docker", .image = "gcc:14" };
static const struct owner is_pod = { OWNER_POD, 1, OWNER_SYSTEM, .pod_id = "0f3c1b9e-6d9b-4c63-8a3f-2f6b3f4f1a77",
				     .pod = "shop/api-7f9c" };
static struct cgroup cgroups[] = {
	{ .id = 1, .path = "/" },
	{ .id = 2, .path = "/batch.slice", .parent = &cgroups[0], .depth = 1, .owner = &is_slice },
	{ .id = 3, .path = "/batch.slice/build", .parent = &cgroups[1], .depth = 2, .owner = &is_container },
	{ .id = 4, .path = "/system.slice", .parent = &cgroups[0], .depth = 1 },
	{ .id = 5, .path = "/system.slice/postgresql@14-main.service", .parent = &cgroups[3], .depth = 2, .owner = &is_unit },
	{ .id = 6, .path = "/web.slice", .parent = &cgroups[0], .depth = 1 },
	{ .id = 7, .path = "/web.slice/api", .parent = &cgroups[5], .depth = 2, .owner = &is_pod },
};

/* The hierarchy of the CPU limits, except that of build. */
static struct cgroup limits_root = { .id = 1, .path = "cpu:/", .aside = true };
static struct cgroup tenant = { .id = 2, .path = "cpu:/tenant7", .parent = &limits_root, .depth = 1, .aside = true };

#define NR_CGROUPS (sizeof(cgroups) / sizeof(cgroups[0]))

/* Shares of a second, in ms; the rest is sleep. */
static const struct actor {
	pid_t tid, tgid, ppid;
	unsigned int uid;
	const char *comm;
	int cgroup; /* index */
	enum thread_state state;
	int user, kernel, runq, throttled, d;
	int longest_us;
	bool idle, dies;
	int irq; /* ms of its sleep: time taken by interrupts, */
	int steal; /* and the hypervisor */
} actors[SCENE_THREADS] = {
	{ 2, 2, 0, 0, "kthreadd", 0, STATE_SLEEP, .idle = true },
	{ 17, 17, 2, 0, "ksoftirqd/0", 0, STATE_SLEEP, 0, 12, 3, 0, 0, 80 },
	{ 480, 480, 2, 0, "kworker/u8:3", 0, STATE_D, 0, 25, 1, 0, 700, 15 },
	{ 1000, 1000, 1, 33, "nginx", 6, STATE_SLEEP, 120, 230, 90, 0, 0, 4100 },
	{ 2001, 2001, 1000, 33, "api-server", 6, STATE_RUNNING, 500, 200, 240, 0, 0, 12500, .irq = 44, .steal = 12 },
	{ 2002, 2001, 1000, 33, "api-worker", 6, STATE_RUNQUEUE, 300, 60, 500, 0, 0, 41000, .irq = 9 },
	{ 2003, 2001, 1000, 33, "api-gc", 6, STATE_SLEEP, .idle = true },
	{ 3000, 3000, 1, 999, "postgres", 4, STATE_D, 30, 60, 20, 0, 610, 330, .irq = 18 },
	{ 3001, 3000, 1, 999, "postgres", 4, STATE_SLEEP, .idle = true },
	{ 4000, 4000, 1, 1000, "make", 2, STATE_SLEEP, 1, 2, 0, 0, 0, 9 },
	{ 4001, 4001, 4000, 1000, "cc1plus", 2, STATE_RUNQUEUE, 280, 20, 690, 660, 0, 71000 },
	{ 4002, 4002, 4000, 1000, "cc1", 2, STATE_RUNQUEUE, 90, 10, 5, 2, 0, 600, .dies = true },
	{ 5000, 5000, 1, 1000, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, STATE_SLEEP, 15, 5, 2, 0, 0, 44 },
	{ 5001, 5001, 1, 1000, "e\xcc\x81te\xcc\x81", 5, STATE_STOPPED, .idle = true },
	{ 6666, 6666, 1, 65534, "\x1b[2J\xe2\x80\xae!", 0, STATE_SLEEP, 4, 1, 0, 0, 0, 7 },
};

void scene_check(int err)
{
	if (err)
		abort();
}

/* Values of an actor in refresh @nr: smaller in older ones. */
static struct values values_of(const struct actor *a, int nr)
{
	uint64_t unit = 1000000 - 250000 * (SCENE_TICKS - 1 - nr);
	struct values v = { 0 };
	int slot = 0;

	v.v[METRIC_USER] = a->user * unit;
	v.v[METRIC_KERNEL] = a->kernel * unit;
	v.v[METRIC_RUN] = v.v[METRIC_USER] + v.v[METRIC_KERNEL];
	v.v[METRIC_RUNQ] = a->runq * unit;
	v.v[METRIC_THROTTLED] = a->throttled * unit;
	v.v[METRIC_D] = a->d * unit;
	v.v[METRIC_IRQ] = a->irq * unit;
	v.v[METRIC_STEAL] = a->steal * unit;
	v.v[METRIC_ALIVE] = a->dies ? 300 * unit : SEC;
	v.v[METRIC_SLEEP] = v.v[METRIC_ALIVE] - v.v[METRIC_RUN] - v.v[METRIC_RUNQ] - v.v[METRIC_D] -
			    v.v[METRIC_IRQ] - v.v[METRIC_STEAL];
	v.v[METRIC_RUNQ_MAX] = a->longest_us * 1000ULL;
	v.v[METRIC_RUNQ_P50] = v.v[METRIC_RUNQ_P99] = VALUE_NA;
	v.v[METRIC_VOLUNTARY] = 10 * a->kernel;
	v.v[METRIC_INVOLUNTARY] = a->runq;
	v.v[METRIC_WAKEUPS] = 10 * a->kernel;
	v.v[METRIC_MIGRATIONS] = a->runq / 10;
	v.v[METRIC_READ] = a->d << 10;
	v.v[METRIC_WRITE] = a->kernel << 14;
	if (a->comm[0] == 'm') /* the kernel's tick has not sampled it */
		v.v[METRIC_USER] = v.v[METRIC_KERNEL] = VALUE_NA;
	while (1024ULL << (slot + 1) <= v.v[METRIC_RUNQ_MAX])
		slot++;
	v.hist[HIST_RUNQ].n[HIST_SHIFT + slot] = 1;
	v.hist[HIST_RUNQ].n[HIST_SHIFT + slot / 2] = 20;
	v.hist[HIST_RUNQ].n[HIST_SHIFT] = 80;
	return v;
}

static const struct stack *stack(struct scene *s, const uint64_t *frames, int nr)
{
	struct stack_entry e = { .nr = nr, .hash = nr, .check = nr };
	const struct stack *interned;

	for (int i = 0; i < nr; i++)
		e.hash = e.hash * 31 + frames[i];
	interned = model_stack(s->model, &e, frames);
	scene_check(interned ? 0 : -ENOMEM);
	return interned;
}

/* Samples of api-server and api-worker; frames are numbers of functions, see symbol(). */
static void make_samples(struct scene *s, const struct life *server, const struct life *worker, const struct life *web)
{
	static const uint64_t writer[] = { 2, 1, 0 }, ssl[] = { 3, 1, 0 }, render[] = { 6, 0 };
	static const uint64_t handler[] = { 1, 0 }, kernel[] = { FRAME_KERNEL | 5, FRAME_KERNEL | 4 };
	const struct stack_sample samples[] = {
		{ server, stack(s, writer, 3), NULL, 400000000, 0, 40, .metric = METRIC_RUN },
		{ server, stack(s, ssl, 3), NULL, 100000000, 0, 10, .metric = METRIC_RUN },
		{ server, stack(s, handler, 2), stack(s, kernel, 2), 50000000, 0, 5, .metric = METRIC_RUN },
		{ server, stack(s, handler, 2), stack(s, kernel, 2), 90000000, 45000000, 2, .metric = METRIC_SLEEP,
		  .wake_context = WAKE_TIMER, .waker = WAKER(0, 4004) },
		{ worker, stack(s, render, 2), NULL, 200000000, 0, 20, .metric = METRIC_RUN },
		{ worker, NULL, NULL, 60000000, 0, 0, .metric = METRIC_RUN, .flags = NOTE_NO_STACK },
		{ worker, stack(s, handler, 2), stack(s, kernel, 2), 900000000, 700000000, 3, .metric = METRIC_D,
		  .wake_context = WAKE_IRQ, .waker = WAKER(24, 0) },
		{ worker, stack(s, handler, 2), NULL, 20000000, 20000000, 1, .metric = METRIC_SLEEP, .waker = WAKER(0, 4002) },
		{ server, stack(s, handler, 2), stack(s, kernel, 2), 44000000, 0, 4, .metric = METRIC_IRQ, .irq = 1 + 3 },
		{ worker, stack(s, render, 2), stack(s, kernel, 1), 9000000, 0, 1, .metric = METRIC_IRQ,
		  .irq = 1 + IRQ_LOC },
		{ web, NULL, NULL, 19000000, .metric = METRIC_D, .flags = NOTE_NO_STACK }, /* in short blocks */
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		scene_check(model_sample(s->model, &samples[i]));
}

static const struct stack *blocked_stack(struct scene *s)
{
	static const uint64_t frames[] = { FRAME_KERNEL | 5, FRAME_KERNEL | 4 };

	return stack(s, frames, 2);
}

/* @nr: its contents; SCENE_TICKS - 1 is the last one, and all after it. */
static const struct tick *make_tick(struct scene *s, int nr)
{
	static const struct cgroup_limit none = { VALUE_NA, VALUE_NA };
	static const struct cgroup_limit limit = { 9, 1320000000, 50000000, 100000000 };
	static const struct cgroup_limit aside = { 2, 60000000, 20000000, 100000000 };
	const struct host_state host = { 31ULL << 30, 10ULL << 30, 3ULL << 30, 2ULL << 30, 300ULL << 20, { 310, 287, 1250 },
					 (41 * 86400 + 7200) * SEC };
	struct pressure pressure[PRESSURE_COUNT] = {
		{ 310000000, VALUE_NA }, { 0, 0 }, { 615000000, 402000000 },
	};
	struct timespec wall = { 1700000000 + s->made, 0 };
	uint64_t loss[LOSS_COUNT] = { [LOSS_WAITS] = 2, [LOSS_GAP] = 7 };
	struct self_cost self = { 4000000, 38 << 20, 2100000, 23 << 20 };
	struct life **lives = s->lives;
	const struct tick *tick;

	scene_check(model_begin(s->model, SEC, (5000 + s->made++) * SEC, &wall));
	for (int i = 0; i < SCENE_THREADS; i++) {
		const struct actor *a = &actors[i];
		struct values v = values_of(a, nr);
		bool dies = a->dies && nr + 1 == SCENE_TICKS;

		if (!lives[i])
			continue;
		if (a->idle)
			scene_check(model_idle(s->model, lives[i], a->state));
		else
			scene_check(model_thread(s->model, lives[i],
					   dies ? STATE_DEAD : a->state, dies, &v));
		if (nr == 1 && a->state == STATE_D) {
			scene_check(model_block(s->model, lives[i], METRIC_D, 2 * SEC, lives[i]->flags));
			model_block_stacks(lives[i]->block, NULL, blocked_stack(s), NOTE_NO_USER);
		}
		if (dies) {
			model_life_end(s->model, lives[i]);
			lives[i] = NULL;
		}
	}
	if (s->compiler) {
		struct values v = values_of(&actors[10], nr);

		scene_check(model_thread(s->model, s->compiler, STATE_DEAD, true, &v));
		scene_compiler(s, s->compiler, lives[5]);
		model_life_end(s->model, s->compiler);
		s->compiler = NULL;
	}
	make_samples(s, lives[4], lives[5], lives[3]);
	scene_cpus(s, nr);
	scene_interrupts(s, nr);
	scene_waits(s, lives[4], lives[5], &cgroups[2]);
	scene_latencies(s, nr);
	for (size_t i = 0; i < NR_CGROUPS; i++) {
		struct levels levels;

		levels_unknown(&levels);
		levels.v[METRIC_MEMORY - METRIC_LEVELS] = i ? (300ULL - 30 * i) << 20 : VALUE_NA; /* the root has none */
		scene_check(model_cgroup(s->model, &cgroups[i], i == 2 ? &limit : &none, &levels));
	}
	scene_check(model_cgroup(s->model, &tenant, &aside, NULL));
	model_pressure(s->model, pressure);
	model_host(s->model, &host);
	model_rss_error(s->model, &(struct level_error){ .process = 768 << 10 });
	if (s->timers_unseen)
		model_timers_unseen(s->model);
	tick = model_end(s->model, loss, &self);
	scene_check(tick ? 0 : -ENOMEM);
	return tick;
}

/* A process of each number has another size; one is in swap. */
static void make_memory(const struct life *l)
{
	struct levels levels;

	levels_unknown(&levels);
	levels.v[METRIC_RSS - METRIC_LEVELS] = (uint64_t)l->tgid * l->tgid << 6;
	levels.v[METRIC_SWAP - METRIC_LEVELS] = l->tgid == 5000 ? 12ULL << 20 : 0;
	model_levels(l, &levels, 1, 0);
}

static void make(struct scene *s, int nr_cpus)
{
	scene_topology(s, nr_cpus);
	s->model = model_new(1 << 20);
	scene_check(s->model ? 0 : -ENOMEM);
	for (int i = 0; i < SCENE_THREADS; i++) {
		const struct actor *a = &actors[i];
		struct identity id = {
			.tid = a->tid,
			.tgid = a->tgid,
			.ppid = a->ppid,
			.uid = a->uid,
			.start_ns = a->tid * SEC,
			.flags = a->ppid == 2 || a->tid == 2 ? PF_KTHREAD : 0,
			.priority = 120,
			.cpu = a->tid % 4,
			.limiter = a->tid == 5000 ? &tenant : NULL,
		};

		strncpy(id.comm, a->comm, sizeof(id.comm) - 1);
		s->lives[i] = model_life(s->model, &id, &cgroups[a->cgroup]);
		scene_check(s->lives[i] ? 0 : -ENOMEM);
		scene_cmdline(s->model, s->lives[i]->process);
		if (!(id.flags & PF_KTHREAD))
			make_memory(s->lives[i]);
	}
	for (int nr = 0; nr < SCENE_TICKS; nr++)
		s->ticks[nr] = make_tick(s, nr);
}

void scene_make(struct scene *s, int nr_cpus)
{
	*s = (struct scene){ 0 };
	make(s, nr_cpus);
}

void scene_make_untimed(struct scene *s)
{
	*s = (struct scene){ .timers_unseen = true };
	make(s, 4);
}

/* A compiler that lives only in this refresh. It ran while another thread waited, and waited itself; halfway it
 * changes its name. */
static struct life *make_compiler(struct scene *s)
{
	struct identity id = { .tid = 10000 + s->made, .tgid = 10000 + s->made, .ppid = 4000, .uid = 1000,
			       .start_ns = (5000 + s->made) * SEC, .priority = 120, .comm = "sh" };
	struct life *shell = model_life(s->model, &id, &cgroups[2]), *compiler;

	scene_check(shell ? 0 : -ENOMEM);
	snprintf(id.comm, sizeof(id.comm), "cc%d", s->made);
	compiler = model_life_update(s->model, shell, &id, &cgroups[2]);
	scene_check(compiler ? 0 : -ENOMEM);
	return compiler;
}

const struct tick *scene_next(struct scene *s)
{
	s->compiler = make_compiler(s);
	return make_tick(s, SCENE_TICKS - 1);
}

void scene_free(struct scene *s)
{
	for (int nr = 0; nr < SCENE_TICKS; nr++)
		tick_put(s->ticks[nr]);
	for (int i = 0; i < SCENE_THREADS; i++)
		if (s->lives[i])
			model_life_end(s->model, s->lives[i]);
	model_free(s->model);
	free(s->topology.cpus);
}
