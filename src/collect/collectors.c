/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of collectors, and the rows of the basic ones: threads, the scope, cgroups, pressure. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/areas.h"
#include "collect/blocked.h"
#include "collect/cgroup_names.h"
#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "collect/commands.h"
#include "collect/cpus.h"
#include "collect/facts.h"
#include "collect/files.h"
#include "collect/health.h"
#include "collect/irqs.h"
#include "collect/kernel_types.h"
#include "collect/limits.h"
#include "collect/moves.h"
#include "collect/probe.h"
#include "collect/samplers.h"
#include "collect/scope.h"
#include "collect/slots.h"
#include "collect/stacks.h"
#include "collect/unwind_tables.h"
#include "collect/usages.h"
#include "collect/waits.h"
#include "model/health.h"
#include "model/model.h"
#include "proc/cgroup.h"
#include "proc/host.h"
#include "proc/pressure.h"
#include "proc/sched_ext.h"
#include "record/rings.h"
#include "slot.h"
#include "util/fail.h"
#include "util/file.h"
#include "util/online.h"

#include "systop.skel.h"

const struct collector *const collectors[COLLECTOR_COUNT] = {
#define _(name, type, frees) [COLLECTOR_##name] = &collector_##name,
	COLLECTORS(_)
#undef _
};

static void free_state(struct collect *c, int id)
{
	switch (id) {
#define _(name, type, frees)    \
	case COLLECTOR_##name:  \
		frees(c->name); \
		break;
	COLLECTORS(_)
#undef _
	}
}

void collectors_close(struct collect *c)
{
	for (int i = COLLECTOR_COUNT; i-- > 0;) {
		if (collectors[i]->close)
			collectors[i]->close(c);
		free_state(c, i);
	}
}

/* --- Memory of each CPU */

static void areas_configure(struct systop *skel, struct load *l)
{
	bpf_map__set_max_entries(skel->maps.areas, online_possible(l->online));
}

static int areas_open(struct collect *c)
{
	c->areas = areas_new(bpf_map__fd(c->skel->maps.areas), c->online);
	return c->areas ? areas_follow(c->areas) : -ENOMEM;
}

static int areas_row_follow(struct collect *c, bool changed)
{
	if (changed)
		areas_follow(c->areas); /* its health line reports a failure */
	return 0;
}

static void areas_cost(const struct collect *c, struct self_cost *cost)
{
	cost->bpf_bytes += areas_bytes(c->areas);
}

static void areas_row_health(const struct collect *c, struct health *h)
{
	areas_health(c->areas, h);
}

const struct collector collector_areas = {
	.name = "CPU areas",
	.configure = areas_configure,
	.open = areas_open,
	.follow = areas_row_follow,
	.cost = areas_cost,
	.health = areas_row_health,
};

/* --- Threads: how their time is spent */

/* Slots for twice the existing threads: a power of two, so that the dead ring's counter wraps. */
static uint32_t slots_wanted(void)
{
	uint32_t want = SLOTS_DEFAULT, threads;
	char line[128];

	file_line(line, sizeof(line), "/proc/loadavg");
	if (sscanf(line, "%*s %*s %*s %*u/%u", &threads) != 1)
		threads = 0;
	while (want < 2 * threads)
		want *= 2;
	return want;
}

/* Whether a hypervisor may run other machines on these CPUs: only x86 reports that there is none. */
static bool may_be_guest(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	return !__get_cpuid(1, &a, &b, &c, &d) || c & 1U << 31;
#else
	return true;
#endif
}

static void sched_configure(struct systop *skel, struct load *l)
{
	struct sched_ext sched_ext;
	uint32_t max = slots_wanted();

	sched_ext_read(SCHED_EXT_DIR, &sched_ext);
	skel->rodata->sched_ext_ran = sched_ext.ran;
	skel->rodata->steals = may_be_guest();
	skel->bss->shared.steal_known = !skel->rodata->steals;
	skel->rodata->kernel_reads = l->kernel_reads;
	skel->rodata->slots_max = max;
	bpf_map__set_max_entries(skel->maps.slots, max);
	bpf_map__set_max_entries(skel->maps.dead_ring, max);
	bpf_map__set_max_entries(skel->maps.free_slots, max);
	bpf_map__set_max_entries(skel->maps.found_slots, FOUND_PER_SLOT * max);
	bpf_map__set_max_entries(skel->maps.cpus, online_possible(l->online));
}

static void sched_suit(struct systop *skel, const struct btf *btf)
{
	skel->rodata->storage_at_switch = probe_found(btf, PROBE_STORAGE_MEMORY);
	skel->rodata->has_rdonly_cast = btf && kernel_type(btf, "bpf_rdonly_cast", BTF_KIND_FUNC);
}

