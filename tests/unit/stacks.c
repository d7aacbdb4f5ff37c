/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "area.h"
#include "collect/old_stacks.h"
#include "collect/stacks.h"
#include "model/model.h"
#include "slot.h"

#define BITS STACK_INDEX_BITS
#define HALF STACK_HALF(BITS)
#define LINES STACK_LINES_HALF(BITS)

/* The programs' data, and its reader. */
static struct cpu_area *area;
static struct cpu_slot *cpu;
static struct shared *shared;
static struct stack_entry *entries;
static struct stack_line *lines;
static struct model *model;
static struct stacks *stacks;

static void begin_with(uint64_t window_ns, uint64_t old_bytes)
{
	struct stacks_memory memory = {
		.index_bits = BITS, .nr_cpus = 1, .max_slots = 16, .window_ns = window_ns, .old_bytes = old_bytes,
	};

	memory.areas = &area;
	memory.cpus = cpu;
	memory.shared = shared;
	memory.entries = entries;
	memory.lines = lines;
	stacks = stacks_new(&memory, model);
	assert_non_null(stacks);
	shared->stack_generation = 1;
}

/* Call it before begin_with() is called again in the same test. */
static void end_one(void)
{
	stacks_free(stacks);
	stacks = NULL;
	shared->stack_entries[1] = shared->stack_lines[1] = 0;
	cpu->stack_events = 0;
}

static int begin(void **state)
{
	(void)state;
	area = calloc(1, sizeof(*area));
	cpu = calloc(1, sizeof(*cpu));
	shared = calloc(1, sizeof(*shared));
	entries = calloc(2 * HALF, sizeof(*entries));
	lines = calloc(2 * LINES, sizeof(*lines));
	model = model_new(0);
	return !area || !cpu || !shared || !entries || !lines || !model;
}

static int end(void **state)
{
	(void)state;
	stacks_free(stacks);
	stacks = NULL;
	model_free(model);
	free(area);
	free(cpu);
	free(shared);
	free(entries);
	free(lines);
	return 0;
}

/* Writes a stack of @nr frames, all equal to @frame. Returns its id. */
static uint32_t write_stack(uint64_t frame, uint16_t nr)
{
	uint32_t generation = shared->stack_generation, half = generation & 1, index = shared->stack_entries[half]++;
	struct stack_entry *e = &entries[half * HALF + index];

	*e = (struct stack_entry){ .hash = frame, .check = frame, .nr = nr, .line = half * LINES + shared->stack_lines[half] };
	for (uint16_t i = 0; i < nr; i++)
		((uint64_t *)&lines[e->line])[i] = frame;
	shared->stack_lines[half] += (nr + STACK_LINE_FRAMES - 1) / STACK_LINE_FRAMES;
	e->flags = STACK_READY;
	return generation << BITS | index;
}

/* A sample with a user stack. */
static void write_sample(uint32_t id)
{
	uint64_t place = cpu->stack_events++;

	area->stack_events[place % STACK_EVENTS] = (struct stack_event){ .seq = place + 1, .slot = 1, .tid = 1, .user = id };
}

/* Fills a half with new stacks, and reads as often as needed until it can be used again. */
static void turn(uint64_t first)
{
	uint32_t generation = shared->stack_generation;

	for (uint64_t i = 0; i < HALF / 2; i++)
		write_stack(first + i, 3);
	assert_int_equal(stacks_drain(stacks), 0);
	assert_int_equal(shared->stack_generation, generation + 1);
	assert_int_equal(stacks_drain(stacks), 0);
	assert_true(entries[(generation & 1) * HALF].flags & STACK_READY); /* a program may be writing there yet */
	usleep(11000);
	assert_int_equal(stacks_drain(stacks), 0);
}

/* Which of some ids are found, with the frame they were written with. */
struct looking {
	const uint32_t *ids;
	const uint64_t *frames;
	uint32_t nr, found;
	uint64_t all;
};

