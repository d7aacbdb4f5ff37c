/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 500,000 threads, in slots that no kernel fills: the memory they need, and how long they keep the main loop busy.
 * The budgets are in bench/README.md, "Large hosts". */
#include "ticks.h"

#include <bpf/bpf.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "area.h"
#include "collect/collector.h"
#include "collect/slots.h"
#include "collect/stacks.h"
#include "collect/waits.h"
#include "export/exporter.h"
#include "proc/cgroup.h"
#include "query/source.h"
#include "util/clock.h"

#define CPUS 2
#define THREADS 500000
#define SLOTS (1 << 20)
#define ENDED 60000
#define BUSY 5000
#define PAST_BYTES (8 << 20) /* less than the threads need that end in one refresh */

#define MEMORY_BYTES 700 /* per thread, without its slot: resident memory of systop */
#define PEAK_BYTES 700   /* per thread that ended in a refresh, free again after two more */
#define START_MS 1000
#define REFRESH_MS 150
#define TURN_MS 200
#define SLICE_NS 50000000ULL /* for making a line */
#define TRIES 6 /* a machine that is shared may take several times as long, but not each time */

static struct slots_memory memory;
static struct shared shared;
static struct cpu_area *areas[CPUS];
static struct model *model;
static struct cgroups *cgroups;
static struct stacks *stacks;
static struct stacks_memory stack_memory;
static struct waits *waits;
static struct slots *slots;
static uint64_t now; /* of the last tick, accounting clock */
static size_t nr_given_back;
static uint64_t page_ns; /* CPU time of a new page */

static int stacks_shown(void *state, const struct collector_thread *t)
{
	return stacks_show(state, &(struct stacks_thread){ .slot = t->slot, .tid = t->life->tid, .life = t->life,
							    .values = t->values, .from = t->from, .runq_ns = t->runq_ns });
}

static int stacks_read(void *state)
{
	return stacks_drain(state);
}

static int waits_taken(void *state, uint32_t index, const struct slot *copy, bool over, uint32_t *taken)
{
	return waits_take(state, index, copy, over, taken);
}

static int waits_met(void *state, const struct collector_thread *t)
{
	return waits_show(state, t->taken, t->life);
}

static int waits_read(void *state)
{
	return waits_drain(state);
}

static int waits_over(void *state, uint64_t at, bool baseline)
{
	(void)at, (void)baseline;
	waits_end(state);
	return 0;
}

/* As in collect/collectors.c. */
static const struct collector of_stacks = { .drain = stacks_read, .thread_shown = stacks_shown };
static const struct collector of_waits = { .drain = waits_read, .thread_take = waits_taken, .thread_met = waits_met,
					   .threads_end = waits_over };
static const struct collector *const rows[] = { &of_stacks, &of_waits };
static void *states[2];
static const struct collector_set with = { rows, states, 2 };

static struct life *life_of(void *arg, uint32_t slot)
{
	(void)arg;
	return slots_life(slots, slot);
}

/* The queue of free slots. */
int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)fd, (void)key, (void)value, (void)flags;
	nr_given_back++;
	return 0;
}

static uint64_t resident_bytes(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %lu", &pages), 1);
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

static uint64_t new_pages(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_minflt;
}

/* CPU time, and new pages, whose part of it is the kernel's (page_cost()). */
struct stopwatch {
	uint64_t ns, pages;
};

static struct stopwatch stopwatch(void)
{
	return (struct stopwatch){ clock_ns(CLOCK_THREAD_CPUTIME_ID), new_pages() };
}

static uint64_t ms_since(struct stopwatch from)
{
	uint64_t ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - from.ns, pages = (new_pages() - from.pages) * page_ns;

	return ns > pages ? (ns - pages) / 1000000 : 0;
}

/* A new page takes the kernel half a microsecond, but 25 where a hypervisor without nested paging takes part. */
static void page_cost(void)
{
	const size_t bytes = 32 << 20, page = sysconf(_SC_PAGESIZE);
	char *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stopwatch from = stopwatch();

	assert_true(fresh != MAP_FAILED);
	madvise(fresh, bytes, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < bytes; at += page)
		fresh[at] = 1;
	page_ns = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - from.ns) / (bytes / page);
	munmap(fresh, bytes);
	print_message("# %llu ns a new page\n", (unsigned long long)page_ns);
}

/* Processes of 100 threads each. */
static void born(uint32_t index)
{
	struct slot *s = &memory.slots[index];

	s->tid = index;
	s->tgid = index - index % 100 + 1;
	snprintf(s->comm, sizeof(s->comm), "worker%u", index % 1000);
	s->start_ns = s->born_ns = s->since = now;
	s->in_scope = true;
	s->state = SLOT_SLEEP;
}

