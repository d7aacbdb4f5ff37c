/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <malloc.h>
#include <time.h>

#include "query/source.h"
#include "query/subsecond.h"

#define SEC 1000000000ULL
#define MS 1000000ULL

/* Events of the recorder, CPU by CPU. */
struct recorded {
	const struct recorded_event {
		int cpu;
		struct event e;
	} *at;
	size_t nr;
	uint64_t since;
};

static int report(void *arg, uint64_t from, uint64_t to, uint64_t *since,
		int (*fn)(void *fn_arg, int cpu, const struct event *e), void *fn_arg)
{
	const struct recorded *r = arg;
	int err = 0;

	*since = r->since > from ? r->since : from;
	for (size_t i = 0; i < r->nr && !err; i++)
		if (r->at[i].e.at >= from && r->at[i].e.at < to)
			err = fn(fn_arg, r->at[i].cpu, &r->at[i].e);
	return err;
}

#define READ(s, events, until)                                                                                         \
	do {                                                                                                           \
		struct recorded r_ = { events, ARRAY_SIZE(events), 0 };                                                \
		const struct source h_ = { .recorded_events = report, .arg = &r_ };                                        \
		assert_int_equal(subsecond_read(s, &h_, until), 0);                                                    \
	} while (0)

TEST(subsecond, samples_by_their_time)
{
	static const struct recorded_event events[] = {
		{ 0, { .at = 100 * SEC, .kind = RING_SAMPLE, .tid = 7 } },
		{ 0, { .at = 100 * SEC + 4 * MS, .kind = RING_SAMPLE, .tid = 7 } },
		{ 1, { .at = 101 * SEC + 999 * MS, .kind = RING_SAMPLE, .tid = 8 } },
		{ 1, { .at = 102 * SEC, .kind = RING_SAMPLE, .tid = 8 } },
		{ 1, { .at = 101 * SEC, .kind = RING_SWITCH, .tid = 8 } },
	};
	struct subsecond s = { 0 };

	assert_int_equal(subsecond_start(&s, SUBSECOND_CPU, 100), 0);
	READ(&s, events, 102);
	assert_int_equal(subsecond_sum(&s, 100, 0, 1), 2);
	assert_int_equal(subsecond_sum(&s, 100, 1, SUBSECOND_PARTS - 1), 0);
	assert_int_equal(subsecond_sum(&s, 101, SUBSECOND_PARTS - 1, 1), 1);
	assert_true(subsecond_known(&s, 101));
	assert_false(subsecond_known(&s, 102));
	READ(&s, events, 103); /* only what is new */
	assert_int_equal(subsecond_sum(&s, 100, 0, 1), 2);
	assert_int_equal(subsecond_sum(&s, 102, 0, 1), 1);
	subsecond_fini(&s);
}

/* Woken on one CPU, seen running on another, which comes first; preempted at once, until the next second. */
TEST(subsecond, waits_from_one_cpu_to_another)
{
	static const struct recorded_event events[] = {
		{ 0, { .at = 10 * SEC + 12 * MS, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } },
		{ 0, { .at = 10 * SEC + 990 * MS, .kind = RING_SWITCH, .tid = 8, .other = 7,
		       .state = RING_PREEMPTED } },
		{ 0, { .at = 11 * SEC + 5 * MS, .kind = RING_SWITCH, .tid = 7, .other = 8, .state = RING_SLEEP } },
		{ 1, { .at = 10 * SEC + 2 * MS, .kind = RING_WAKING, .tid = 7 } },
		{ 2, { .at = 10 * SEC + 3 * MS, .kind = RING_WAKING, .tid = 7 } }, /* it waits already */
	};
	struct subsecond s = { 0 };

	assert_int_equal(subsecond_start(&s, SUBSECOND_RUNQ, 10), 0);
	READ(&s, events, 11);
	assert_int_equal(subsecond_sum(&s, 10, 0, 1), 3 * MS);
	assert_int_equal(subsecond_sum(&s, 10, 1, 1), 5 * MS);
	assert_int_equal(subsecond_sum(&s, 10, 2, 1), 2 * MS);
	assert_int_equal(subsecond_sum(&s, 10, 3, SUBSECOND_PARTS - 3), 0);
	READ(&s, events, 12); /* the wait that went on is counted when it ends */
	assert_int_equal(subsecond_sum(&s, 10, 3, SUBSECOND_PARTS - 3), 10 * MS);
	assert_int_equal(subsecond_sum(&s, 11, 0, 1), 5 * MS);
	subsecond_fini(&s);
}

