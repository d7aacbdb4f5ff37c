/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows for stacks: samplers, the dictionary, files and their unwind tables, and threads that are blocked now. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/areas.h"
#include "collect/blocked.h"
#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "collect/files.h"
#include "collect/health.h"
#include "collect/irq_lines.h"
#include "collect/maxima.h"
#include "collect/probe.h"
#include "collect/samplers.h"
#include "collect/slot_values.h"
#include "collect/slots.h"
#include "collect/stacks.h"
#include "collect/unwind_tables.h"
#include "model/health.h"
#include "model/model.h"
#include "proc/cgroup.h"
#include "slot.h"
#include "util/online.h"

#include "systop.skel.h"

/* Maximum memory for stacks of the recorder's window that left the dictionary: 30 s of two CPUs whose samples and
 * blocks all differ are 15 MiB. */
#define OLD_STACKS_BYTES (32ULL << 20)
#define OLD_STACKS_BYTES_CPU (1ULL << 20)

/* Stacks of the window are kept for this much longer: systop may notice late that a recording is over. */
#define LATE_S 30

/* For how long the recorder's events refer to stacks and files, 0: nothing is recorded. */
static unsigned int window_s(const struct collect *c)
{
	return c->load.ring_slots ? c->options->window_s : 0;
}

/* --- Samplers */

/* Whether hardware counters interrupt by a line, whose entry and exit are traced, rather than by an NMI as on x86. */
static bool counters_have_line(void)
{
	static const char *const handlers[] = { "arm-pmu", "riscv-pmu" };

	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
		if (irq_lines_find("/proc/interrupts", handlers[i]) >= 0)
			return true;
	return false;
}

/* Opened after all programs are attached, so that attaching is not sampled. */
static int samplers_attach(struct collect *c)
{
	const struct collect_options *o = c->options;
	uint64_t from, to;

	c->frequency = samplers_allowed(o->frequency);
	c->samplers = samplers_new(c->skel->progs.sample, c->online, c->frequency, o->all_cpus, o->cpu_clock);
	if (!c->samplers)
		return -ENOMEM;
	c->shared->sampler_gap_ns = samplers_gap(c->samplers);
	c->shared->sampler_timer = !samplers_cycles(c->samplers);
	c->shared->sampler_seen = c->shared->sampler_timer || counters_have_line();
	for (int cpu = 0; cpu < c->nr_cpus; cpu++)
		c->cpus_memory[cpu].tickless = samplers_tickless(c->samplers, cpu);
	samplers_entry(c->samplers, &from, &to);
	c->shared->entry_from = from;
	c->shared->entry_to = to;
	return 0;
}

static bool lost_events(struct collect *c, int cpu)
{
	const struct cpu_slot *slot = &c->cpus_memory[cpu];
	uint64_t samples = 0;

	for (int class = 0; class < SAMPLE_CLASSES; class++)
		samples += slot->samples[class];
	return samplers_silent(c->samplers, cpu, slot->run_ns, samples);
}

static int samplers_row_follow(struct collect *c, bool changed)
{
	struct samplers *const all[] = { c->samplers, c->faults, c->minors };

	samplers_follow(c->samplers, changed);
	for (int cpu = 0; cpu < c->nr_cpus; cpu++)
		if (lost_events(c, cpu))
			for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
				if (all[i])
					samplers_restart(all[i], cpu);
	return 0;
}

/* Samples are shed in two steps: to a quarter, then to a sixteenth. */
#define RARELY 4

static void samplers_shed(struct collect *c, bool shed)
{
	c->rarely = shed ? RARELY : 1;
	collect_frequency(c, c->frequency);
}

static void samplers_shed_more(struct collect *c, bool shed)
{
	c->more_rarely = shed ? RARELY : 1;
	collect_frequency(c, c->frequency);
}

static void samplers_row_health(const struct collect *c, struct health *h)
{
	samplers_health(c->samplers, c->cpus_memory, c->nr_cpus, h);
}

const struct collector collector_samplers = {
	.name = "samplers",
	.sheds = {
		{ "samples/4", "three of four samples", 20, SHEDS(BUDGET_CPU), samplers_shed },
		{ "samples/16", "three of four remaining samples", 50, SHEDS(BUDGET_CPU), samplers_shed_more },
	},
	.attach = samplers_attach,
	.follow = samplers_row_follow,
	.health = samplers_row_health,
};

/* --- Samples and ended blocks, with their stacks */