static int begin(void **state)
{
	struct cpu_slot *cpus = calloc(CPUS, sizeof(*cpus));

	(void)state;
	page_cost();
	now = SEC;
	for (int cpu = 0; cpu < CPUS; cpu++)
		areas[cpu] = calloc(1, sizeof(*areas[cpu]));
	memory = (struct slots_memory){
		.slots = calloc(SLOTS, sizeof(struct slot)),
		.cpus = cpus,
		.nr_cpus = CPUS,
		.max = SLOTS,
		.dead = calloc(SLOTS, sizeof(uint64_t)),
		.shared = &shared,
	};
	stack_memory = (struct stacks_memory){
		.index_bits = STACK_INDEX_BITS,
		.entries = calloc(2 * STACK_HALF(STACK_INDEX_BITS), sizeof(struct stack_entry)),
		.lines = calloc(2 * STACK_LINES_HALF(STACK_INDEX_BITS), sizeof(struct stack_line)),
		.areas = areas,
		.cpus = cpus,
		.nr_cpus = CPUS,
		.max_slots = SLOTS,
		.shared = &shared,
	};
	for (uint32_t i = 1; i <= THREADS; i++)
		born(i);
	shared.slots_used = THREADS;
	return 0;
}

static void close_all(void)
{
	slots_free(slots);
	waits_free(waits);
	stacks_free(stacks);
	cgroups_free(cgroups);
	model_free(model);
}

static int end(void **state)
{
	(void)state;
	close_all();
	for (int cpu = 0; cpu < CPUS; cpu++)
		free(areas[cpu]);
	free(memory.slots);
	free((void *)memory.cpus);
	free(memory.dead);
	free(stack_memory.entries);
	free((void *)stack_memory.lines);
	return 0;
}

static const struct tick *second(void)
{
	now += SEC;
	tick_begin_at(model, now);
	assert_int_equal(slots_tick(slots, now), 0);
	stacks_end(stacks);
	return tick_end(model);
}

/* Reads all threads for the first time, and returns the ms. */
static uint64_t start(void)
{
	struct stopwatch from = stopwatch();

	model = model_new(PAST_BYTES);
	cgroups = cgroups_open(NULL);
	stacks = stacks_new(&stack_memory, model);
	assert_non_null(stacks);
	slots = slots_new(&memory, model, cgroups, &with);
	assert_non_null(slots);
	waits = waits_new(&(struct waits_memory){ areas, memory.cpus, memory.slots, CPUS, SLOTS }, model, life_of, NULL);
	assert_non_null(waits);
	states[0] = stacks;
	states[1] = waits;
	assert_int_equal(slots_baseline(slots, now), 0);
	return ms_since(from);
}

static void starts(void **state)
{
	uint64_t bytes, ms;

	(void)state;
	for (int i = 1;; i++) {
		bytes = resident_bytes();
		ms = start();
		print_message("# start %llu ms\n", (unsigned long long)ms);
		if (ms <= START_MS || i == TRIES)
			break;
		close_all();
	}
	tick_put(second());
	bytes = (resident_bytes() - bytes) / THREADS;
	print_message("# %llu bytes a thread\n", (unsigned long long)bytes);
	assert_within(ms, 0, START_MS);
	assert_within(bytes, 0, MEMORY_BYTES);
}

/* A refresh in which all threads are asleep except a few; returns its ms. */
static uint64_t refresh(void)
{
	struct stopwatch from;
	const struct tick *t;
	uint64_t ms;

	now += SEC / 2;
	for (uint32_t i = 1; i <= BUSY; i++) {
		struct slot *s = &memory.slots[i * 97];

		s->run_ns += 1000000;
		s->wakeups++;
		s->voluntary++;
		s->since = now;
		s->seq += 2;
	}
	now -= SEC / 2;
	from = stopwatch();
	t = second();
	ms = ms_since(from);
	print_message("# refresh %llu ms, %zu did something\n", (unsigned long long)ms, t->nr_active);
	assert_int_equal(t->nr_active, BUSY);
	assert_int_equal(t->nr_active + t->nr_idle, THREADS);
	tick_put(t);
	tick_put(second()); /* those sleep */
	return ms;
}

static void refreshes(void **state)
{
	uint64_t ms = refresh();

	(void)state;
	for (int i = 1; ms > REFRESH_MS && i < TRIES; i++)
		ms = refresh();
	assert_within(ms, 0, REFRESH_MS);
}

static uint64_t no_names(void *arg)
{
	(void)arg;
	return 0;
}

static void no_name(void *arg, int tid, char *buf, size_t size)
{
	(void)arg, (void)tid, (void)size;
	*buf = '\0';
}