static int look(void *arg, uint32_t id, const struct stack_entry *e, const uint64_t *frames)
{
	struct looking *l = arg;

	l->all++;
	for (uint32_t i = 0; i < l->nr; i++)
		if (l->ids[i] == id) {
			assert_int_equal(frames[0], l->frames[i]);
			assert_int_equal(frames[e->nr - 1], l->frames[i]);
			l->found++;
		}
	return 0;
}

#define TURNS 8

/* The fastest turn of the dictionary: each half is full of new stacks. */
TEST(stacks, what_the_window_has_keeps_its_stack_however_often_the_dictionary_turns)
{
	uint32_t ids[TURNS];
	uint64_t frames[TURNS];
	struct looking l = { ids, frames, TURNS, 0, 0 };

	begin_with(30 * SEC, 256 << 20);
	for (uint64_t i = 0; i < TURNS; i++) {
		frames[i] = (i + 1) << 32;
		ids[i] = write_stack(frames[i], 20);
		turn((i + 1) << 40);
	}
	assert_int_equal(stacks_each(stacks, look, &l), 0);
	if (l.found != TURNS)
		fail_msg("%u of %u stacks of the window are there", l.found, TURNS);
	assert_int_equal(stacks_lost(stacks), 0);
}

/* A trace that is being saved needs them for longer. */
TEST(stacks, what_is_held_stays_when_it_left_the_window)
{
	uint64_t frame = 1ULL << 32;
	uint32_t id;
	struct looking l = { &id, &frame, 1, 0, 0 };

	begin_with(1, 256 << 20);
	id = write_stack(frame, 20);
	stacks_hold(stacks, true);
	turn(2ULL << 32);
	assert_int_equal(stacks_each(stacks, look, &l), 0);
	assert_int_equal(l.found, 1);
	stacks_hold(stacks, false);
	assert_int_equal(stacks_drain(stacks), 0);
	l.found = 0;
	assert_int_equal(stacks_each(stacks, look, &l), 0);
	assert_int_equal(l.found, 0);
}

/* A refresh that is very long, with very many samples, takes no more memory than one of a million; the next one begins anew. */
TEST(stacks, a_refresh_has_a_limit)
{
	const uint64_t most = 1 << 20;
	uint32_t id;

	begin_with(30 * SEC, 1 << 20);
	id = write_stack(1, 3);
	for (uint64_t i = 0; i < most + 3 * STACK_EVENTS; i++) {
		write_sample(id);
		if (i % STACK_EVENTS == STACK_EVENTS - 1)
			assert_int_equal(stacks_drain(stacks), 0);
	}
	assert_int_equal(stacks_lost(stacks), 3 * STACK_EVENTS);
	stacks_end(stacks);
	write_sample(id);
	assert_int_equal(stacks_drain(stacks), 0);
	assert_int_equal(stacks_lost(stacks), 3 * STACK_EVENTS);
}

/* Hours of new stacks take no more memory than the window's stacks. */
TEST(stacks, what_left_the_window_makes_room)
{
	struct looking l = { 0 };
	uint64_t early, most;
	struct old_stacks *old = old_stacks_new(30 * SEC, 256 << 20);
	struct stacks_half half = { 1, BITS, entries + HALF, lines + LINES };
	struct mallinfo2 before, after;

	assert_non_null(old);
	shared->stack_generation = 1;
	for (uint64_t i = 0; i < 1000; i++)
		write_stack((i + 1) << 32, 20);
	before = mallinfo2();
	old_stacks_keep(old, &half, 1 * SEC);
	most = old_stacks_bytes(old, &early);
	half.generation = 3; /* the same stacks again: only their ids are new */
	old_stacks_keep(old, &half, 2 * SEC);
	assert_within(old_stacks_bytes(old, &early), most + 1, most * 5 / 4);
	old_stacks_age(old, 31 * SEC);
	assert_int_equal(old_stacks_each(old, look, &l), 0);
	assert_int_equal(l.all, 2000);
	old_stacks_age(old, 31 * SEC + 1);
	l.all = 0;
	assert_int_equal(old_stacks_each(old, look, &l), 0);
	assert_int_equal(l.all, 1000);
	assert_within(old_stacks_bytes(old, &early), 1, most);
	old_stacks_age(old, 100 * SEC);
	assert_int_equal(old_stacks_bytes(old, &early), 0);
	assert_int_equal(early, 0);
	after = mallinfo2();
	/* Their index is freed, too. malloc() counts the few blocks of each size that it keeps at hand as used. */
	assert_within(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd, before.uordblks + before.hblkhd + 4096);
	old_stacks_free(old);
}

