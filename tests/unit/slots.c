/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/collector.h"
#include "collect/seed.h"
#include "collect/slot_values.h"
#include "collect/slots.h"
#include "collect/usages.h"
#include "proc/cgroup.h"

#define CPUS 2
#define SLOTS 1024

static struct slots_memory memory;
static struct shared shared;
static struct model *model;
static struct cgroups *cgroups;
static struct slots *slots;
static const struct collector_set none;
static uint64_t now; /* of the last tick, accounting clock */
static uint32_t given_back[SLOTS];
static size_t nr_given_back;

/* The queue of free slots. */
int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_int_equal(fd, memory.free_fd);
	assert_null(key);
	assert_int_equal(flags, BPF_ANY);
	assert_true(nr_given_back < SLOTS);
	given_back[nr_given_back++] = *(const uint32_t *)value;
	return 0;
}

static struct slot *born_meanwhile; /* with room for two slots per thread of the host; NULL: no thread is born */

/* The iterator of threads, which enters none; a thread that it is run for is born before it comes, and another one after it. */
struct bpf_link *bpf_program__attach_iter(const struct bpf_program *prog, const struct bpf_iter_attach_opts *opts)
{
	(void)prog;
	if (opts && born_meanwhile) {
		born_meanwhile[++shared.slots_used].tid = opts->link_info->task.tid;
		born_meanwhile[++shared.slots_used].tid = -1;
	}
	return (struct bpf_link *)&memory;
}

int bpf_link__fd(const struct bpf_link *link)
{
	(void)link;
	return -1;
}