/* Repeats it until there is no more, and returns the ms of the longest slice. The first one has no time at all. */
static uint64_t in_slices(int slice(struct slots *s, uint64_t deadline))
{
	struct stopwatch from = stopwatch();
	uint64_t longest, ms;
	int more = slice(slots, clock_ns(CLOCK_MONOTONIC));

	longest = ms_since(from);
	assert_int_equal(more, 1);
	while (more == 1) {
		from = stopwatch();
		more = slice(slots, clock_ns(CLOCK_MONOTONIC) + SLICE_NS);
		ms = ms_since(from);
		longest = ms > longest ? ms : longest;
	}
	assert_int_equal(more, 0);
	return longest;
}

/* Checks that thread @first and the ENDED - 1 after it are there once each. */
static void check_ended(const struct tick *t, uint32_t first)
{
	bool *met = calloc(ENDED, sizeof(*met));
	size_t nr = 0;

	assert_non_null(met);
	for (size_t i = 0; i < t->nr_active; i++) {
		const struct row *r = &t->active[i];

		if (!r->exited)
			continue;
		assert_within(r->thread->tid, first, first + ENDED - 1);
		assert_false(met[r->thread->tid - first]);
		assert_int_equal(row_value(r, METRIC_ALIVE), SEC / 2);
		met[r->thread->tid - first] = true;
		nr++;
	}
	assert_int_equal(nr, ENDED);
	free(met);
}

/* Many that end at once are one refresh, which is made in slices, and so is its line. Meanwhile the past is shown.
 * Those are thread @first and the next ones; all that were there until then are @there. Returns the ms of the longest turn. */
static uint64_t end_at_once(uint32_t first, size_t there)
{
	const struct source source = { .thread_name = no_name, .names_generation = no_names };
	struct export o = { .host = "host", .kernel = "6.1", .scope = "all", .source = &source };
	struct stopwatch from;
	uint64_t harvest, early, tick, line = 0, slice, longest;
	int more;
	const struct tick *t, *before = NULL, *past;
	size_t bytes;
	char *text;
	FILE *to;

	for (int i = 0; i < HISTORY_TICKS; i++) { /* the history is full, and must make room for them */
		tick_put(before);
		before = second();
	}
	now += SEC / 2;
	for (uint32_t i = 0; i < ENDED; i++) {
		uint32_t index = first + i * 7919ULL % ENDED; /* scattered */
		struct slot *s = &memory.slots[index];

		s->run_ns += 1000000;
		s->state = SLOT_DEAD;
		s->since = now;
		s->seq += 2;
		memory.dead[shared.dead_head++ % SLOTS] = index;
	}
	now -= SEC / 2;
	harvest = in_slices(slots_harvest);
	early = in_slices(slots_show_early);
	past = tick_at(before, before->seq - 1);
	assert_non_null(past);
	assert_int_equal(past->nr_active + past->nr_idle, there);
	tick_put(past);
	tick_put(before);
	from = stopwatch();
	t = second();
	tick = ms_since(from);
	check_ended(t, first);
	assert_int_equal(t->nr_active + t->nr_idle, there);
	assert_int_equal(t->interval_ns, SEC);
	to = open_memstream(&text, &bytes);
	from = stopwatch();
	more = export_json.tick(&o, to, t);
	assert_int_equal(more, 1);
	while (more > 0) {
		more = export_json.more(&o, clock_ns(CLOCK_MONOTONIC) + SLICE_NS);
		slice = ms_since(from);
		line = slice > line ? slice : line;
		from = stopwatch();
	}
	assert_int_equal(more, 0);
	fclose(to);
	print_message("# slices: harvest %llu ms, before the refresh %llu ms, of its line %llu ms, %zu bytes; refresh %llu ms\n",
		      (unsigned long long)harvest, (unsigned long long)early, (unsigned long long)line, bytes,
		      (unsigned long long)tick);
	free(text);
	tick_put(t);
	longest = harvest > early ? harvest : early;
	longest = tick > longest ? tick : longest;
	return line > longest ? line : longest;
}

static void ends(void **state)
{
	uint64_t longest = 0, bytes;

	(void)state;
	for (uint32_t i = 0; i < TRIES && (!i || longest > TURN_MS); i++) {
		longest = end_at_once(1 + i * ENDED, THREADS - i * ENDED);
		assert_int_equal(nr_given_back, (i + 1) * ENDED);
	}
	assert_within(longest, 0, TURN_MS);
	malloc_trim(0);
	bytes = resident_bytes();
	tick_put(second());
	tick_put(second()); /* the first one still had the memory of the peak */
	malloc_trim(0);
	bytes = (bytes - resident_bytes()) / ENDED;
	print_message("# %llu bytes given back for each that ended\n", (unsigned long long)bytes);
	assert_within(bytes, PEAK_BYTES, 2 * PEAK_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts),
		cmocka_unit_test(refreshes),
		cmocka_unit_test(ends),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
