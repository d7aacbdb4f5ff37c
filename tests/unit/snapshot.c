/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "export/capture.h"
#include "export/trace_index.h"
#include "record/keep.h"
#include "record/snapshot.h"
#include "save/kept.h"

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
		(at & (LAP_TIME - 1)) | ring_kind_word(kind, detail) | lap,
		first | second << RING_VALUE_BITS | lap,
	};
}

/* One more slot of an event. */
static void put_values(uint64_t third, uint64_t fourth)
{
	uint64_t lap = head / SLOTS << RING_LAP_SHIFT;

	slots[head++ % SLOTS] = (struct ring_slot){ ring_values_word(third) | lap, fourth | lap };
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

/* While systop is stopped or the host is suspended, there are no marks. */
TEST(snapshot, times_are_unknown_after_too_long_without_marks)
{
	const uint64_t day = 86400000000000ULL, minutes = 60000000000ULL;
	struct event_mark marks[] = { { day, 0 }, { day + 15 * minutes, 2 }, { day + 35 * minutes, 5 } };
	struct snapshot_ring ring = { slots, SLOTS, &head, 0, 0, marks, ARRAY_SIZE(marks), day + 55 * minutes };
	struct event_loss loss = { 0 };

	put_switch(day + 1, 1, 2);
	put_switch(day + 14 * minutes, 2, 3);
	put_switch(day + 16 * minutes, 3, 4); /* or 34 minutes */
	put(day + 34 * minutes, RING_BLOCK, 4, 0, 0);
	put_values(1, 1);
	put_switch(day + 36 * minutes, 4, 5);
	marks[1].at = day + 18 * minutes; /* nearly as long as events can tell, but marks are set a little late */
	ring.end = head;
	nr_got = 0;
	assert_int_equal(snapshot_read(&ring, 0, keep, NULL, &loss), 0);
	assert_int_equal(nr_got, 2);
	assert_int_equal(got[0].other, 3);
	marks[1].at = day + 15 * minutes;
	loss = (struct event_loss){ 0 };
	nr_got = 0;
	assert_int_equal(snapshot_read(&ring, 0, keep, NULL, &loss), 0);
	assert_int_equal(nr_got, 2);
	assert_true(got[0].at == day + 1);
	assert_true(got[1].at == day + 14 * minutes);
	assert_int_equal(loss.torn, 3);
	assert_int_equal(loss.gaps, 0);
	ring.at = day + 45 * minutes;
	nr_got = 0;
	assert_int_equal(snapshot_read(&ring, 0, keep, NULL, &loss), 0);
	assert_int_equal(nr_got, 3);
	assert_true(got[2].at == day + 36 * minutes);
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

/* An interrupt neither begins nor ends in the time of another thread. */
TEST(snapshot, an_interrupt_is_between_two_switches)
{
	put_switch(1100, 1, 2);
	put(1250, RING_IRQ, 3, ring_span(500), 2);
	put_switch(1300, 2, 3);
	put(1350, RING_IRQ, 3, ring_span(20), 3);
	put(1450, RING_IRQ, 3, ring_span(80), 3);
	put_switch(1400, 3, 4);
	read_from(&start, 1, 0);
	assert_int_equal(nr_got, 6);
	assert_int_equal(got[1].at, 1250);
	assert_int_equal(got[1].off_ns, 150);
	assert_int_equal(got[3].off_ns, 20);
	assert_int_equal(got[4].at, 1400);
	assert_int_equal(got[4].off_ns, 30);
}

/* A switch to a thread out of scope does not tell which: any may leave. */
TEST(snapshot, an_outsider_is_no_gap)
{
	put(1100, RING_SWITCH, RING_SLEEP | RING_OTHER, 0, 1);
	put_switch(1200, 77, 3);
	put_switch(1300, 3, 4);
	assert_int_equal(read_from(&start, 1, 0).gaps, 0);
	assert_int_equal(nr_got, 3);
}

TEST(snapshot, a_block_has_its_times)
{
	put_switch(1100, 1, 2);
	put(1100, RING_BLOCK, 2 | RING_IN_D, 11, 12);
	put_values(3000000123, 2000);
	read_from(&start, 1, 0);
	assert_int_equal(nr_got, 2);
	assert_true(got[1].in_d);
	assert_int_equal(got[1].user, 11);
	assert_int_equal(got[1].kernel, 12);
	assert_int_equal(got[1].off_ns, 3000000123);
	assert_int_equal(got[1].blocked_ns, 2000);
}

/* Off the CPU for longer than the event's third value has bits for. */
TEST(snapshot, a_block_of_months)
{
	const uint64_t day = 86400000000000ULL, minute = 60000000000ULL;
	const struct event_mark mark = { 60 * day, 0 };

	put(60 * day + minute, RING_BLOCK, 2 | RING_IN_D, 11, 12);
	put_values(60 * day + minute, 60 * day);
	put(60 * day + minute, RING_BLOCK, 3, 11, 12);
	put_values(53 * day, 52 * day); /* only with its wait for a CPU */
	read_from(&mark, 1, 0);
	assert_int_equal(nr_got, 2);
	assert_int_equal(got[0].at, 60 * day + minute);
	assert_int_equal(got[0].off_ns, 60 * day + minute);
	assert_int_equal(got[0].blocked_ns, 60 * day);
	assert_int_equal(got[1].off_ns, 53 * day);
	assert_int_equal(got[1].blocked_ns, 52 * day);
}

/* Follows the event's row: its length, and its recorded values. */
TEST(snapshot, an_event_that_only_has_a_row)
{
	const uint64_t large = (1ULL << 52) - 1;

	put_switch(1100, 1, 2);
	put(1300, RING_GAP, 0, 2, 0);
	put_values(150, (1ULL << 56) - 1);
	put(1400, RING_GAP, 0, 2, 0);
	put_values(large, 0);
	put_switch(1500, 2, 3);
	assert_int_equal(read_from(&start, 1, 0).torn, 0);
	assert_int_equal(nr_got, 4);
	assert_int_equal(got[1].kind, RING_GAP);
	assert_int_equal(got[1].at, 1300);
	assert_int_equal(got[1].off_ns, 150);
	assert_int_equal(got[1].values[0], 2);
	assert_int_equal(got[1].values[3], (1ULL << 56) - 1);
	assert_int_equal(got[2].values[2], large);
	assert_int_equal(got[2].off_ns, 1400); /* not before the host was started */
}

/* An event with missing slots is skipped. */
TEST(snapshot, parts_of_events_are_left_out)
{
	put_values(1, 2); /* its first slot was overwritten: not counted as lost here */
	put_switch(1100, 1, 2);
	put_values(1, 2);
	put(1200, RING_BLOCK, 2, 11, 12);
	put(1300, RING_BLOCK, 2, 13, 14);
	put_values(100, 50);
	put(1400, RING_BLOCK, 2, 15, 16);
	put_values(100, 50);
	slots[head - 1].b ^= 1ULL << RING_LAP_SHIFT;
	put_switch(1500, 2, 3);
	assert_int_equal(read_from(&start, 1, 0).torn, 3);
	assert_int_equal(nr_got, 3);
	assert_int_equal(got[1].kernel, 14);
	assert_int_equal(got[2].kind, RING_SWITCH);
}

/* A trace loses nothing from before its beginning: neither from a copy, during which the ring continued, nor from the ring itself;
 * what the ring overwrites afterwards is lost. */
TEST(snapshot, a_trace_loses_nothing_from_before_its_beginning)
{
	for (int copied = 0; copied < 2; copied++) {
		struct trace_index_maker *m = trace_index_maker(&(struct trace_index){
			.end = 2000, .clocks = { 2000, 2000, 2000, 2000 }, .ring_slots = SLOTS });
		struct keep_ring ring = { slots, &head, 0, 20, copied ? 22 : 0 };
		struct kept kept = { NULL, &ring };
		struct event_loss loss = { 0 };
		struct capture c = { 0 };
		uint64_t since;
		int fd;

		empty(NULL);
		assert_non_null(m);
		trace_index_cpu(m, &(struct trace_index_cpu){ .head = ring.end, .nr = 1, .online = 1 }, &start);
		fd = trace_index_put(m);
		kept.index = trace_index_open(fd);
		assert_non_null(kept.index);
		for (int i = 0; i < 22; i++)
			put_switch(1100 + i, i, i + 1);
		kept_capture(&c, &kept);
		since = c.since(c.arg, 0);
		assert_int_equal(since, copied ? 1106 : 1107);
		nr_got = 0;
		assert_int_equal(c.events(c.arg, 0, since, keep, NULL, &loss), 0);
		assert_int_equal(loss.overwritten + loss.torn, 0);
		assert_int_equal(nr_got, 1120 - since);
		for (int i = 22; i < 27 && !copied; i++)
			put_switch(1100 + i, i, i + 1);
		assert_int_equal(c.events(c.arg, 0, since, keep, NULL, &loss), 0);
		assert_int_equal(loss.overwritten, copied ? 0 : 4);
		trace_index_close(kept.index);
		trace_index_free(m);
		close(fd);
	}
}

/* More kinds than 4 bits can number. */
TEST(snapshot, kinds_are_many)
{
	for (uint32_t kind = 1; kind < 1 << RING_KIND_LONG_BITS; kind++) {
		uint32_t detail = kind < RING_KIND_VALUES ? 0xabc : 0xd;
		uint64_t word = ring_kind_word(kind, detail);

		assert_int_equal(ring_kind(word), kind);
		assert_int_equal(ring_detail(word), detail);
		assert_false(word & ((1ULL << RING_TIME_BITS) - 1) || word >> RING_LAP_SHIFT);
		assert_int_not_equal(word >> RING_KIND_SHIFT & 15, RING_KIND_VALUES);
	}
	put(1100, (enum ring_kind)200, 0, 1, 2); /* of a later version */
	assert_int_equal(read_from(&start, 1, 0).torn, 1);
	assert_int_equal(nr_got, 0);
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
		  cmocka_unit_test_setup(snapshot_times_are_unknown_after_too_long_without_marks, empty),
		  cmocka_unit_test_setup(snapshot_slots_from_before_the_first_mark_do_not_exist, empty),
		  cmocka_unit_test_setup(snapshot_what_is_between_two_switches_stays_there, empty),
		  cmocka_unit_test_setup(snapshot_an_interrupt_is_between_two_switches, empty),
		  cmocka_unit_test_setup(snapshot_an_outsider_is_no_gap, empty),
		  cmocka_unit_test_setup(snapshot_a_block_has_its_times, empty),
		  cmocka_unit_test_setup(snapshot_a_block_of_months, empty),
		  cmocka_unit_test_setup(snapshot_an_event_that_only_has_a_row, empty),
		  cmocka_unit_test_setup(snapshot_parts_of_events_are_left_out, empty),
		  cmocka_unit_test_setup(snapshot_a_trace_loses_nothing_from_before_its_beginning, empty),
		  cmocka_unit_test_setup(snapshot_kinds_are_many, empty),
		  cmocka_unit_test_setup(snapshot_a_span_is_exact_to_a_ten_millionth, empty));
}