int bpf_iter_create(int link)
{
	(void)link;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int bpf_link__destroy(struct bpf_link *link)
{
	(void)link;
	return 0;
}

static struct usage usage_asked[USAGE_BATCH];
static uint32_t nr_read, nr_read_of[SLOTS];
static uint64_t rss; /* of each process */

/* The program that reads what threads use, a slow one. */
int bpf_prog_test_run_opts(int fd, struct bpf_test_run_opts *opts)
{
	const struct usage_ask *ask = opts->ctx_in;

	(void)fd;
	for (uint32_t i = 0; i < ask->nr; i++) {
		usage_asked[i].read = 1;
		usage_asked[i].memory.rss = rss;
		nr_read_of[usage_asked[i].slot]++;
	}
	nr_read += ask->nr;
	usleep(1000);
	return 0;
}

static int begin(void **state)
{
	struct cpu_slot *cpus = calloc(CPUS, sizeof(*cpus));

	(void)state;
	now = SEC;
	nr_given_back = 0;
	memset(&shared, 0, sizeof(shared));
	memory = (struct slots_memory){
		.slots = calloc(SLOTS, sizeof(struct slot)),
		.cpus = cpus,
		.nr_cpus = CPUS,
		.max = SLOTS,
		.dead = calloc(SLOTS, sizeof(uint64_t)),
		.shared = &shared,
		.free_fd = 7,
	};
	model = model_new(0);
	cgroups = cgroups_open(NULL);
	slots = slots_new(&memory, model, cgroups, &none);
	return !cpus || !memory.slots || !memory.dead || !model || !cgroups || !slots;
}

static int end(void **state)
{
	(void)state;
	slots_free(slots);
	model_free(model);
	cgroups_free(cgroups);
	free(memory.slots);
	free((void *)memory.cpus);
	free(memory.dead);
	return 0;
}

/* A thread whose tid is the number of its slot. */
static struct slot *born(uint32_t index)
{
	struct slot *s = &memory.slots[index];

	memset(s, 0, sizeof(*s));
	s->tid = s->tgid = index;
	s->start_ns = s->born_ns = s->since = now;
	s->in_scope = true;
	s->state = SLOT_SLEEP;
	if (shared.slots_used < index)
		shared.slots_used = index;
	return s;
}

static void dies(uint32_t index)
{
	memory.slots[index].state = SLOT_DEAD;
	memory.slots[index].since = now;
	memory.dead[shared.dead_head++ % SLOTS] = index;
}

static void second(void)
{
	now += SEC;
	tick_begin_at(model, now);
	assert_int_equal(slots_tick(slots, now), 0);
	tick_end(model);
}

static uint64_t unlisted(void)
{
	uint64_t loss[LOSS_COUNT] = { 0 };

	slots_loss(slots, loss);
	return loss[LOSS_UNLISTED];
}

static void gives_slots_back(void **state)
{
	(void)state;
	born(1);
	born(2);
	second();
	dies(2);
	dies(1);
	second();
	assert_int_equal(nr_given_back, 2);
	assert_int_equal(given_back[0], 2);
	assert_int_equal(given_back[1], 1);
	assert_int_equal(memory.slots[1].state, SLOT_FREE);
	assert_int_equal(unlisted(), 0);
}

static void waits_for_who_writes(void **state)
{
	struct slot *s;

	(void)state;
	s = born(1);
	second();
	dies(1);
	s->seq = 1;
	second();
	assert_int_equal(nr_given_back, 0);
	s->seq = 2;
	second();
	assert_int_equal(nr_given_back, 1);
	assert_int_equal(unlisted(), 0);
}

static void goes_on_behind_a_broken_one(void **state)
{
	(void)state;
	born(1);
	born(2);
	second();
	dies(1);
	dies(2);
	memory.slots[1].seq = 3;
	for (int i = 0; i < 10; i++)
		second();
	assert_int_equal(nr_given_back, 2);
	assert_int_equal(given_back[0], 1);
	assert_int_equal(given_back[1], 2);
	assert_int_equal(memory.slots[1].seq, 4);
	assert_int_equal(memory.slots[1].state, SLOT_FREE);
	assert_int_equal(unlisted(), 1);

	born(1);
	second();
	dies(1);
	second();
	assert_int_equal(nr_given_back, 3);
	assert_int_equal(unlisted(), 1);
}

/* The rows of thread 1 in the next second, by their length in ms. */
static int rows(int alive_ms[4])
{
	const struct tick *t;
	int nr = 0;

	now += SEC;
	tick_begin_at(model, now);
	assert_int_equal(slots_tick(slots, now), 0);
	t = tick_end(model);
	for (size_t i = 0; i < t->nr_active; i++) {
		assert_false(t->active[i].exited);
		assert_int_equal(t->active[i].values->v[METRIC_SLEEP], t->active[i].values->v[METRIC_ALIVE]);
		alive_ms[nr++] = t->active[i].values->v[METRIC_ALIVE] / 1000000;
	}
	for (size_t i = 0; i < t->nr_idle; i++)
		alive_ms[nr++] = 1000;
	tick_put(t);
	return nr;
}

/* A thread that moves has a row for the time before, and one for the rest. */
static void moved(void **state)
{
	struct slot *s = born(1), was;
	int ms[4];

	(void)state;
	second();
	was = *s;
	assert_int_equal(slots_moved(slots, 1, &was, now + SEC * 3 / 10), 0);
	/* reported again: nothing lies between */
	assert_int_equal(slots_moved(slots, 1, &was, now + SEC * 3 / 10), 0);
	s->seq += 2;
	assert_int_equal(rows(ms), 2);
	assert_int_equal(ms[0], 300);
	assert_int_equal(ms[1], 700);
	assert_int_equal(rows(ms), 1);
	assert_int_equal(ms[0], 1000);
	/* of a time that was shown already */
	assert_int_equal(slots_moved(slots, 1, &was, now - SEC / 2), 0);
	assert_int_equal(rows(ms), 1);
	/* it executed a program before, and has the start of its process's leader since */
	was.start_ns = s->start_ns -= SEC / 2;
	assert_int_equal(slots_moved(slots, 1, &was, now + SEC / 2), 0);
	s->seq += 2;
	assert_int_equal(rows(ms), 2);
	assert_int_equal(ms[0], 500);
	assert_int_equal(ms[1], 500);
	/* another thread has its slot */
	was.tgid++;
	assert_int_equal(slots_moved(slots, 1, &was, now + SEC / 2), 0);
	assert_int_equal(rows(ms), 1);
}

/* Moved twice in a second, and born in it. */
static void moved_twice(void **state)
{
	struct slot *s, was;
	int ms[4];

	(void)state;
	second();
	s = born(1);
	was = *s;
	assert_int_equal(slots_moved(slots, 1, &was, now + SEC / 10), 0);
	assert_int_equal(slots_moved(slots, 1, &was, now + SEC * 3 / 10), 0);
	s->seq += 2;
	assert_int_equal(rows(ms), 3);
	assert_int_equal(ms[0], 100);
	assert_int_equal(ms[1], 200);
	assert_int_equal(ms[2], 700);
}

/* Each row has the time on a CPU up to its end. */
static void cpu_time_of_moved(void **state)
{
	struct slot *s = born(1), was;
	const struct tick *t;

	(void)state;
	second();
	s->state = SLOT_RUNNING;
	s->since = now;
	s->exec_ns = 7;
	s->seq += 2;
	was = *s;
	assert_int_equal(slots_moved(slots, 1, &was, now + SEC * 3 / 10), 0);
	now += SEC;
	tick_begin_at(model, now);
	assert_int_equal(slots_tick(slots, now), 0);
	t = tick_end(model);
	assert_int_equal(t->nr_active, 2);
	assert_int_equal(t->active[0].thread->cpu_ns, 7 + SEC * 3 / 10);
	assert_int_equal(t->active[1].thread->cpu_ns, 7 + SEC);
	assert_int_equal(t->active[1].process->cpu_ns, 7 + SEC);
	tick_put(t);
}

/* Out of the scope and back in a second: what lies between is not shown. */
static void moved_out_and_back(void **state)
{
	struct slot *s = born(1), was;
	int ms[4];

	(void)state;
	second();
	was = *s;
	assert_int_equal(slots_moved(slots, 1, &was, now + SEC / 10), 0);
	was.in_scope = false;
	assert_int_equal(slots_moved(slots, 1, &was, now + SEC * 3 / 10), 0);
	s->seq += 2;
	assert_int_equal(rows(ms), 2);
	assert_int_equal(ms[0], 100);
	assert_int_equal(ms[1], 700);
}

static int report_moved(void *arg)
{
	struct slot was = memory.slots[1];

	if (++*(int *)arg == 1) /* while the dead are harvested it has not moved yet */
		return 0;
	was.cgroup_id = 0;
	/* after the end of the present tick, as the thread switched meanwhile */
	return slots_moved(slots, 1, &was, now + SEC);
}

/* A move that is found in the middle of a tick. */
static void moved_meanwhile(void **state)
{
	struct slot *s = born(1);
	int asked = 0, ms[4];

	(void)state;
	second();
	slots_ask_moved(slots, report_moved, &asked);
	s->cgroup_id = 77;
	s->seq += 2;
	assert_int_equal(rows(ms), 2);
	assert_int_equal(ms[0], 0);
	assert_int_equal(ms[1], 1000);
	assert_int_equal(asked, 2);
	slots_ask_moved(slots, NULL, NULL);
	assert_int_equal(rows(ms), 1);
}

/* The growth of the kernel's counters is shown; a counter that the kernel does not have is unknown, and so is its sum. */
static void counts(void **state)
{
	struct slot *s = born(1), *other = born(2);
	const struct tick *t;

	(void)state;
	s->minor_faults = 10;
	other->tgid = 1;
	second();
	s->minor_faults += 5;
	s->major_faults = other->major_faults = COUNT_UNKNOWN;
	s->voluntary = other->voluntary = 3;
	s->seq += 2;
	other->seq += 2;
	now += SEC;
	tick_begin_at(model, now);
	assert_int_equal(slots_tick(slots, now), 0);
	t = tick_end(model);
	assert_int_equal(t->nr_active, 2);
	assert_int_equal(t->nr_processes, 1);
	assert_int_equal(t->processes[0].values->v[METRIC_MINOR_FAULTS], 5);
	assert_int_equal(t->processes[0].values->v[METRIC_VOLUNTARY], 6);
	assert_true(t->processes[0].values->v[METRIC_MAJOR_FAULTS] == VALUE_NA);
	assert_true(t->active[0].values->v[METRIC_MAJOR_FAULTS] == VALUE_NA);
	tick_put(t);
}

/* What a thread read and wrote: by what it grew, from 0 if the slot is as old as the thread. */
static void io(void **state)
{
	struct shown shown = { .io_begins = false }, sighted = { .io_begins = true };
	const struct usage_io first = { 4096, 8192 }, second = { 4096, 8193 }, unknown = { USAGE_UNKNOWN, USAGE_UNKNOWN };
	struct values v;

	(void)state;
	slot_show_io(&shown, &first, &v);
	assert_true(v.v[METRIC_READ] == 4096 && v.v[METRIC_WRITE] == 8192);
	slot_show_io(&shown, NULL, &v);
	assert_true(v.v[METRIC_READ] == 0 && v.v[METRIC_WRITE] == 0);
	slot_show_io(&shown, &second, &v);
	assert_true(v.v[METRIC_READ] == 0 && v.v[METRIC_WRITE] == 1);
	/* Its last switch was not seen: nothing is taken back. */
	slot_show_io(&shown, &(struct usage_io){ 0 }, &v);
	assert_true(v.v[METRIC_READ] == 0 && v.v[METRIC_WRITE] == 0);
	slot_show_io(&shown, &second, &v);
	assert_true(v.v[METRIC_READ] == 0 && v.v[METRIC_WRITE] == 0);

	slot_show_io(&sighted, NULL, &v);
	slot_show_io(&sighted, &first, &v);
	assert_true(v.v[METRIC_READ] == 0 && v.v[METRIC_WRITE] == 0);
	slot_show_io(&sighted, &second, &v);
	assert_true(v.v[METRIC_READ] == 0 && v.v[METRIC_WRITE] == 1);
	slot_show_io(&sighted, &unknown, &v);
	assert_true(v.v[METRIC_READ] == VALUE_NA && v.v[METRIC_WRITE] == VALUE_NA);
}

/* CPU time is as of the refresh's end, on the accounting clock: neither suspend nor the work of a refresh is in it. */
static void cpu_time(void **state)
{
	struct slot *s = born(1);
	const struct tick *t;

	(void)state;
	second();
	s->exec_ns = 5 * SEC;
	s->state = SLOT_RUNNING;
	s->since = now + SEC * 7 / 10;
	s->sleep_ns = s->since - s->born_ns;
	s->seq += 2;
	now += SEC;
	tick_begin_at(model, now);
	assert_int_equal(slots_tick(slots, now), 0);
	t = tick_end(model);
	assert_int_equal(t->nr_active, 1);
	assert_int_equal(t->active[0].values->v[METRIC_RUN], SEC * 3 / 10);
	assert_int_equal(t->active[0].thread->cpu_ns, 5 * SEC + SEC * 3 / 10);
	assert_int_equal(t->processes[0].process->cpu_ns, 5 * SEC + SEC * 3 / 10);
	tick_put(t);
}

static void cpu_time_after(uint64_t interval, uint64_t ns)
{
	const struct tick *t;

	now += interval;
	tick_begin_at(model, now);
	assert_int_equal(slots_tick(slots, now), 0);
	t = tick_end(model);
	assert_int_equal(t->active[0].thread->cpu_ns, ns);
	tick_put(t);
}

/* A thread that was seeded while it ran; interrupts took more of that stretch than it had run before. */
static void cpu_time_of_seeded(void **state)
{
	struct slot *s = born(1);

	(void)state;
	second();
	s->state = SLOT_RUNNING;
	s->since = now;
	s->exec_ns = -(uint64_t)(SEC / 5);
	s->seq += 2;
	cpu_time_after(SEC / 10, 0);
	cpu_time_after(SEC * 9 / 10, SEC * 8 / 10);
}

/* CPU time does not fall when the thread leaves the CPU: the kernel's sum excludes what interrupts took. */
static void cpu_time_without_interrupts(void **state)
{
	struct cpu_slot *cpu = (struct cpu_slot *)&memory.cpus[0];
	struct slot *s = born(1);

	(void)state;
	second();
	s->state = SLOT_RUNNING;
	s->since = now;
	s->exec_ns = 0;
	s->seq += 2;
	cpu->hardirq_ns += SEC / 5;
	cpu_time_after(SEC, SEC * 4 / 5);
	cpu->irq_charged += SEC / 5;
	s->state = SLOT_SLEEP;
	s->since = now;
	s->exec_ns = SEC * 4 / 5;
	s->run_ns += SEC * 4 / 5;
	s->irq_ns += SEC / 5;
	s->seq += 2;
	cpu_time_after(SEC, SEC * 4 / 5);
}

/* A wait of this length ends, as the programs note it. */
static void waits(struct slot *s, uint64_t ns)
{
	s->runq_hist[63 - __builtin_clzll(ns >> HIST_SHIFT)]++;
	s->runq_ns += ns;
	if (ns > s->runq_max_ns)
		s->runq_max_ns = ns;
	s->seq += 2;
}

/* The longest waits of the rows of the refresh that ends now. */
static int longest(uint64_t ns[4])
{
	const struct tick *t;
	int nr = 0;

	assert_int_equal(slots_tick(slots, now), 0);
	t = tick_end(model);
	for (size_t i = 0; i < t->nr_active; i++)
		ns[nr++] = t->active[i].values->v[METRIC_RUNQ_MAX];
	tick_put(t);
	now += SEC;
	tick_begin_at(model, now);
	return nr;
}

/* The longest wait belongs to the refresh that counts it: one that ends after the capture, to the next one. */
static void longest_wait(void **state)
{
	struct slot *s = born(1);
	uint64_t ns[4];

	(void)state;
	second();
	now += SEC;
	tick_begin_at(model, now);
	waits(s, 5000000);
	assert_int_equal(slots_capture(slots, now), 0);
	assert_int_equal(slots_capture(slots, now), 0);
	waits(s, 3000000);
	assert_int_equal(longest(ns), 1);
	assert_int_equal(ns[0], 5000000);
	assert_int_equal(longest(ns), 1);
	assert_int_equal(ns[0], 3000000);
}

/* It also belongs to the row of the cgroup in which it ended. If the thread had a longer one in the cgroup before, only its
 * histogram is known. */
static void longest_wait_of_moved(void **state)
{
	struct slot *s = born(1), was;
	uint64_t ns[4];

	(void)state;
	second();
	now += SEC;
	tick_begin_at(model, now);
	waits(s, 5000000);
	was = *s;
	waits(s, 9000000);
	assert_int_equal(slots_moved(slots, 1, &was, now - SEC / 2), 0);
	assert_int_equal(longest(ns), 2);
	assert_int_equal(ns[0], 5000000);
	assert_int_equal(ns[1], 9000000);
	waits(s, 5000000);
	was = *s;
	waits(s, 3000000);
	assert_int_equal(slots_moved(slots, 1, &was, now - SEC / 2), 0);
	assert_int_equal(longest(ns), 2);
	assert_int_equal(ns[0], 5000000);
	assert_int_equal(ns[1], 1 << 21);
}

/* The refresh of the next second. */
static const struct tick *next_tick(void)
{
	now += SEC;
	tick_begin_at(model, now);
	assert_int_equal(slots_tick(slots, now), 0);
	return tick_end(model);
}

static void assert_time(const struct tick *t, enum metric_id m, uint64_t ms)
{
	assert_int_equal(t->nr_active, 1);
	assert_int_equal(t->active[0].values->v[m], ms * 1000000);
}

/* A thread that was woken while its CPU limit stopped it waits for the limit, as far as is known. */
static void woken_while_throttled(void **state)
{
	struct slot *s = born(1);
	const struct tick *t;

	(void)state;
	second();
	s->wake = (now + SEC / 5) | WAKE_THROTTLED;
	s->since = now;
	s->sleep_ns = SEC;
	s->seq += 2;
	t = next_tick();
	assert_time(t, METRIC_SLEEP, 200);
	assert_time(t, METRIC_RUNQ, 800);
	assert_time(t, METRIC_THROTTLED, 800);
	tick_put(t);
}

/* A thread left the CPU after the end of the refresh, but before it was read: the refresh has only the time until its end. */
static void left_after_the_end(void **state)
{
	struct slot *s = born(1);
	const struct tick *t;

	(void)state;
	second();
	s->sleep_ns = SEC + SEC * 4 / 10;
	s->run_ns = SEC * 7 / 10;
	s->since = now + SEC * 11 / 10;
	s->seq += 2;
	t = next_tick();
	assert_time(t, METRIC_SLEEP, 400);
	assert_time(t, METRIC_RUN, 600);
	tick_put(t);
	s->sleep_ns += SEC / 10;
	s->since += SEC / 10;
	s->state = SLOT_RUNNING;
	s->seq += 2;
	t = next_tick();
	assert_time(t, METRIC_SLEEP, 100);
	assert_time(t, METRIC_RUN, 900);
	tick_put(t);
}

/* A thread that was stopped all the time is not looked at: its time is known when it continues. */
static void goes_on_after_a_stop(void **state)
{
	struct slot *s = born(1);
	const struct tick *t;

	(void)state;
	s->state = SLOT_STOPPED;
	for (int i = 0; i < 4; i++)
		second();
	s->stopped_ns = 4 * SEC + SEC / 2;
	s->since = now + SEC / 2;
	s->state = SLOT_RUNNING;
	s->seq += 2;
	t = next_tick();
	assert_time(t, METRIC_STOPPED, 500);
	assert_time(t, METRIC_SLEEP, 0);
	assert_time(t, METRIC_RUN, 500);
	tick_put(t);
}

/* The kernel's split of a thread that was there before systop says nothing about what it does now, until that changes. */
static void split_of_sighted(void **state)
{
	struct slot *s = born(1);
	const struct tick *t;

	(void)state;
	s->sighted = 1;
	s->utime_ns = 900 * SEC;
	s->state = SLOT_RUNNING;
	t = next_tick();
	assert_time(t, METRIC_RUN, 1000);
	assert_true(t->active[0].values->v[METRIC_USER] == VALUE_NA);
	tick_put(t);
	s->stime_ns += SEC;
	s->seq += 2;
	t = next_tick();
	assert_time(t, METRIC_USER, 0);
	assert_time(t, METRIC_KERNEL, 1000);
	tick_put(t);
}

/* A thread that is born while the refresh is read is in the next one. */
static void born_after_the_end(void **state)
{
	struct slot *s = born(1);
	int ms[4];

	(void)state;
	s->born_ns = s->since = now + SEC + SEC / 4;
	assert_int_equal(rows(ms), 0);
	assert_int_equal(rows(ms), 1);
	assert_int_equal(ms[0], 750);
}

/* A thread in D that moves counts once, where it is now. */
static void moved_in_d(void **state)
{
	struct slot *s = born(1), was;
	const struct tick *t;

	(void)state;
	s->state = SLOT_D;
	second();
	was = *s;
	assert_int_equal(slots_moved(slots, 1, &was, now + SEC / 4), 0);
	s->seq += 2;
	t = next_tick();
	assert_int_equal(t->nr_active, 2);
	assert_int_equal(t->active[0].values->v[METRIC_D], SEC / 4);
	assert_int_equal(t->active[1].values->v[METRIC_D], SEC * 3 / 4);
	assert_int_equal(t->total_d, 1);
	tick_put(t);
}

static uint64_t runq_shown[4];
static int nr_runq_shown;

static int note_runq(void *unused, const struct collector_thread *t)
{
	(void)unused;
	runq_shown[nr_runq_shown++ % 4] = t->runq_ns;
	return 0;
}

/* Collectors get the sum of a thread's waits up to the end of each of its rows. */
static void waits_of_moved(void **state)
{
	static const struct collector watching = { .thread_shown = note_runq };
	static const struct collector *const rows_of[] = { &watching };
	static void *const states[] = { &nr_runq_shown };
	static const struct collector_set set = { rows_of, states, 1 };
	struct slot *s, was;

	(void)state;
	slots_free(slots);
	slots = slots_new(&memory, model, cgroups, &set);
	assert_non_null(slots);
	s = born(1);
	second();
	s->state = SLOT_RUNQUEUE;
	s->since = now;
	s->sleep_ns = SEC;
	s->seq += 2;
	was = *s;
	assert_int_equal(slots_moved(slots, 1, &was, now + SEC / 4), 0);
	nr_runq_shown = 0;
	tick_put(next_tick());
	assert_int_equal(nr_runq_shown, 2);
	assert_int_equal(runq_shown[0], SEC / 4);
	assert_int_equal(runq_shown[1], SEC);
}

/* A folder in a hierarchy of CPU limits; returns its number. */
static uint64_t folder_in(const char *hierarchy, const char *name)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", hierarchy, name);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

/* A thread that is moved in the hierarchy of the CPU limits only counts there from then on. */
static void moved_to_another_limit(void **state)
{
	static const char *const names[] = { "a", "b" };
	char hierarchy[] = "/tmp/systop-limits-XXXXXX", path[64];
	uint64_t ids[2], *in = calloc(SLOTS, sizeof(*in));
	struct slot *s;

	(void)state;
	assert_non_null(mkdtemp(hierarchy));
	for (int i = 0; i < 2; i++)
		ids[i] = folder_in(hierarchy, names[i]);
	slots_free(slots);
	assert_int_equal(cgroups_limited_by(cgroups, hierarchy, "cpu"), 0);
	memory.limit_cgroups = in;
	slots = slots_new(&memory, model, cgroups, &none);
	assert_non_null(slots);
	s = born(1);
	for (int i = 0; i < 4; i++) {
		const struct tick *t;

		in[1] = ids[i / 2];
		s->voluntary++;
		s->seq += 2;
		t = next_tick();
		assert_int_equal(t->nr_active, 1);
		snprintf(path, sizeof(path), "cpu:/%s", names[i / 2]);
		assert_string_equal(t->active[0].thread->limiter->path, path);
		assert_string_equal(t->processes[0].process->limiter->path, path);
		tick_put(t);
	}
	slots_free(slots);
	slots = NULL;
	free(in);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", hierarchy, names[i]);
		rmdir(path);
	}
	rmdir(hierarchy);
}