/* A waking of a thread that runs, and sleeps after that, begins no wait, unless no other waking ends the sleep. */
TEST(subsecond, woken_while_it_runs)
{
	static const struct recorded_event events[] = {
		{ 0, { .at = 10 * SEC + 100 * MS, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } },
		{ 0, { .at = 10 * SEC + 110 * MS, .kind = RING_SWITCH, .tid = 0, .other = 7, .state = RING_SLEEP } },
		{ 0, { .at = 10 * SEC + 505 * MS, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } },
		{ 0, { .at = 10 * SEC + 600 * MS, .kind = RING_SWITCH, .tid = 0, .other = 7, .state = RING_SLEEP } },
		{ 0, { .at = 10 * SEC + 603 * MS, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } },
		{ 1, { .at = 10 * SEC + 105 * MS, .kind = RING_WAKING, .tid = 7 } },
		{ 1, { .at = 10 * SEC + 501 * MS, .kind = RING_WAKING, .tid = 7 } },
		{ 1, { .at = 10 * SEC + 599 * MS, .kind = RING_WAKING, .tid = 7 } },
	};
	struct subsecond s = { 0 };

	assert_int_equal(subsecond_start(&s, SUBSECOND_RUNQ, 10), 0);
	READ(&s, events, 11);
	assert_int_equal(subsecond_sum(&s, 10, 0, SUBSECOND_PARTS / 2), 0);
	assert_int_equal(subsecond_sum(&s, 10, 0, SUBSECOND_PARTS), 8 * MS);
	subsecond_fini(&s);
}

/* A waking of a thread that is preempted after that begins no wait, the preemption does. */
TEST(subsecond, woken_and_preempted)
{
	static const struct recorded_event events[] = {
		{ 0, { .at = 10 * SEC + 100 * MS, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } },
		{ 0, { .at = 10 * SEC + 200 * MS, .kind = RING_SWITCH, .tid = 8, .other = 7, .state = RING_PREEMPTED } },
		{ 0, { .at = 10 * SEC + 201 * MS, .kind = RING_SWITCH, .tid = 7, .other = 8, .state = RING_SLEEP } },
		{ 1, { .at = 10 * SEC + 105 * MS, .kind = RING_WAKING, .tid = 7 } },
	};
	struct subsecond s = { 0 };

	assert_int_equal(subsecond_start(&s, SUBSECOND_RUNQ, 10), 0);
	READ(&s, events, 11);
	assert_int_equal(subsecond_sum(&s, 10, 0, SUBSECOND_PARTS), 1 * MS);
	subsecond_fini(&s);
}

/* A new thread waits from its birth on. */
TEST(subsecond, born_on_another_cpu)
{
	static const struct recorded_event events[] = {
		{ 0, { .at = 10 * SEC + 107 * MS, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } },
		{ 1, { .at = 10 * SEC + 102 * MS, .kind = RING_NEW, .tid = 7, .other = 6 } },
	};
	struct subsecond s = { 0 };

	assert_int_equal(subsecond_start(&s, SUBSECOND_RUNQ, 10), 0);
	READ(&s, events, 11);
	assert_int_equal(subsecond_sum(&s, 10, 0, SUBSECOND_PARTS), 5 * MS);
	subsecond_fini(&s);
}

/* A thread that waited before a time that was not read does not wait forever. */
TEST(subsecond, more_than_it_keeps)
{
	static const struct recorded_event events[] = {
		{ 0, { .at = 10 * SEC + 900 * MS, .kind = RING_WAKING, .tid = 7 } },
		{ 0, { .at = 11 * SEC, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } },
		{ 0, { .at = 400 * SEC + 500 * MS, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } },
	};
	struct subsecond s = { 0 };

	assert_int_equal(subsecond_start(&s, SUBSECOND_RUNQ, 10), 0);
	READ(&s, events, 11);
	READ(&s, events, 401);
	assert_int_equal(subsecond_sum(&s, 399, 0, SUBSECOND_PARTS), 0);
	subsecond_fini(&s);
}

TEST(subsecond, d_state_until_it_was_woken)
{
	static const struct recorded_event events[] = {
		{ 0, { .at = 10 * SEC + 980 * MS, .kind = RING_SWITCH, .tid = 0, .other = 7, .state = RING_D } },
		{ 0, { .at = 10 * SEC + 981 * MS, .kind = RING_SWITCH, .tid = 8, .other = 0, .state = RING_IDLE } },
		{ 0, { .at = 10 * SEC + 982 * MS, .kind = RING_SWITCH, .tid = 0, .other = 8, .state = RING_SLEEP } },
		{ 0, { .at = 11 * SEC + 10 * MS, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } },
		{ 0, { .at = 11 * SEC + 10 * MS, .kind = RING_BLOCK, .in_d = true, .off_ns = 30 * MS,
		       .blocked_ns = 25 * MS } },
		{ 1, { .at = 11 * SEC + 5 * MS, .kind = RING_WAKING, .tid = 7 } },
		{ 1, { .at = 11 * SEC + 6 * MS, .kind = RING_WAKING, .tid = 8 } },
	};
	struct subsecond s = { 0 };

	assert_int_equal(subsecond_start(&s, SUBSECOND_D, 10), 0);
	READ(&s, events, 12);
	assert_int_equal(subsecond_sum(&s, 10, 0, SUBSECOND_PARTS), 20 * MS);
	assert_int_equal(subsecond_sum(&s, 11, 0, 1), 5 * MS);
	assert_int_equal(subsecond_sum(&s, 11, 1, SUBSECOND_PARTS - 1), 0);
	/* The switch to the thread is not read, but the block has its length. */
	assert_int_equal(subsecond_start(&s, SUBSECOND_D, 11), 0);
	READ(&s, events, 12);
	assert_int_equal(subsecond_sum(&s, 11, 0, SUBSECOND_PARTS), 5 * MS);
	subsecond_fini(&s);
}