TEST(stacks, above_what_they_may_take_the_oldest_go_and_are_counted)
{
	struct looking l = { 0 };
	uint64_t early, one;
	struct old_stacks *old = old_stacks_new(30 * SEC, UINT64_MAX);
	struct stacks_half half = { 1, BITS, entries + HALF, lines + LINES };

	shared->stack_generation = 1;
	for (uint64_t i = 0; i < 100; i++)
		write_stack((i + 1) << 32, 20);
	old_stacks_keep(old, &half, 1);
	one = old_stacks_bytes(old, &early);
	old_stacks_free(old);
	old = old_stacks_new(30 * SEC, one + one / 2);
	for (uint64_t i = 0; i < 4; i++) {
		for (uint32_t k = 0; k < 100; k++)
			entries[HALF + k].hash = (i + 1) << 48 | k << 1;
		half.generation = 1 + 2 * i;
		old_stacks_keep(old, &half, 1);
	}
	assert_int_equal(old_stacks_each(old, look, &l), 0);
	assert_int_equal(l.all, 100);
	assert_within(old_stacks_bytes(old, &early), 1, one);
	assert_int_equal(early, 300);
	old_stacks_free(old);
}

/* Events that a CPU's ring had no room for are counted as lost, to the last one, and so are those without a stack in
 * the dictionary. */
TEST(stacks, events_that_were_overwritten_are_counted)
{
	uint32_t id;

	begin_with(0, 0);
	id = write_stack(1ULL << 32, 5);
	for (int i = 0; i < STACK_EVENTS + 1234; i++)
		write_sample(id);
	assert_int_equal(stacks_drain(stacks), 0);
	assert_int_equal(stacks_lost(stacks), 1234);
	for (int i = 0; i < STACK_EVENTS; i++)
		write_sample(id);
	assert_int_equal(stacks_drain(stacks), 0);
	assert_int_equal(stacks_lost(stacks), 1234);
	assert_int_equal(stacks_ends(stacks)[STACK_COMPLETE], 2 * STACK_EVENTS);
	for (int i = 0; i < 7; i++)
		write_sample(id + 1);
	assert_int_equal(stacks_drain(stacks), 0);
	assert_int_equal(stacks_lost(stacks), 1234 + 7);
}

static int count_lost(void *arg, const struct stack_sample *s)
{
	*(int *)arg += s->kernel && !s->user && s->flags & NOTE_USER_LOST;
	return 0;
}

/* A block's user stack was taken when it began, two turns ago: its kernel stack alone is not a whole one. */
TEST(stacks, a_stack_that_is_gone_is_said_to_be)
{
	const struct tick *t;
	struct values v = { 0 };
	struct stacks_thread thread = { .slot = 1, .tid = 1, .values = &v, .from = 9 * SEC };
	uint64_t place;
	uint32_t user, kernel;
	int lost = 0;

	begin_with(30 * SEC, 256 << 20);
	user = write_stack(1ULL << 32, 20);
	turn(1ULL << 40);
	kernel = write_stack(2ULL << 32, 5);
	place = cpu->stack_events++;
	area->stack_events[place] = (struct stack_event){ .seq = place + 1, .at = 10 * SEC, .weight = SEC, .slot = 1, .tid = 1,
							  .user = user, .kernel = kernel, .kind = STACK_SLEEP };
	assert_int_equal(stacks_drain(stacks), 0);
	assert_int_equal(stacks_lost(stacks), 1);
	tick_begin(model);
	thread.life = tick_life(model, 1, "test", NULL);
	v.v[METRIC_SLEEP] = SEC;
	assert_int_equal(stacks_show(stacks, &thread), 0);
	t = tick_end(model);
	assert_int_equal(tick_samples(t, 1, count_lost, &lost), 0);
	assert_int_equal(lost, 1);
	tick_put(t);
}