static int sched_open(struct collect *c)
{
	struct slots_memory mem = { .nr_cpus = c->nr_cpus, .shared = c->shared };

	c->max_threads = c->skel->rodata->slots_max;
	c->cpus_memory = collect_map(c, c->skel->maps.cpus, PROT_READ | PROT_WRITE);
	c->threads = collect_map(c, c->skel->maps.slots, PROT_READ | PROT_WRITE);
	mem.slots = c->threads;
	mem.cpus = c->cpus_memory;
	mem.max = c->max_threads;
	mem.dead = collect_map(c, c->skel->maps.dead_ring, PROT_READ | PROT_WRITE);
	mem.limit_cgroups = collect_map(c, c->skel->maps.limit_cgroups, PROT_READ);
	mem.free_fd = bpf_map__fd(c->skel->maps.free_slots);
	if (!mem.slots || !mem.cpus || !mem.dead || !mem.limit_cgroups)
		return -errno;
	c->sched = slots_new(&mem, c->model, c->cgroups, &c->set);
	return c->sched ? 0 : -ENOMEM;
}

static bool sched_due(const struct collect *c)
{
	return slots_due(c->sched);
}

static void sched_loss(const struct collect *c, uint64_t loss[LOSS_COUNT])
{
	slots_loss(c->sched, loss);
	loss[LOSS_SEED_MISSED] += c->seed_missed;
}

static void sched_health(const struct collect *c, struct health *h)
{
	health_slots(h, c->shared, c->max_threads);
}

static const struct collector_program sched_programs[] = {
	{ .name = "sched_switch", .what = "where every thread's time goes" },
	{ .name = "sched_waking", .what = "wakeups, where waits begin" },
	{ .name = "sched_wakeup_new", .what = "new threads" },
	{ .name = "sched_process_free", .what = "threads whose end was missed" },
	{ .name = "sched_process_exec", .what = "names after exec" },
	{ .name = "task_rename", .what = "names set by threads",
	  .without = "the kernel does not let programs read names (lockdown?): threads keep the name they had",
	  .attempt = 2,
	  .less = "task_rename and reading kernel memory: no stacks, and names after a rename are not seen" },
	{ .name = "seed_task", .what = "threads that existed before systop" },
	{ 0 }
};

const struct collector collector_sched = {
	.name = "threads",
	.programs = sched_programs,
	.configure = sched_configure,
	.suit = sched_suit,
	.open = sched_open,
	.due = sched_due,
	.loss = sched_loss,
	.health = sched_health,
};

/* --- The scope */

/* Makes the programs look at a hierarchy for the cgroup scope. Returns whether they do. */
static bool scope_hierarchy(struct systop *skel, int ssid)
{
	for (int i = 0; i < SCOPE_HIERARCHIES && ssid != HIERARCHY_NONE; i++) {
		if (skel->rodata->scope_ssid[i] == HIERARCHY_NONE)
			skel->rodata->scope_ssid[i] = ssid;
		if (skel->rodata->scope_ssid[i] == ssid)
			return true;
	}
	return false;
}

static void scope_configure(struct systop *skel, struct load *l)
{
	const struct collect_options *o = l->options;

	skel->rodata->scope_kinds = (o->nr_cgroups ? SCOPE_CGROUP : 0) |
				    (o->nr_pids || o->nr_tids ? SCOPE_PID : 0) | (o->nr_uids ? SCOPE_UID : 0);
	l->hierarchies_missed = false;
	for (size_t i = 0; i < o->nr_cgroups; i++)
		l->hierarchies_missed |= !scope_hierarchy(skel, controller_ssid(o->cgroups[i].controller));
}

static int scope_open(struct collect *c)
{
	int err;

	c->scope = calloc(1, sizeof(*c->scope));
	if (!c->scope)
		return -ENOMEM;
	c->scope->cgroups_fd = bpf_map__fd(c->skel->maps.scope_cgroups);
	c->scope->pids_fd = bpf_map__fd(c->skel->maps.scope_pids);
	c->scope->uids_fd = bpf_map__fd(c->skel->maps.scope_uids);
	if (c->load.hierarchies_missed) {
		fail(-E2BIG, EXIT_STATUS_USAGE, "-c names cgroups of more than %d hierarchies, or of one that the kernel does not know",
		     SCOPE_HIERARCHIES);
		fail_fix("systop --list-cgroups    # then cgroups of fewer hierarchies");
		return -E2BIG;
	}
	err = scope_fill(c->scope, c->options);
	if (c->scope->nr_missing && err == -E2BIG) {
		fail(err, EXIT_STATUS_USAGE, "-c matches %zu cgroups: at most %u can be in scope",
		     c->scope->nr_cgroups + c->scope->nr_missing, bpf_map__max_entries(c->skel->maps.scope_cgroups));
		fail_fix("systop -c CGROUP    # a cgroup above them, which includes all of them");
	}
	return err;
}