/* One ring has older events than the other: of what began before both are complete, each D state counts once. */
TEST(subsecond, d_states_that_began_before_all_rings_are_complete)
{
	static const struct recorded_event events[] = {
		{ 0, { .at = 60 * SEC, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } },
		{ 0, { .at = 60 * SEC, .kind = RING_BLOCK, .in_d = true, .off_ns = 45 * SEC, .blocked_ns = 45 * SEC } },
		{ 1, { .at = 25 * SEC, .kind = RING_SWITCH, .tid = 0, .other = 8, .state = RING_D } },
		{ 1, { .at = 50 * SEC, .kind = RING_WAKING, .tid = 8 } },
		{ 1, { .at = 50 * SEC, .kind = RING_SWITCH, .tid = 8, .other = 0, .state = RING_IDLE } },
		{ 1, { .at = 50 * SEC, .kind = RING_BLOCK, .in_d = true, .off_ns = 25 * SEC, .blocked_ns = 25 * SEC } },
	};
	struct recorded r = { events, ARRAY_SIZE(events), 30 * SEC };
	const struct source host = { .recorded_events = report, .arg = &r };
	struct subsecond s = { 0 };

	assert_int_equal(subsecond_start(&s, SUBSECOND_D, 10), 0);
	assert_int_equal(subsecond_read(&s, &host, 40), 0); /* neither has ended */
	assert_int_equal(subsecond_read(&s, &host, 61), 0);
	assert_int_equal(subsecond_sum(&s, 14, 0, SUBSECOND_PARTS), 0);
	assert_int_equal(subsecond_sum(&s, 35, 0, SUBSECOND_PARTS), 2 * SEC);
	assert_int_equal(subsecond_sum(&s, 55, 0, SUBSECOND_PARTS), 1 * SEC);
	subsecond_fini(&s);
}

/* The budget gives only some D states a stack, and with it a block. A D state whose waking came just before it was none. */
TEST(subsecond, d_states_without_a_block)
{
	static struct recorded_event events[3002];
	size_t nr = 0;
	struct subsecond s = { 0 };

	for (uint64_t at = 10 * SEC; nr < 3000; at += MS) {
		events[nr++] = (struct recorded_event){
			0, { .at = at, .kind = RING_SWITCH, .tid = 0, .other = 7, .state = RING_D } };
		events[nr++] = (struct recorded_event){ 0, { .at = at + MS / 4, .kind = RING_WAKING, .tid = 7 } };
		events[nr++] = (struct recorded_event){
			0, { .at = at + MS / 2, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } };
	}
	events[nr++] = (struct recorded_event){
		0, { .at = 11 * SEC, .kind = RING_SWITCH, .tid = 0, .other = 7, .state = RING_D } };
	events[nr++] = (struct recorded_event){
		0, { .at = 11 * SEC + MS, .kind = RING_SWITCH, .tid = 7, .other = 0, .state = RING_IDLE } };
	assert_int_equal(subsecond_start(&s, SUBSECOND_D, 10), 0);
	READ(&s, events, 12);
	assert_int_equal(subsecond_sum(&s, 10, 0, SUBSECOND_PARTS), 250 * MS);
	assert_int_equal(subsecond_sum(&s, 11, 0, SUBSECOND_PARTS), 0);
	subsecond_fini(&s);
}

/* A year in D state: the seconds that are kept are full, and the others are not walked. */
TEST(subsecond, d_states_longer_than_it_keeps)
{
	const uint64_t began = 2 * SEC, from = 365 * 86400ULL, until = from + SUBSECOND_SECONDS;
	const struct recorded_event events[] = {
		{ 0, { .at = until * SEC - 1, .kind = RING_BLOCK, .in_d = true, .off_ns = until * SEC - 1 - began,
		       .blocked_ns = until * SEC - 1 - began } },
	};
	struct subsecond s = { 0 };
	clock_t before;

	assert_int_equal(subsecond_start(&s, SUBSECOND_D, from - 1), 0);
	before = clock();
	READ(&s, events, until);
	assert_true(clock() - before < CLOCKS_PER_SEC);
	for (uint64_t second = from; second < until; second++)
		assert_int_equal(subsecond_sum(&s, second, 0, SUBSECOND_PARTS), SEC - (second == until - 1));
	subsecond_fini(&s);
}