/* Without a reading, it is unknown for every thread, also for one that slept, and for their process. */
static void io_unknown(void **state)
{
	struct slot *s = born(1);
	const struct tick *t;

	(void)state;
	born(2)->tgid = 1;
	second();
	second();
	s->seq += 2;
	s->voluntary++;
	now += SEC;
	tick_begin_at(model, now);
	assert_int_equal(slots_tick(slots, now), 0);
	t = tick_end(model);
	assert_int_equal(t->nr_active + t->nr_idle, 2);
	assert_true(t->nr_active && t->active[0].values->v[METRIC_WRITE] == VALUE_NA);
	assert_true(!t->nr_idle || t->idle[0].values->v[METRIC_WRITE] == VALUE_NA);
	assert_true(t->processes[0].values->v[METRIC_WRITE] == VALUE_NA);
	tick_put(t);
}

/* CPUs that all find the last slot in use at once count more of them than there are. */
static void more_than_all(void **state)
{
	size_t bytes = SLOTS * sizeof(struct slot);
	struct slot *last = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(last, MAP_FAILED);
	assert_int_equal(bytes % sysconf(_SC_PAGESIZE), 0);
	assert_int_equal(mprotect((char *)last + bytes, bytes, PROT_NONE), 0);
	shared.slots_used = SLOTS + CPUS;
	assert_int_equal(slots_used(&shared, SLOTS), SLOTS - 1);
	assert_true(seed_run(NULL, last, SLOTS, &shared) > 0);
	munmap(last, 2 * bytes);
	shared.slots_used = 0;
}