/* 1 s / stacks of D states allowed per second and CPU, see bpf/block.bpf.h, and its factor while they are shed. */
#define BLOCK_PRICE_NS 10000000ULL
#define BLOCKS_SHED_TIMES 32

/* The same for stacks of counted events: a thousand take 0.4 % of the CPU. */
#define COUNTED_PRICE_NS 1000000ULL

/* Bits of an index in a stack's id: there is room for 128 new stacks of 4 lines from each CPU between two looks at the
 * dictionary. With all budgets used up and no stack met twice, a CPU meets 180. */
static uint32_t stack_bits(int cpus)
{
	uint32_t bits = STACK_INDEX_BITS;

	while (bits < STACK_INDEX_BITS_MOST && cpus > 128 << (bits - STACK_INDEX_BITS))
		bits++;
	return bits;
}

static void stacks_configure(struct systop *skel, struct load *l)
{
	uint32_t bits = stack_bits(online_count(l->online));

	skel->rodata->stack_index_bits = bits;
	skel->rodata->stack_kernel_max = samplers_depth();
	skel->bss->shared.block_price_ns = BLOCK_PRICE_NS;
	skel->bss->shared.counted_price_ns = COUNTED_PRICE_NS;
	bpf_map__set_max_entries(skel->maps.stacks, 2 * STACK_HALF(bits));
	bpf_map__set_max_entries(skel->maps.stack_lines, 2 * STACK_LINES_HALF(bits));
	bpf_map__set_max_entries(skel->maps.parked_stacks, skel->rodata->slots_max);
	skel->rodata->self_tgid = l->options->self ? 0 : getpid();
	skel->rodata->starter_tgid = l->options->starter;
}

static void stacks_suit(struct systop *skel, const struct btf *btf)
{
	skel->rodata->samples_wait = !probe_found(btf, PROBE_HASH_LOCKS);
}

static int stacks_open(struct collect *c)
{
	struct stacks_memory mem = {
		.index_bits = c->skel->rodata->stack_index_bits,
		.entries = collect_map(c, c->skel->maps.stacks, PROT_READ | PROT_WRITE),
		.lines = collect_map(c, c->skel->maps.stack_lines, PROT_READ),
		.window_ns = window_s(c) ? (window_s(c) + LATE_S) * 1000000000ULL : 0,
		.old_bytes = OLD_STACKS_BYTES + online_count(c->online) * OLD_STACKS_BYTES_CPU,
		.areas = areas_list(c->areas),
		.cpus = c->cpus_memory,
		.nr_cpus = c->nr_cpus,
		.max_slots = c->max_threads,
		.shared = c->shared,
	};

	if (!mem.entries || !mem.lines)
		return -errno;
	c->stacks = stacks_new(&mem, c->model);
	return c->stacks ? 0 : -ENOMEM;
}

static int stacks_attach(struct collect *c)
{
	c->shared->stack_generation = c->skel->rodata->kernel_reads;
	return 0;
}

static bool stacks_row_due(const struct collect *c)
{
	return stacks_due(c->stacks);
}

static int stacks_row_drain(void *state)
{
	return stacks_drain(state);
}

/* Shows the thread's own stacks, and its present block. */
static int stacks_shown(void *state, const struct collector_thread *thread)
{
	const struct slot *c = thread->copy;
	struct stacks_thread t = {
		.slot = thread->slot,
		.tid = thread->life->tid,
		.life = thread->life,
		.values = thread->values,
		.from = thread->from,
		.after = thread->after,
		.until = thread->until,
		.runq_ns = thread->runq_ns,
	};

	if (c)
		t.softirqs = life_runs_softirqs(thread->life);
	if (c && slot_is_blocked(c)) {
		t.blocked = slot_blocked(c);
		t.blocked_ns = thread->now > c->since ? thread->now - c->since : 0;
	}
	return stacks_show(state, &t);
}

static int stacks_tick(struct collect *c, uint64_t now)
{
	size_t nr;
	int err = stacks_show_idle(c->stacks, cgroups_list(c->cgroups, &nr)[0], 1000000000ULL / collect_samples(c));

	(void)now;
	stacks_end(c->stacks);
	return err;
}

static void stacks_shed(struct collect *c, bool shed)
{
	c->shared->block_price_ns = BLOCK_PRICE_NS * (shed ? BLOCKS_SHED_TIMES : 1);
	c->shared->counted_price_ns = COUNTED_PRICE_NS * (shed ? BLOCKS_SHED_TIMES : 1);
}

