/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "collect/areas.h"
#include "collect/blocked.h"
#include "collect/cgroup_names.h"
#include "collect/cpus.h"
#include "collect/files.h"
#include "collect/health.h"
#include "collect/irqs.h"
#include "collect/load.h"
#include "collect/maxima.h"
#include "collect/memory.h"
#include "collect/moves.h"
#include "collect/samplers.h"
#include "collect/scope.h"
#include "collect/seed.h"
#include "collect/self.h"
#include "collect/slots.h"
#include "collect/stacks.h"
#include "collect/unwind_tables.h"
#include "model/model.h"
#include "proc/cgroup.h"
#include "proc/pressure.h"
#include "proc/sched_ext.h"
#include "record/rings.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/fail.h"
#include "util/online.h"
#include "util/vec.h"

#include "systop.skel.h"

/* What stacks of the recorder's window may take that the dictionary has no room for any more: 30 s of two CPUs whose
 * samples and blocks all differ are 15 MiB. */
#define OLD_STACKS_BYTES (32ULL << 20)
#define OLD_STACKS_BYTES_CPU (1ULL << 20)
/* The host was suspended if its two clocks differ by more than before: two readings one after the other may, too. */
#define SUSPEND_MIN_NS 1000000

struct collect {
	struct systop *skel;
	struct collect_memory memory;
	struct model *model;
	struct cgroups *cgroups;
	struct cgroup_names *names;
	struct slots *slots;
	struct moves *moves;
	struct cpus *cpus;
	struct irqs *irqs;
	struct self self;
	struct pressure_reader pressure;
	int nr_cpus;
	int frequency;
	bool all_cpus, cpu_clock;
	struct online *online;
	struct areas *areas;
	struct samplers *samplers;
	struct stacks *stacks;
	struct blocked *blocked;
	struct bpf_link *peek_link;
	struct unwind_tables *tables;
	struct rings *rings;
	int peek_role, table_mib;
	struct files *files;
	struct ring_buffer *file_events;
	collect_file *tell_file;
	void *tell_arg;
	struct scope scope;
	uint64_t now;               /* accounting clock at the last tick */
	uint64_t seed_missed;
	uint64_t bpf_bytes;
};

/* The time in suspend so far, at most: between the two readings other programs may run. */
static uint64_t suspended_ns(void)
{
	uint64_t boot = clock_ns(CLOCK_BOOTTIME), monotonic = clock_ns(CLOCK_MONOTONIC);

	return boot > monotonic + SUSPEND_MIN_NS ? boot - monotonic : 0;
}

static int on_file(void *arg, void *data, size_t size)
{
	struct collect *c = arg;

	if (c->tell_file && size >= sizeof(struct file_event))
		c->tell_file(c->tell_arg, data);
	return 0;
}

/* Whether a program watches the CPUs' timers. */
static bool collect_timers_watched(const struct collect *c)
{
	return bpf_program__autoload(c->skel->progs.local_timer_entry);
}

/* Those who read what the programs write. */
static int collect_readers(struct collect *c)
{
	const struct collect_memory *m = &c->memory;
	struct shared *shared = &c->skel->bss->shared;
	struct blocked_options o = {
		.model = c->model,
		.role = c->peek_role,
		.link_fd = -1,
		.wanted = m->blocked_wanted,
		.max_slots = m->slots.max,
		.shared = shared,
		.self_tgid = c->skel->rodata->self_tgid,
		.starter_tgid = c->skel->rodata->starter_tgid,
	};

	if (bpf_program__autoload(c->skel->progs.blocked_task))
		c->peek_link = bpf_program__attach_iter(c->skel->progs.blocked_task, NULL);
	if (c->peek_link)
		o.link_fd = bpf_link__fd(c->peek_link);
	c->blocked = blocked_new(&o);
	c->stacks = stacks_new(&m->stacks, c->model);
	c->file_events = ring_buffer__new(bpf_map__fd(c->skel->maps.file_events), on_file, c, NULL);
	c->names = cgroup_names_new(bpf_map__fd(c->skel->maps.cgroup_events), c->cgroups);
	c->tables = unwind_tables_new(&m->tables);
	if (c->tables)
		c->files = files_new(&m->files, c->model, c->tables);
	c->slots = slots_new(&m->slots, c->model, c->cgroups, c->stacks, c->blocked);
	if (c->slots)
		c->cpus = cpus_new(&(struct cpus_memory){
			.slots = m->cpus,
			.nr = c->nr_cpus,
			.shared = shared,
			.threads = m->slots.slots,
			.max_threads = m->slots.max,
			.queued = slots_queued(c->slots),
			.running = slots_running(c->slots),
			.ticks = collect_timers_watched(c),
		});
	if (c->slots)
		c->moves = moves_new(bpf_map__fd(c->skel->maps.cgroup_moves), c->skel->progs.seed_task, shared, c->slots);
	c->irqs = irqs_new(&m->irqs);
	return c->blocked && c->stacks && c->file_events && c->files && c->names && c->tables && c->slots && c->moves && c->cpus &&
			       c->irqs
		       ? 0
		       : -ENOMEM;
}