/* Writes an event; what it lacks is that of slot 1 and thread 1, with a user stack of @frame. */
static void write_event(struct stack_event e, uint64_t frame)
{
	uint64_t place = cpu->stack_events++;

	e.seq = place + 1;
	e.slot = 1;
	e.tid = e.tid ? e.tid : 1;
	e.user = write_stack(frame, 3);
	area->stack_events[place % STACK_EVENTS] = e;
}

/* What the samples of a refresh have. */
struct said {
	enum metric_id metric;
	uint64_t frame;    /* innermost of the user stack; 0: it has none */
	pid_t tid;         /* 0: of any thread */
	uint64_t weight, whole;
};

static int add_said(void *arg, const struct stack_sample *s)
{
	struct said *said = arg;

	if (s->metric != said->metric || (s->user ? s->user->frames[0] : 0) != said->frame ||
	    (said->tid && s->life->tid != said->tid))
		return 0;
	said->weight += s->weight;
	said->whole += s->whole;
	return 0;
}

static struct said said(const struct tick *t, enum metric_id metric, uint64_t frame, pid_t tid)
{
	struct said said = { .metric = metric, .frame = frame, .tid = tid };

	assert_int_equal(tick_samples(t, 1, add_said, &said), 0);
	return said;
}

#define A (1ULL << 32)
#define B (2ULL << 32)

/* A block that began in an earlier refresh has its part of this one, and leaves the rest to the next block. */
TEST(stacks, a_block_has_its_part_of_a_refresh)
{
	struct values v = { .v = { [METRIC_D] = SEC * 8 / 10, [METRIC_RUNQ] = SEC / 10 } };
	struct stacks_thread thread = { .slot = 1, .tid = 1, .values = &v, .from = 9 * SEC, .runq_ns = SEC / 10 };
	const struct tick *t;

	begin_with(30 * SEC, 256 << 20);
	write_event((struct stack_event){ .at = 9 * SEC + SEC * 4 / 10, .weight = 5 * SEC, .wait = SEC / 10, .runq_ns = SEC / 10,
					  .kind = STACK_D }, A);
	write_event((struct stack_event){ .at = 10 * SEC, .weight = SEC / 2, .runq_ns = SEC / 10, .kind = STACK_D }, B);
	assert_int_equal(stacks_drain(stacks), 0);
	tick_begin(model);
	thread.life = tick_life(model, 1, "test", NULL);
	assert_int_equal(stacks_show(stacks, &thread), 0);
	t = tick_end(model);
	assert_int_equal(said(t, METRIC_D, A, 0).weight, SEC * 3 / 10);
	assert_int_equal(said(t, METRIC_D, A, 0).whole, 5 * SEC);
	assert_int_equal(said(t, METRIC_D, B, 0).weight, SEC / 2);
	assert_int_equal(said(t, METRIC_RUNQ, A, 0).weight, SEC / 10);
	assert_int_equal(said(t, METRIC_D, 0, 0).weight, 0);
	tick_put(t);
}

/* All faults of a thread are shared by the stacks that were taken of them. */
TEST(stacks, faults_are_shared)
{
	struct values v = { .v = { [METRIC_MINOR_FAULTS] = 8 } };
	struct stacks_thread thread = { .slot = 1, .tid = 1, .values = &v, .from = 9 * SEC };
	const struct tick *t;

	begin_with(30 * SEC, 256 << 20);
	for (int i = 0; i < 3; i++)
		write_event((struct stack_event){ .at = 9 * SEC + i, .weight = 1,
						  .kind = STACK_COUNTED + COUNT_minor_faults }, i == 1 ? A : B);
	assert_int_equal(stacks_drain(stacks), 0);
	tick_begin(model);
	thread.life = tick_life(model, 1, "test", NULL);
	assert_int_equal(stacks_show(stacks, &thread), 0);
	t = tick_end(model);
	assert_int_equal(said(t, METRIC_MINOR_FAULTS, A, 0).weight, 3);
	assert_int_equal(said(t, METRIC_MINOR_FAULTS, B, 0).weight, 5);
	assert_int_equal(said(t, METRIC_MINOR_FAULTS, 0, 0).weight, 0);
	tick_put(t);
}