static void stacks_loss(const struct collect *c, uint64_t loss[LOSS_COUNT])
{
	loss[LOSS_STACK_EVENTS] += stacks_lost(c->stacks);
}

static void stacks_row_health(const struct collect *c, struct health *h)
{
	uint64_t skipped = 0, counted = 0;

	health_stack_ends(h, stacks_ends(c->stacks));
	stacks_health(c->stacks, h);
	for (int cpu = 0; cpu < c->nr_cpus; cpu++) {
		skipped += c->cpus_memory[cpu].stacks_skipped;
		counted += c->cpus_memory[cpu].counted_skipped;
	}
	health_add(h, "Maps", "blocks without a stack", HEALTH_FACT,
		   "%" PRIu64 " long blocks beyond the CPU's budget for stacks", skipped);
	health_add(h, "Maps", "events without a stack", HEALTH_FACT,
		   "%" PRIu64 " counted events beyond the CPU's budget for stacks", counted);
}

const struct collector collector_stacks = {
	.name = "stacks",
	.sheds = {
		{ "block stacks", "stacks of blocks, except three per second and CPU, and of counted events, except 31", 30,
		  SHEDS(BUDGET_CPU), stacks_shed },
	},
	.configure = stacks_configure,
	.suit = stacks_suit,
	.open = stacks_open,
	.attach = stacks_attach,
	.due = stacks_row_due,
	.drain = stacks_row_drain,
	.thread_shown = stacks_shown,
	.tick = stacks_tick,
	.loss = stacks_loss,
	.health = stacks_row_health,
};

/* --- Unwind tables, and the files they belong to */

static void tables_configure(struct systop *skel, struct load *l)
{
	(void)l;
	skel->rodata->page_shift = __builtin_ctzl(sysconf(_SC_PAGESIZE));
}

static int tables_open(struct collect *c)
{
	struct unwind_tables_memory mem = {
		.files = collect_map(c, c->skel->maps.unwind_files, PROT_READ | PROT_WRITE),
		.pages = collect_map(c, c->skel->maps.unwind_pages, PROT_READ | PROT_WRITE),
		.rules = collect_map(c, c->skel->maps.unwind_rules, PROT_READ | PROT_WRITE),
		.areas = areas_list(c->areas),
		.nr_cpus = c->nr_cpus,
		.chunks_fd = bpf_map__fd(c->skel->maps.unwind_chunks),
		.max_chunks = c->options->table_mib,
		.seconds = &c->shared->seconds,
	};

	if (!mem.files || !mem.pages || !mem.rules)
		return -errno;
	c->unwind_files = mem.files;
	c->tables = unwind_tables_new(&mem);
	return c->tables ? 0 : -ENOMEM;
}

static int tables_attach(struct collect *c)
{
	c->shared->tables_off = !c->options->table_mib;
	return 0;
}

static void tables_health(const struct collect *c, struct health *h)
{
	unwind_tables_health(c->tables, h);
}

const struct collector collector_tables = {
	.name = "unwind tables",
	.configure = tables_configure,
	.open = tables_open,
	.attach = tables_attach,
	.health = tables_health,
};

static void files_configure(struct systop *skel, struct load *l)
{
	(void)l;
	skel->rodata->files_max = maxima()->files;
	bpf_map__set_max_entries(skel->maps.files, maxima()->files);
	bpf_map__set_max_entries(skel->maps.files_asked, maxima()->files);
}

/* Without the maple tree no files are found; before 6.1 a sampler accepts only preallocated hashes. */
static void files_suit(struct systop *skel, const struct btf *btf)
{
	skel->rodata->mappings_known = probe_found(btf, PROBE_MAPLE_TREE);
	if (skel->rodata->mappings_known)
		return;
	bpf_map__set_map_flags(skel->maps.files, 0);
	bpf_map__set_max_entries(skel->maps.files, 1);
	bpf_map__set_map_flags(skel->maps.files_asked, 0);
	bpf_map__set_max_entries(skel->maps.files_asked, 1);
}

static int on_file(void *arg, void *data, size_t size)
{
	struct collect *c = arg;

	if (c->report_file && size >= sizeof(struct file_event))
		c->report_file(c->report_arg, data);
	return 0;
}