/* Whether a CPU came back is told by its first switch. */
static void collect_offline(struct collect *c)
{
	for (int cpu = 0; cpu < c->nr_cpus; cpu++)
		if (!online_is(c->online, cpu))
			c->memory.cpus[cpu].offline = 1;
}

/* It can come and go at any time. */
static void collect_sched_ext(struct collect *c)
{
	struct sched_ext s;

	sched_ext_read(SCHED_EXT_DIR, &s);
	c->skel->bss->shared.sched_ext = s.on;
}

/* It sees none, though they come. */
static bool collect_timers_unseen(const struct collect *c)
{
	return collect_timers_watched(c) && irqs_timers_unseen(c->irqs, cpus_busy_ns(c->cpus));
}

static void collect_timers(struct collect *c)
{
	bool unseen = collect_timers_unseen(c);

	cpus_timers(c->cpus, collect_timers_watched(c) && !unseen);
	if (unseen)
		model_timers_unseen(c->model);
}

/* Hooks first, then the threads that exist, then the samplers: whatever switches meanwhile enters
 * itself, and our own start is not in the picture. */
static int collect_attach(struct collect *c)
{
	struct shared *shared = &c->skel->bss->shared;
	uint64_t entry_from, entry_to;
	int err;

	shared->suspended_ns = suspended_ns();
	for (int cpu = 0; cpu < c->nr_cpus; cpu++)
		c->memory.cpus[cpu].suspended_ns = shared->suspended_ns;
	shared->started_ns = clock_ns(CLOCK_MONOTONIC);
	collect_offline(c);
	collect_sched_ext(c);
	err = systop__attach(c->skel);
	if (err)
		return err;
	err = seed_run(c->skel->progs.seed_task, c->memory.slots.slots, shared);
	if (err < 0)
		return err;
	c->seed_missed = err;
	shared->seeded = 1;
	shared->stack_generation = c->skel->rodata->kernel_reads;
	shared->tables_off = !c->table_mib;
	c->samplers = samplers_new(c->skel->progs.sample, c->online, c->frequency, c->all_cpus, c->cpu_clock);
	if (!c->samplers)
		return -ENOMEM;
	shared->sampler_timer = !samplers_cycles(c->samplers);
	for (int cpu = 0; cpu < c->nr_cpus; cpu++)
		c->memory.cpus[cpu].tickless = samplers_tickless(c->samplers, cpu);
	samplers_entry(c->samplers, &entry_from, &entry_to);
	shared->entry_from = entry_from;
	shared->entry_to = entry_to;
	c->now = clock_ns(CLOCK_MONOTONIC);
	err = slots_baseline(c->slots, c->now);
	if (!err)
		err = cpus_tick(c->cpus, NULL, c->now);
	return err ? err : irqs_tick(c->irqs, NULL);
}

/* First readings of the CPU limits, for the first tick to compare with. */
static void collect_limits(struct collect *c)
{
	struct cgroups *with = cgroups_limits(c->cgroups) ? cgroups_limits(c->cgroups) : c->cgroups;
	struct cgroup_limit limit;
	size_t nr;
	struct cgroup *const *list = cgroups_list(with, &nr);

	for (size_t i = 0; i < nr; i++)
		cgroups_limit(with, list[i], &limit);
}