/* Threads that were born while systop looked for those without a slot are not missed. */
static void born_while_seeding(void **state)
{
	const uint32_t max = 1 << 20;
	void *room = mmap(NULL, max * sizeof(struct slot), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)state;
	assert_ptr_not_equal(room, MAP_FAILED);
	born_meanwhile = room;
	assert_int_equal(seed_run(NULL, born_meanwhile, max, &shared), 0);
	assert_true(shared.slots_used > 0);
	born_meanwhile = NULL;
	munmap(room, max * sizeof(struct slot));
}

/* Threads out of scope end in masses: those in scope keep their place, and nothing is lost. */
static void ends_out_of_scope(void **state)
{
	const struct tick *t;

	(void)state;
	second();
	now += SEC / 2;
	for (int i = 0; i < 131072 + 1; i++) {
		nr_given_back = 0;
		born(2)->in_scope = false;
		memory.slots[2].start_ns += i;
		dies(2);
		assert_int_equal(slots_harvest(slots, 0), 0);
	}
	born(1)->run_ns = 100;
	dies(1);
	assert_int_equal(slots_harvest(slots, 0), 0);
	now += SEC / 2;
	tick_begin_at(model, now);
	assert_int_equal(slots_tick(slots, now), 0);
	t = tick_end(model);
	assert_int_equal(t->nr_active + t->nr_idle, 1);
	assert_int_equal(unlisted(), 0);
}