/* Two threads had a slot in one refresh: each has its own samples, and the second one does not wait where the first one was. */
TEST(stacks, of_two_threads_in_one_slot)
{
	struct values v[2] = { { .v = { [METRIC_RUN] = SEC / 2 } }, { .v = { [METRIC_RUN] = SEC / 4, [METRIC_RUNQ] = SEC / 4 } } };
	struct stacks_thread threads[2] = {
		{ .slot = 1, .tid = 1, .values = &v[0], .from = 9 * SEC, .until = 9 * SEC + SEC / 2 },
		{ .slot = 1, .tid = 2, .values = &v[1], .from = 9 * SEC + SEC / 2, .after = 9 * SEC + SEC / 2, .runq_ns = SEC / 4 },
	};
	const struct tick *t;

	begin_with(30 * SEC, 256 << 20);
	write_event((struct stack_event){ .at = 9 * SEC + SEC / 4, .weight = 1, .kind = STACK_SAMPLE }, A);
	write_event((struct stack_event){ .at = 10 * SEC, .weight = 1, .tid = 2, .runq_ns = SEC / 4, .kind = STACK_SAMPLE }, B);
	assert_int_equal(stacks_drain(stacks), 0);
	tick_begin(model);
	for (int i = 1; i >= 0; i--) { /* who ended can be shown later */
		threads[i].life = tick_life(model, threads[i].tid, "test", NULL);
		assert_int_equal(stacks_show(stacks, &threads[i]), 0);
	}
	t = tick_end(model);
	assert_int_equal(said(t, METRIC_RUN, A, 1).weight, SEC / 2);
	assert_int_equal(said(t, METRIC_RUN, B, 2).weight, SEC / 4);
	assert_int_equal(said(t, METRIC_RUNQ, 0, 2).weight, SEC / 4);
	tick_put(t);
}

/* The stack before a wait is that of the thread itself, not of the one that had its slot before. */
TEST(stacks, a_wait_has_no_stack_of_another_thread)
{
	for (pid_t next = 1; next <= 2; next++) {
		struct values ran = { .v = { [METRIC_RUN] = SEC / 2 } }, waited = { .v = { [METRIC_RUNQ] = SEC / 4 } };
		struct stacks_thread thread = { .slot = 1, .tid = 1, .values = &ran, .from = 9 * SEC };
		struct said near;
		const struct tick *t;

		begin_with(30 * SEC, 256 << 20);
		write_event((struct stack_event){ .at = 10 * SEC, .weight = 1, .kind = STACK_SAMPLE }, A);
		assert_int_equal(stacks_drain(stacks), 0);
		tick_begin(model);
		thread.life = tick_life(model, 1, "test", NULL);
		assert_int_equal(stacks_show(stacks, &thread), 0);
		stacks_end(stacks);
		tick_put(tick_end(model));
		thread = (struct stacks_thread){ .slot = 1, .tid = next, .values = &waited, .from = 10 * SEC, .runq_ns = SEC / 4 };
		tick_begin(model);
		thread.life = tick_life(model, next, "test", NULL);
		assert_int_equal(stacks_show(stacks, &thread), 0);
		stacks_end(stacks);
		t = tick_end(model);
		near = said(t, METRIC_RUNQ, A, 0);
		assert_int_equal(near.weight, next == 1 ? SEC / 4 : 0);
		assert_int_equal(said(t, METRIC_RUNQ, 0, 0).weight, next == 1 ? 0 : SEC / 4);
		tick_put(t);
		end_one();
	}
}