static void scope_loss(const struct collect *c, uint64_t loss[LOSS_COUNT])
{
	loss[LOSS_SCOPE] += c->scope->missed;
}

static void scope_health(const struct collect *c, struct health *h)
{
	const struct scope *s = c->scope;

	if (s->nr_cgroups || s->nr_missing)
		health_add(h, "Maps", "scope", s->nr_missing || s->changed ? HEALTH_DEGRADED : HEALTH_ON,
			   "%zu cgroups of -c are in scope, %zu are not for lack of room: %u at most", s->nr_cgroups, s->nr_missing,
			   bpf_map__max_entries(c->skel->maps.scope_cgroups));
}

const struct collector collector_scope = {
	.name = "scope",
	.step = "set the scope",
	.configure = scope_configure,
	.open = scope_open,
	.loss = scope_loss,
	.health = scope_health,
};

/* --- Cgroups: their names, moves of threads between them, and their CPU limits */

static void names_configure(struct systop *skel, struct load *l)
{
	int limits = controller_ssid(l->options->limits_controller);

	skel->rodata->cgroup_ssid = controller_ssid(l->options->shown_controller);
	if (limits == skel->rodata->cgroup_ssid)
		return;
	skel->rodata->limits_ssid = limits;
	bpf_map__set_max_entries(skel->maps.limit_cgroups, skel->rodata->slots_max);
}

static int names_open(struct collect *c)
{
	c->names = cgroup_names_new(bpf_map__fd(c->skel->maps.cgroup_events), c->cgroups);
	return c->names ? 0 : -ENOMEM;
}

static bool names_due(const struct collect *c)
{
	return cgroups_walking(c->cgroups) || cgroup_names_due(c->names);
}

static int names_follow(struct collect *c, bool changed)
{
	(void)changed;
	cgroups_work(c->cgroups, false);
	return 0;
}

const struct collector collector_names = {
	.name = "cgroup names",
	.configure = names_configure,
	.open = names_open,
	.due = names_due,
	.follow = names_follow,
};

static int moves_open(struct collect *c)
{
	c->moves = moves_new(bpf_map__fd(c->skel->maps.cgroup_moves), c->skel->progs.seed_task, c->shared, c->sched);
	return c->moves ? 0 : -ENOMEM;
}

static bool moves_row_due(const struct collect *c)
{
	return moves_due(c->moves);
}

static int moves_follow(struct collect *c, bool changed)
{
	(void)changed;
	return moves_work(c->moves);
}

static const struct collector_program moves_programs[] = {
	{ .name = "cgroup_attach_task", .what = "threads moved to another cgroup" },
	{ 0 }
};

const struct collector collector_moves = {
	.name = "moves",
	.programs = moves_programs,
	.open = moves_open,
	.due = moves_row_due,
	.follow = moves_follow,
};

static int limits_open(struct collect *c)
{
	c->limits = limits_new(c->model, c->cgroups);
	return c->limits ? 0 : -ENOMEM;
}

static int limits_ready(struct collect *c)
{
	limits_first(c->limits);
	return 0;
}

static int limits_row_tick(struct collect *c, uint64_t now)
{
	return limits_tick(c->limits, now - c->now);
}

const struct collector collector_limits = {
	.name = "CPU limits",
	.open = limits_open,
	.ready = limits_ready,
	.tick = limits_row_tick,
};

/* --- Pressure, memory and load of the host */

static int pressure_open(struct collect *c)
{
	c->pressure = calloc(1, sizeof(*c->pressure));
	return c->pressure ? 0 : -ENOMEM;
}

static int pressure_ready(struct collect *c)
{
	struct pressure first[PRESSURE_COUNT];

	pressure_read(c->pressure, first);
	return 0;
}

static int pressure_tick(struct collect *c, uint64_t now)
{
	struct pressure grown[PRESSURE_COUNT];
	struct host_state host;

	(void)now;
	pressure_read(c->pressure, grown);
	model_pressure(c->model, grown);
	host_read("/proc", &host);
	model_host(c->model, &host);
	return 0;
}

const struct collector collector_pressure = {
	.name = "pressure",
	.open = pressure_open,
	.ready = pressure_ready,
	.tick = pressure_tick,
};
