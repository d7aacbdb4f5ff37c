/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <string.h>

#include "record/snapshot.h"

#define SLOTS 16
#define LAP_TIME (1ULL << RING_TIME_BITS)

/* A ring, as the programs write it. */
static struct ring_slot slots[SLOTS];
static uint64_t head;

static struct event got[64];
static size_t nr_got;

static void put(uint64_t at, enum ring_kind kind, uint32_t detail, uint64_t first, uint64_t second)
{
	uint64_t lap = head / SLOTS << RING_LAP_SHIFT;

	slots[head++ % SLOTS] = (struct ring_slot){
		(at & (LAP_TIME - 1)) | (uint64_t)kind << RING_KIND_SHIFT | (uint64_t)detail << RING_DETAIL_SHIFT | lap,
		first | second << RING_VALUE_BITS | lap,
	};
}

static void put_switch(uint64_t at, uint32_t prev, uint32_t next)
{
	put(at, RING_SWITCH, RING_SLEEP, next, prev);
}

static int keep(void *arg, const struct event *e)
{
	(void)arg;
	got[nr_got++] = *e;
	return 0;
}

static struct event_loss read_from(const struct event_mark *marks, uint32_t nr_marks, uint64_t from)
{
	struct snapshot_ring ring = { slots, SLOTS, &head, 0, head, marks, nr_marks };
	struct event_loss loss = { 0 };

	nr_got = 0;
	assert_int_equal(snapshot_read(&ring, from, keep, NULL, &loss), 0);
	return loss;
}

static int empty(void **state)
{
	(void)state;
	memset(slots, 0, sizeof(slots));
	head = 0;
	return 0;
}

static const struct event_mark start = { 1000, 0 };

TEST(snapshot, a_switch_is_what_was_written)
{
	struct event_loss loss;

	put(1100, RING_SWITCH, RING_D | RING_OTHER, 4194303, 17);
	loss = read_from(&start, 1, 0);
	assert_int_equal(nr_got, 1);
	assert_int_equal(got[0].at, 1100);
	assert_int_equal(got[0].kind, RING_SWITCH);
	assert_int_equal(got[0].state, RING_D);
	assert_true(got[0].outside);
	assert_int_equal(got[0].tid, 4194303);
	assert_int_equal(got[0].other, 17);
	assert_int_equal(loss.torn + loss.overwritten + loss.gaps, 0);
}

TEST(snapshot, a_waking_has_the_cpu_in_two_parts)
{
	put(1100, RING_WAKING, 2, 5 | 0x2aU << RING_TID_BITS, 9 | 0x3fU << RING_TID_BITS);
	put_switch(1200, 1, 2);
	read_from(&start, 1, 0);
	assert_int_equal(got[0].tid, 5);
	assert_int_equal(got[0].other, 9);
	assert_int_equal(got[0].last_cpu, 0x2a | 0x3f << 6);
	assert_int_equal(got[0].context, 2);
}

TEST(snapshot, of_a_ring_that_went_round_the_last_slots_are_there)
{
	for (int i = 0; i < 40; i++)
		put_switch(1100 + i, i, i + 1);
	read_from(&start, 1, 0);
	assert_int_equal(nr_got, SLOTS);
	assert_int_equal(got[0].other, 24);
	assert_int_equal(got[SLOTS - 1].tid, 40);
}

TEST(snapshot, half_written_slots_are_counted_and_left_out)
{
	struct event_loss loss;

	for (int i = 0; i < 20; i++)
		put_switch(1100 + i, i, i + 1);
	slots[18 % SLOTS].b ^= 1ULL << RING_LAP_SHIFT;
	loss = read_from(&start, 1, 0);
	assert_int_equal(nr_got, SLOTS - 1);
	assert_int_equal(loss.torn, 1);
	assert_int_equal(loss.gaps, 0); /* the slots after it do not count as gaps */
}