/* Events that the recorder has lost are unknown, and so is what is too old to be kept. */
TEST(subsecond, what_is_not_known)
{
	static const struct recorded_event events[] = {
		{ 0, { .at = 12 * SEC, .kind = RING_SAMPLE, .tid = 7 } },
	};
	struct recorded r = { events, 1, 11 * SEC + 1 };
	const struct source host = { .recorded_events = report, .arg = &r };
	struct subsecond s = { 0 };

	assert_int_equal(subsecond_start(&s, SUBSECOND_CPU, 10), 0);
	assert_int_equal(subsecond_read(&s, &host, 13), 0);
	assert_false(subsecond_known(&s, 10));
	assert_false(subsecond_known(&s, 11));
	assert_true(subsecond_known(&s, 12));
	assert_int_equal(subsecond_read(&s, &host, 12 + SUBSECOND_SECONDS), 0);
	assert_true(subsecond_known(&s, 12));
	assert_int_equal(subsecond_read(&s, &host, 13 + SUBSECOND_SECONDS), 0);
	assert_false(subsecond_known(&s, 12));
	assert_int_equal(subsecond_sum(&s, 12, 0, 1), 0);
	subsecond_fini(&s);
}

#define MANY 100000

static int report_many(void *arg, uint64_t from, uint64_t to, uint64_t *since,
		       int (*fn)(void *fn_arg, int cpu, const struct event *e), void *fn_arg)
{
	int err = 0;

	(void)arg;
	*since = from;
	for (uint64_t i = 0; i < MANY && !err; i++)
		err = fn(fn_arg, 0, &(struct event){ .at = from + i * ((to - from) / MANY), .kind = RING_WAKING, .tid = 7 });
	return err;
}

/* Millions of events can be read at first, when the view is opened, which stays open. */
TEST(subsecond, memory_is_free_after_each_read)
{
	const struct source host = { .recorded_events = report_many };
	struct subsecond s = { 0 };
	struct mallinfo2 before, after;

	assert_int_equal(subsecond_start(&s, SUBSECOND_RUNQ, 10), 0);
	before = mallinfo2();
	assert_int_equal(subsecond_read(&s, &host, 20), 0);
	after = mallinfo2();
	assert_true(subsecond_known(&s, 19));
	/* Less is right, too: malloc() counts free blocks in its caches as used, and takes from them. */
	assert_within(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd, -MANY, MANY);
	subsecond_fini(&s);
}

TEST(subsecond, ranges)
{
	static const struct subsecond_range r = { 10, 12, 100 * MS, 200 * MS };
	static const struct {
		uint64_t from, until, want;
	} cases[] = {
		{ 0, 20 * SEC, 300 * MS },
		{ 10 * SEC + 150 * MS, 10 * SEC + 170 * MS, 20 * MS },
		{ 10 * SEC + 150 * MS, 11 * SEC + 110 * MS, 60 * MS },
		{ 10 * SEC + 200 * MS, 11 * SEC + 100 * MS, 0 },
		{ 13 * SEC, 14 * SEC, 0 },
		{ 1 * SEC, 2 * SEC, 0 },
	};

	FOR_EACH(c, cases)
		assert_int_equal(subsecond_overlap(&r, c->from, c->until), c->want);
	assert_true(subsecond_has(&r, 12 * SEC + 100 * MS));
	assert_false(subsecond_has(&r, 12 * SEC + 200 * MS));
	assert_false(subsecond_has(&r, 13 * SEC + 100 * MS));
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(subsecond_samples_by_their_time),
		  cmocka_unit_test(subsecond_waits_from_one_cpu_to_another),
		  cmocka_unit_test(subsecond_woken_while_it_runs), cmocka_unit_test(subsecond_woken_and_preempted),
		  cmocka_unit_test(subsecond_born_on_another_cpu),
		  cmocka_unit_test(subsecond_more_than_it_keeps),
		  cmocka_unit_test(subsecond_d_state_until_it_was_woken),
		  cmocka_unit_test(subsecond_d_states_that_began_before_all_rings_are_complete),
		  cmocka_unit_test(subsecond_d_states_without_a_block),
		  cmocka_unit_test(subsecond_d_states_longer_than_it_keeps),
		  cmocka_unit_test(subsecond_what_is_not_known), cmocka_unit_test(subsecond_memory_is_free_after_each_read),
		  cmocka_unit_test(subsecond_ranges));
}