static int files_open(struct collect *c)
{
	struct files_memory mem = {
		.files_fd = bpf_map__fd(c->skel->maps.files),
		.asked_fd = bpf_map__fd(c->skel->maps.files_asked),
		.max = c->skel->rodata->files_max,
		.age_s = maxima()->file_age_s,
		.rest_s = maxima()->file_rest_s,
		.of = c->unwind_files,
		.shared = c->shared,
	};

	c->file_events = ring_buffer__new(bpf_map__fd(c->skel->maps.file_events), on_file, c, NULL);
	c->files = files_new(&mem, c->model, c->tables);
	return c->file_events && c->files ? 0 : -ENOMEM;
}

static void files_loss(const struct collect *c, uint64_t loss[LOSS_COUNT])
{
	loss[LOSS_FILES] += c->shared->files_lost;
}

static void files_row_health(const struct collect *c, struct health *h)
{
	uint64_t waited = 0;

	for (int cpu = 0; cpu < c->nr_cpus; cpu++)
		waited += c->cpus_memory[cpu].files_waited;
	files_health(c->files, waited, h);
}

static void files_close(struct collect *c)
{
	ring_buffer__free(c->file_events);
}

static const struct collector_program files_programs[] = {
	{ .name = "newest_program", .attempt = 1, .what = "whether BPF programs were loaded since the kernel's symbols were read" },
	{ 0 }
};

const struct collector collector_files = {
	.name = "files",
	.programs = files_programs,
	.configure = files_configure,
	.suit = files_suit,
	.open = files_open,
	.loss = files_loss,
	.health = files_row_health,
	.close = files_close,
};

/* --- Stacks of threads that are blocked now */

static void blocked_configure(struct systop *skel, struct load *l)
{
	(void)l;
	bpf_map__set_max_entries(skel->maps.blocked_wanted, skel->rodata->slots_max);
}

static int blocked_open(struct collect *c)
{
	struct blocked_options o = {
		.model = c->model,
		.role = c->options->peek_role,
		.link_fd = -1,
		.wanted = collect_map(c, c->skel->maps.blocked_wanted, PROT_READ | PROT_WRITE),
		.slots = c->threads,
		.max_slots = c->max_threads,
		.life = slots_shown_life,
		.arg = c->sched,
		.shared = c->shared,
		.files = c->unwind_files,
		.kernel_max = c->skel->rodata->stack_kernel_max,
		.self_tgid = c->skel->rodata->self_tgid,
		.starter_tgid = c->skel->rodata->starter_tgid,
	};

	if (!o.wanted)
		return -errno;
	if (bpf_program__autoload(c->skel->progs.blocked_task))
		c->peek_link = bpf_program__attach_iter(c->skel->progs.blocked_task, NULL);
	if (c->peek_link)
		o.link_fd = bpf_link__fd(c->peek_link);
	c->blocked = blocked_new(&o);
	return c->blocked ? 0 : -ENOMEM;
}

static int blocked_met(void *state, const struct collector_thread *t)
{
	return t->copy ? blocked_thread(state, t->slot, t->copy, t->life, t->now) : 0;
}

static void blocked_gone(void *state, uint32_t index, struct life *life)
{
	blocked_end(state, index, life);
}

static int blocked_threads_end(void *state, uint64_t now, bool baseline)
{
	return baseline ? 0 : blocked_look(state, now);
}

static void blocked_after(struct collect *c)
{
	blocked_ask(c->blocked);
}

static void blocked_row_shed(struct collect *c, bool shed)
{
	blocked_shed(c->blocked, shed);
}

static void blocked_row_health(const struct collect *c, struct health *h)
{
	blocked_health(c->blocked, h);
}

static void blocked_close(struct collect *c)
{
	bpf_link__destroy(c->peek_link);
}

static const struct collector_program blocked_programs[] = {
	{ .name = "blocked_task", .attempt = 1, .less = "blocked_task: threads that are blocked now have no stacks" },
	{ 0 }
};

const struct collector collector_blocked = {
	.name = "blocked",
	.sheds = {
		{ "blocked", "stacks of threads that are blocked now", 10, SHEDS(BUDGET_CPU), blocked_row_shed },
	},
	.programs = blocked_programs,
	.configure = blocked_configure,
	.open = blocked_open,
	.thread_met = blocked_met,
	.thread_gone = blocked_gone,
	.threads_end = blocked_threads_end,
	.after = blocked_after,
	.health = blocked_row_health,
	.close = blocked_close,
};