/* The programs, and the recorder's rings, of which there is one already. */
static int collect_load(struct collect *c, const struct collect_options *o)
{
	struct rings_options rings = {
		.pattern_fd = -1,
		.nr_cpus = c->nr_cpus,
		.online = c->online,
		.window_s = o->window_s,
		.max_bytes = rings_room(o->window_bytes, o->memory_spare),
		.slots = rings_size(o->window_s, o->window_bytes, o->memory_spare, online_count(c->online)),
	};
	struct load_report report;
	int err;

	if (rings.slots)
		rings.pattern_fd = rings_pattern(rings.slots);
	if (rings.pattern_fd < 0)
		rings.slots = 0;
	err = load_programs(&c->skel, o, c->online, rings.pattern_fd, rings.slots, &report);
	if (!err) {
		c->areas = areas_new(bpf_map__fd(c->skel->maps.areas), c->online);
		err = c->areas ? areas_follow(c->areas) : -ENOMEM;
	}
	if (!err)
		err = memory_map(&c->memory, c->skel, areas_list(c->areas), c->nr_cpus, c->table_mib);
	if (!err) {
		c->memory.stacks.window_ns = rings.slots ? o->window_s * 1000000000ULL : 0;
		c->memory.files.age_s = (rings.slots ? o->window_s : 0) + maxima()->file_age_s;
		c->memory.stacks.old_bytes = OLD_STACKS_BYTES + online_count(c->online) * OLD_STACKS_BYTES_CPU;
		rings.map_fd = bpf_map__fd(c->skel->maps.rings);
		rings.cpus = c->memory.cpus;
		c->rings = rings_new(&rings);
		err = c->rings ? 0 : -ENOMEM;
	}
	if (!c->rings && rings.pattern_fd >= 0)
		close(rings.pattern_fd);
	return err;
}

static const char *next_step(const struct collect_options *o, const char *step)
{
	if (o->tell)
		o->tell(step);
	return step;
}

struct collect *collect_new(const struct collect_options *o, struct model *model,
			    struct cgroups *cgroups)
{
	struct collect *c = calloc(1, sizeof(*c));
	const char *step = "begin";
	int err = -ENOMEM;

	if (!c)
		goto out;
	c->model = model;
	c->cgroups = cgroups;
	c->nr_cpus = libbpf_num_possible_cpus();
	c->frequency = o->frequency;
	c->all_cpus = o->all_cpus;
	c->cpu_clock = o->cpu_clock;
	c->peek_role = o->peek_role;
	c->table_mib = o->table_mib;
	c->online = online_new(c->nr_cpus);
	step = next_step(o, "open /proc/self/statm");
	err = c->online ? self_open(&c->self) : -ENOMEM;
	if (!err) {
		step = next_step(o, "load BPF programs");
		err = collect_load(c, o);
	}
	if (!err) {
		step = next_step(o, "read BPF memory");
		err = collect_readers(c);
	}
	if (!err) {
		step = next_step(o, "set the scope");
		c->scope = (struct scope){ bpf_map__fd(c->skel->maps.scope_cgroups), bpf_map__fd(c->skel->maps.scope_pids),
					   bpf_map__fd(c->skel->maps.scope_uids), NULL, 0 };
		err = scope_fill(&c->scope, o);
	}
	if (!err) {
		step = next_step(o, "attach BPF programs");
		err = collect_attach(c);
	}
out:
	if (!err) {
		struct pressure pressure[PRESSURE_COUNT];
		struct self_cost start;

		while (o->window_now && rings_grow(c->rings) > 0)
			;
		collect_limits(c);
		c->bpf_bytes = memory_bytes(c->skel);
		self_read(&c->self, cpus_bpf_ns(c->cpus), c->bpf_bytes + areas_bytes(c->areas), &start);
		pressure_read(&c->pressure, pressure);
		return c;
	}
	fail(err, EXIT_STATUS_RUNTIME, "cannot %s: %s", step, strerror(-err));
	fail_fix("systop --check");
	collect_free(c);
	return NULL;
}

void collect_free(struct collect *c)
{
	if (!c)
		return;
	samplers_free(c->samplers);
	if (c->skel)
		systop__detach(c->skel);
	ring_buffer__free(c->file_events);
	cgroup_names_free(c->names);
	moves_free(c->moves);
	slots_free(c->slots);
	stacks_free(c->stacks);
	blocked_free(c->blocked);
	files_free(c->files);
	unwind_tables_free(c->tables);
	rings_free(c->rings);
	areas_free(c->areas);
	online_free(c->online);
	bpf_link__destroy(c->peek_link);
	cpus_free(c->cpus);
	irqs_free(c->irqs);
	if (c->skel)
		memory_unmap(&c->memory, c->skel);
	systop__destroy(c->skel);
	self_close(&c->self);
	scope_fini(&c->scope);
	free(c);
}

int collect_scope_cgroups(struct collect *c, const struct collect_cgroup *cgroups, size_t nr)
{
	bool changed;
	int err = scope_set_cgroups(&c->scope, cgroups, nr, &changed);

	if (changed) {
		__atomic_fetch_add(&c->skel->bss->shared.scope_gen, 1, __ATOMIC_RELAXED);
		err = seed_iterate(c->skel->progs.seed_task, 0, false);
	}
	return err;
}