TEST(snapshot, a_switch_that_was_not_seen_is_a_gap)
{
	struct event_loss loss;

	put_switch(1100, 1, 2);
	put_switch(1200, 3, 4);
	put_switch(1300, 4, 5);
	loss = read_from(&start, 1, 0);
	assert_int_equal(loss.gaps, 1);
}

TEST(snapshot, times_are_whole_by_the_marks)
{
	/* Quiet for longer than 40 bits can count: the first slot is very old. */
	struct event_mark marks[] = { { 1000, 0 }, { 2000, 1 }, { 5 * LAP_TIME - 50, 1 }, { 5 * LAP_TIME + 50, 3 } };

	put_switch(1500, 1, 2);
	put_switch(5 * LAP_TIME - 10, 2, 3);
	put_switch(5 * LAP_TIME + 10, 3, 4);
	read_from(marks, ARRAY_SIZE(marks), 0);
	assert_int_equal(got[0].at, 1500);
	assert_true(got[1].at == 5 * LAP_TIME - 10);
	assert_true(got[2].at == 5 * LAP_TIME + 10);
}

TEST(snapshot, slots_from_before_the_first_mark_do_not_exist)
{
	struct event_mark mark = { 1000, 2 };

	put_switch(5, 1, 2);
	put_switch(6, 2, 3);
	put_switch(1010, 3, 4);
	read_from(&mark, 1, 0);
	assert_int_equal(nr_got, 1);
	assert_int_equal(got[0].tid, 4);
}

TEST(snapshot, what_is_between_two_switches_stays_there)
{
	put_switch(1100, 1, 2);
	put(1090, RING_WAKING, 0, 7, 2);
	put(1250, RING_WAKING, 0, 8, 2);
	put_switch(1200, 2, 3);
	read_from(&start, 1, 0);
	assert_int_equal(nr_got, 4);
	assert_int_equal(got[1].at, 1100);
	assert_int_equal(got[2].at, 1200);
	assert_int_equal(got[3].kind, RING_SWITCH);
}

TEST(snapshot, a_block_has_its_times)
{
	put_switch(1100, 1, 2);
	put(1100, RING_BLOCK, 2 | RING_IN_D, 11, 12);
	put(1100, RING_BLOCK_TIME, 0, ring_span(3000000000), ring_span(2000));
	read_from(&start, 1, 0);
	assert_int_equal(nr_got, 2);
	assert_true(got[1].in_d);
	assert_int_equal(got[1].user, 11);
	assert_int_equal(got[1].kernel, 12);
	assert_true(got[1].off_ns > 2999999000 && got[1].off_ns <= 3000000000);
	assert_int_equal(got[1].blocked_ns, 2000);
}

TEST(snapshot, a_span_is_exact_to_a_ten_millionth)
{
	for (uint64_t ns = 1; ns < 1ULL << 53; ns = ns * 3 + 1) {
		uint64_t back = ring_span_ns(ring_span(ns));

		assert_true(back <= ns && ns - back <= ns / 2000000);
		assert_true(ring_span(ns) <= RING_VALUE_MASK);
	}
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test_setup(snapshot_a_switch_is_what_was_written, empty),
		  cmocka_unit_test_setup(snapshot_a_waking_has_the_cpu_in_two_parts, empty),
		  cmocka_unit_test_setup(snapshot_of_a_ring_that_went_round_the_last_slots_are_there, empty),
		  cmocka_unit_test_setup(snapshot_half_written_slots_are_counted_and_left_out, empty),
		  cmocka_unit_test_setup(snapshot_a_switch_that_was_not_seen_is_a_gap, empty),
		  cmocka_unit_test_setup(snapshot_times_are_whole_by_the_marks, empty),
		  cmocka_unit_test_setup(snapshot_slots_from_before_the_first_mark_do_not_exist, empty),
		  cmocka_unit_test_setup(snapshot_what_is_between_two_switches_stays_there, empty),
		  cmocka_unit_test_setup(snapshot_a_block_has_its_times, empty),
		  cmocka_unit_test_setup(snapshot_a_span_is_exact_to_a_ten_millionth, empty));
}