/* In a long interval there is time to read the memory of more processes, of which none is read more often. */
static void memory_in_long_intervals(void **state)
{
	struct usages *usages = usages_new(&(struct usages_memory){ .asked = usage_asked });

	(void)state;
	assert_non_null(usages);
	slots_usage(slots, usages);
	for (int i = 1; i < SLOTS; i++)
		born(i);
	second();
	second();
	nr_read = 0;
	second();
	assert_within(nr_read, 1, SLOTS - 2);
	now += 99 * SEC;
	nr_read = 0;
	second();
	assert_int_equal(nr_read, SLOTS - 1);
	/* what is on the screen is read each time */
	memset(nr_read_of, 0, sizeof(nr_read_of));
	for (int i = 1; i <= 3; i++) {
		slots_want_memory(slots, &(pid_t){ SLOTS / 2 }, 1);
		second();
		assert_int_equal(nr_read_of[SLOTS / 2], i);
	}
	usages_free(usages);
}

/* The memory of the processes that the screen shows now is read before that of others, however often it showed others before. */
static void memory_on_the_screen(void **state)
{
	struct usages *usages = usages_new(&(struct usages_memory){ .asked = usage_asked });
	const pid_t before = SLOTS - 2, at = SLOTS - 1;

	(void)state;
	assert_non_null(usages);
	slots_usage(slots, usages);
	for (int i = 1; i < SLOTS; i++)
		born(i);
	second();
	now += 99 * SEC;
	second();
	memset(nr_read_of, 0, sizeof(nr_read_of));
	for (int i = 0; i < SLOTS; i++)
		slots_want_memory(slots, &before, 1);
	slots_want_memory(slots, &at, 1);
	second();
	assert_true(nr_read_of[at]);
	assert_int_equal(nr_read_of[before], 0);
	usages_free(usages);
}