/* Samples in interrupts are of the time that these took, except for softirqs in ksoftirqd, which are its own time. */
TEST(stacks, samples_in_interrupts)
{
	for (int softirqs = 0; softirqs < 2; softirqs++) {
		struct values v = { .v = { [METRIC_RUN] = 800, [METRIC_IRQ] = 200 } };
		struct stacks_thread thread = { .slot = 1, .tid = 1, .values = &v, .from = 9 * SEC, .softirqs = softirqs };
		const struct tick *t;

		begin_with(30 * SEC, 256 << 20);
		write_event((struct stack_event){ .at = 9 * SEC, .weight = 1, .kind = STACK_SAMPLE, .irq = 3 }, A);
		write_event((struct stack_event){ .at = 10 * SEC, .weight = 1, .kind = STACK_SAMPLE }, B);
		assert_int_equal(stacks_drain(stacks), 0);
		tick_begin(model);
		thread.life = tick_life(model, 1, "test", NULL);
		assert_int_equal(stacks_show(stacks, &thread), 0);
		stacks_end(stacks);
		t = tick_end(model);
		assert_int_equal(said(t, METRIC_IRQ, A, 0).weight, softirqs ? 0 : 200);
		assert_int_equal(said(t, METRIC_RUN, A, 0).weight, softirqs ? 400 : 0);
		assert_int_equal(said(t, METRIC_RUN, B, 0).weight, softirqs ? 400 : 800);
		tick_put(t);
		end_one();
	}
}

/* Few events are left for the next tick; many, or a half that is half full, are not, until the other half is clear. */
TEST(stacks, many_do_not_wait_for_the_next_tick)
{
	uint32_t id;

	begin_with(0, 0);
	id = write_stack(1ULL << 32, 5);
	write_sample(id);
	assert_false(stacks_due(stacks));
	for (int i = 0; i < STACK_EVENTS / 2; i++)
		write_sample(id);
	assert_true(stacks_due(stacks));
	assert_int_equal(stacks_drain(stacks), 0);
	assert_false(stacks_due(stacks));
	for (uint64_t i = 0; i < HALF / 2; i++)
		write_stack((2ULL << 32) + i, 3);
	for (int i = 0; i < 2; i++) {
		assert_true(stacks_due(stacks));
		assert_int_equal(stacks_drain(stacks), 0);
		usleep(11000);
	}
	assert_false(stacks_due(stacks));
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test_setup_teardown(stacks_a_refresh_has_a_limit, begin, end),
		  cmocka_unit_test_setup_teardown(stacks_what_the_window_has_keeps_its_stack_however_often_the_dictionary_turns, begin,
						  end),
		  cmocka_unit_test_setup_teardown(stacks_what_is_held_stays_when_it_left_the_window, begin, end),
		  cmocka_unit_test_setup_teardown(stacks_what_left_the_window_makes_room, begin, end),
		  cmocka_unit_test_setup_teardown(stacks_above_what_they_may_take_the_oldest_go_and_are_counted, begin, end),
		  cmocka_unit_test_setup_teardown(stacks_events_that_were_overwritten_are_counted, begin, end),
		  cmocka_unit_test_setup_teardown(stacks_a_stack_that_is_gone_is_said_to_be, begin, end),
		  cmocka_unit_test_setup_teardown(stacks_a_block_has_its_part_of_a_refresh, begin, end),
		  cmocka_unit_test_setup_teardown(stacks_faults_are_shared, begin, end),
		  cmocka_unit_test_setup_teardown(stacks_of_two_threads_in_one_slot, begin, end),
		  cmocka_unit_test_setup_teardown(stacks_a_wait_has_no_stack_of_another_thread, begin, end),
		  cmocka_unit_test_setup_teardown(stacks_samples_in_interrupts, begin, end),
		  cmocka_unit_test_setup_teardown(stacks_many_do_not_wait_for_the_next_tick, begin, end));
}