int collect_harvest(struct collect *c)
{
	struct shared *shared = &c->skel->bss->shared;
	uint64_t suspended = suspended_ns();
	int err;

	shared->seconds = clock_ns(CLOCK_BOOTTIME) / 1000000000;
	if (suspended > shared->suspended_ns + SUSPEND_MIN_NS)
		shared->suspended_ns = suspended;
	samplers_follow(c->samplers, online_follow(c->online));
	areas_follow(c->areas);
	rings_grow(c->rings);
	cgroups_work(c->cgroups, false);
	err = moves_work(c->moves);
	return err ? err : slots_harvest(c->slots);
}

/* A process whose parent has ended is another one's, or init's. One that has ended itself meanwhile is none. */
static void collect_orphan(void *arg, pid_t tgid)
{
	struct collect *c = arg;

	seed_iterate(c->skel->progs.seed_task, tgid, true);
}

/* The cgroups of a hierarchy; of one that is not shown, those that a limit holds for. */
static int collect_cgroups(struct collect *c, struct cgroups *of)
{
	size_t nr;
	struct cgroup *const *list = cgroups_list(of, &nr);
	int err = 0;

	for (size_t i = 0; i < nr; i++) {
		if (list[i]->throttled)
			cgroups_suspect(of, list[i]);
		list[i]->throttled = false;
	}
	for (size_t i = 0; !err && i < nr; i++) {
		struct cgroup_limit limit;

		if (list[i]->aside && !cgroups_below_limit(list[i]))
			continue;
		cgroups_limit(of, list[i], &limit);
		err = model_cgroup(c->model, list[i], &limit);
	}
	return err;
}

static void collect_loss(const struct collect *c, uint64_t loss[LOSS_COUNT])
{
	cpus_loss(c->cpus, loss);
	slots_loss(c->slots, loss);
	loss[LOSS_SEED_MISSED] += c->seed_missed;
	loss[LOSS_WAITS] += slots_waits_lost(c->slots);
	loss[LOSS_STACK_EVENTS] += stacks_lost(c->stacks);
	loss[LOSS_FILES] += c->skel->bss->shared.files_lost;
}

int collect_files_fd(const struct collect *c)
{
	return ring_buffer__epoll_fd(c->file_events);
}

void collect_files(struct collect *c, collect_file *tell, void *arg)
{
	c->tell_file = tell;
	c->tell_arg = arg;
	ring_buffer__consume(c->file_events);
}

void collect_files_age(struct collect *c, collect_forget *forget, void *arg)
{
	files_work(c->files, forget, arg);
}

int collect_table(struct collect *c, uint32_t file, int fd)
{
	return file_sealed(fd) ? unwind_tables_read(c->tables, file, fd) : -EBADF; /* what is no file in memory can be waited for */
}

uint32_t collect_table_wanted(struct collect *c, uint32_t from)
{
	return unwind_tables_wanted(c->tables, from);
}

void collect_ask_file(struct collect *c, const struct file_key *key)
{
	uint32_t one = 1;

	if (!bpf_map_update_elem(bpf_map__fd(c->skel->maps.files_asked), key, &one, BPF_NOEXIST))
		__atomic_fetch_add(&c->skel->bss->shared.files_asked, 1, __ATOMIC_RELAXED);
}

void collect_sleepers(struct collect *c)
{
	blocked_sleepers(c->blocked);
}

int collect_blocked_fd(const struct collect *c)
{
	return blocked_fd(c->blocked);
}

void collect_blocked_work(struct collect *c)
{
	blocked_work(c->blocked);
}

uint32_t collect_blocked(const struct collect *c)
{
	return blocked_pending(c->blocked);
}

bool collect_thread_name(const struct collect *c, pid_t tid, char comm[16])
{
	for (uint32_t i = 1; i <= c->skel->bss->shared.slots_used && i < c->skel->rodata->slots_max; i++) {
		const struct slot *s = &c->memory.slots.slots[i];

		if ((pid_t)s->tid != tid || s->state == SLOT_FREE || s->state == SLOT_DEAD)
			continue;
		memcpy(comm, s->comm, 16);
		return true;
	}
	return false;
}

int collect_frequency(struct collect *c, int hz)
{
	if (hz) {
		c->frequency = hz;
		samplers_set_frequency(c->samplers, hz);
	}
	return c->frequency;
}