/* A process whose last thread has no memory any more has none; while others live, the thread says nothing about it. */
static void memory_of_one_that_exits(void **state)
{
	struct usages *usages = usages_new(&(struct usages_memory){ .asked = usage_asked });
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	assert_non_null(usages);
	slots_usage(slots, usages);
	born(1);
	born(2)->tgid = 1;
	born(3);
	for (int i = 0; i < 4; i++) {
		const struct tick *t;

		now += 30 * SEC;
		rss = i < 2 ? 5 : USAGE_NONE;
		tick_begin_at(model, now);
		assert_int_equal(slots_tick(slots, now), 0);
		t = tick_end(model);
		assert_int_equal(t->nr_processes, 2);
		for (size_t at = 0; i % 2 && at < t->nr_processes; at++) {
			const struct row *r = &t->processes[at];

			assert_true(r->levels->v[METRIC_RSS - METRIC_LEVELS] == (i == 1 || r->number == 1 ? 5 * page : VALUE_NA));
		}
		tick_put(t);
	}
	usages_free(usages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gives_slots_back, begin, end),
		cmocka_unit_test_setup_teardown(waits_for_who_writes, begin, end),
		cmocka_unit_test_setup_teardown(goes_on_behind_a_broken_one, begin, end),
		cmocka_unit_test_setup_teardown(moved, begin, end),
		cmocka_unit_test_setup_teardown(moved_twice, begin, end),
		cmocka_unit_test_setup_teardown(cpu_time_of_moved, begin, end),
		cmocka_unit_test_setup_teardown(moved_out_and_back, begin, end),
		cmocka_unit_test_setup_teardown(moved_meanwhile, begin, end),
		cmocka_unit_test_setup_teardown(counts, begin, end),
		cmocka_unit_test_setup_teardown(cpu_time, begin, end),
		cmocka_unit_test_setup_teardown(cpu_time_of_seeded, begin, end),
		cmocka_unit_test_setup_teardown(cpu_time_without_interrupts, begin, end),
		cmocka_unit_test_setup_teardown(longest_wait, begin, end),
		cmocka_unit_test_setup_teardown(longest_wait_of_moved, begin, end),
		cmocka_unit_test_setup_teardown(woken_while_throttled, begin, end),
		cmocka_unit_test_setup_teardown(left_after_the_end, begin, end),
		cmocka_unit_test_setup_teardown(goes_on_after_a_stop, begin, end),
		cmocka_unit_test_setup_teardown(split_of_sighted, begin, end),
		cmocka_unit_test_setup_teardown(born_after_the_end, begin, end),
		cmocka_unit_test_setup_teardown(moved_in_d, begin, end),
		cmocka_unit_test_setup_teardown(waits_of_moved, begin, end),
		cmocka_unit_test_setup_teardown(moved_to_another_limit, begin, end),
		cmocka_unit_test_setup_teardown(io_unknown, begin, end),
		cmocka_unit_test_setup_teardown(more_than_all, begin, end),
		cmocka_unit_test_setup_teardown(born_while_seeding, begin, end),
		cmocka_unit_test_setup_teardown(ends_out_of_scope, begin, end),
		cmocka_unit_test_setup_teardown(memory_in_long_intervals, begin, end),
		cmocka_unit_test_setup_teardown(memory_on_the_screen, begin, end),
		cmocka_unit_test_setup_teardown(memory_of_one_that_exits, begin, end),
		cmocka_unit_test(io),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