void collect_sample_rate(const struct collect *c, long *start, long *now)
{
	samplers_rate(c->samplers, start, now);
}

const struct rings *collect_rings(const struct collect *c)
{
	return c->rings;
}

int collect_nr_cpus(const struct collect *c)
{
	return c->nr_cpus;
}

const struct cpu_slot *collect_cpus(const struct collect *c)
{
	return c->memory.cpus;
}

int collect_cpus_fd(const struct collect *c)
{
	return bpf_map__fd(c->skel->maps.cpus);
}

void collect_cpu_now(const struct collect *c, int cpu, uint64_t *head, int32_t *tid)
{
	const struct cpu_slot *s = &c->memory.cpus[cpu];
	uint32_t slot = s->current_slot;

	*head = __atomic_load_n(&s->records, __ATOMIC_ACQUIRE);
	*tid = s->current_idle ? 0 : slot && slot < c->memory.slots.max ? (int32_t)c->memory.slots.slots[slot].tid : -1;
}

const struct irq_source *collect_irq(struct collect *c, uint32_t source, int *number)
{
	return irqs_source(c->irqs, source, number);
}

int collect_stacks(const struct collect *c, collect_stack *fn, void *arg)
{
	return stacks_each(c->stacks, fn, arg);
}

bool collect_cycles(const struct collect *c)
{
	return samplers_cycles(c->samplers);
}

void collect_health_loss(const struct collect *c, struct health *h)
{
	uint64_t loss[LOSS_COUNT] = { 0 };

	collect_loss(c, loss);
	health_loss(h, loss);
}

void collect_health(const struct collect *c, struct health *h)
{
	health_programs(h, c->skel->obj, collect_timers_unseen(c));
	health_samplers(h, c->samplers, c->memory.cpus, c->nr_cpus);
	health_slots(h, &c->skel->bss->shared, c->skel->rodata->slots_max, c->bpf_bytes + areas_bytes(c->areas));
	health_stack_ends(h, stacks_ends(c->stacks));
	stacks_health(c->stacks, h);
	health_stacks(h, c->files, c->memory.cpus, c->nr_cpus);
	areas_health(c->areas, h);
	unwind_tables_health(c->tables, h);
	blocked_health(c->blocked, h);
	rings_health(c->rings, h);
}

const struct tick *collect_tick(struct collect *c)
{
	uint64_t loss[LOSS_COUNT] = { 0 }, now;
	struct pressure pressure[PRESSURE_COUNT];
	struct self_cost cost;
	struct timespec wall;
	bool incomplete;
	size_t nr;
	int err;

	cgroups_work(c->cgroups, false);
	samplers_follow(c->samplers, online_follow(c->online));
	collect_offline(c);
	collect_sched_ext(c);
	err = moves_work(c->moves);
	if (!err)
		err = slots_harvest(c->slots);
	/* Only now: what happens between this instant and the reading of a slot is known less well. */
	now = clock_ns(CLOCK_MONOTONIC);
	clock_gettime(CLOCK_REALTIME, &wall);
	if (!err)
		err = model_begin(c->model, now - c->now, clock_ns(CLOCK_BOOTTIME), &wall);
	if (!err) {
		collect_timers(c);
		err = slots_tick(c->slots, now);
		model_orphans(c->model, collect_orphan, c);
	}
	if (!err)
		err = stacks_show_idle(c->stacks, cgroups_list(c->cgroups, &nr)[0], 1000000000ULL / c->frequency);
	stacks_end(c->stacks);
	if (!err)
		err = cpus_tick(c->cpus, c->model, now);
	if (!err)
		err = irqs_tick(c->irqs, c->model);
	if (!err)
		err = collect_cgroups(c, c->cgroups);
	if (!err && cgroups_limits(c->cgroups))
		err = collect_cgroups(c, cgroups_limits(c->cgroups));
	if (err) {
		errno = -err;
		return NULL;
	}
	c->now = now;
	pressure_read(&c->pressure, pressure);
	model_pressure(c->model, pressure);
	collect_loss(c, loss);
	self_read(&c->self, cpus_bpf_ns(c->cpus), c->bpf_bytes + areas_bytes(c->areas), &cost);
	blocked_ask(c->blocked);
	rings_tick(c->rings, clock_ns(CLOCK_BOOTTIME));
	incomplete = loss[LOSS_NO_SLOT] || loss[LOSS_NO_STORAGE] || loss[LOSS_UNLISTED];
	return model_end(c->model, loss, &cost, incomplete);
}
