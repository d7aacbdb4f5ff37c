/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <stdlib.h>
#include <time.h>

#include "area.h"
#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "collect/waits.h"
#include "model/wait.h"
#include "util/clock.h"
#include "util/online.h"

#define CPUS 64
#define THREADS 8192
#define DRAINS_A_SECOND 4

/* As a share of one CPU's time. */
#define BUDGET 0.02

/* The programs' data, and its reader. */
static struct cpu_area *areas[CPUS];
static struct cpu_slot *cpus;
static struct slot *threads;
static struct life *lives[THREADS];
static struct model *model;
static struct waits *waits;
static unsigned int seed;

static struct life *life_of(void *arg, uint32_t slot)
{
	(void)arg;
	return lives[slot];
}

static int begin(void **state)
{
	(void)state;
	seed = 1;
	for (int cpu = 0; cpu < CPUS; cpu++)
		areas[cpu] = calloc(1, sizeof(*areas[cpu]));
	cpus = calloc(CPUS, sizeof(*cpus));
	threads = calloc(THREADS, sizeof(*threads));
	model = model_new(0);
	for (int i = 1; i < THREADS; i++)
		lives[i] = tick_life(model, i, "thread", NULL);
	waits = waits_new(&(struct waits_memory){ areas, cpus, threads, CPUS, THREADS }, model, life_of, NULL);
	return !areas[CPUS - 1] || !cpus || !threads || !waits;
}

static int end(void **state)
{
	(void)state;
	waits_free(waits);
	for (int i = 1; i < THREADS; i++)
		model_life_end(model, lives[i]);
	model_free(model);
	for (int cpu = 0; cpu < CPUS; cpu++)
		free(areas[cpu]);
	free(cpus);
	free(threads);
	return 0;
}

static void report(int cpu, uint32_t slot, uint32_t by)
{
	struct wait_event *e = &areas[cpu]->wait_events[cpus[cpu].wait_events % WAIT_EVENTS];

	*e = (struct wait_event){ .slot = slot, .by = by, .a = 200000, .b = 0, .kind = WAIT_EVENT_BEHIND };
	cpus[cpu].wait_events++;
}

static uint32_t any_thread(void)
{
	return 1 + rand_r(&seed) % (THREADS - 1);
}

/* All events that @nr CPUs can pay for in a quarter of a second, each with a new pair of threads. */
static uint64_t overload(int nr)
{
	uint64_t each = SEC / DRAINS_A_SECOND / waits_price(nr);

	for (int cpu = 0; cpu < nr; cpu++)
		for (uint64_t i = 0; i < each; i++)
			report(cpu, any_thread(), any_thread());
	return nr * each;
}

static uint64_t cost_of_drain(void)
{
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	assert_int_equal(waits_drain(waits), 0);
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
}

/* Sums of what is reported for all threads, and the cost of showing it. */
static uint64_t show(uint64_t *told)
{
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID), cost;
	const struct tick *t;
	uint32_t taken;

	tick_begin(model);
	for (uint32_t slot = 1; slot < THREADS; slot++) {
		assert_int_equal(waits_take(waits, slot, &threads[slot], false, &taken), 0);
		assert_int_equal(waits_show(waits, taken, lives[slot]), 0);
	}
	waits_end(waits);
	cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
	t = tick_end(model);
	for (size_t i = 0; i < t->nr_waits; i++)
		*told += t->waits[i].count;
	tick_put(t);
	return cost;
}

/* Overloads all CPUs for a second: the share of one CPU that reading and showing it took. */
static double cost_of_second(uint64_t *written, uint64_t *told)
{
	uint64_t cost = 0;

	for (int i = 0; i < DRAINS_A_SECOND; i++) {
		*written += overload(CPUS);
		cost += cost_of_drain();
	}
	return (cost + show(told)) / (double)SEC;
}

/* What reading words of 4 MiB costs, each at a place that depends on the one before, five for each event. The time of the two parts
 * is mostly that of such reads: 0.4 to 0.9 times as much as here, also on a machine whose neighbours leave it so little of the cache
 * that the two parts took 1.7 to 2.6 % of a CPU, where they usually take 0.5 to 0.9 %. */
static uint64_t cost_of_memory(uint64_t events)
{
	static uint64_t words[1 << 19];
	uint64_t from = clock_ns(CLOCK_THREAD_CPUTIME_ID), at = 1;

	for (uint64_t i = 0; i < 5 * events; i++) {
		at = at * 6364136223846793005ULL + 1442695040888963407ULL + words[at >> 45];
		words[at >> 45] += i & 1;
	}
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
}

/* By its own clock each of the two parts takes no more than this, however slow the machine is: events beyond that
 * are counted as lost. Where memory is slow, they may take as long as reading that. The first second allocates memory; of the
 * others the cheapest one counts, as the clock does not stop while a hypervisor has the CPU. */
TEST(waits, reading_those_of_64_overloaded_cpus_takes_2_percent_of_one)
{
	uint64_t written = 0, told = 0, read;
	double share = 1, memory = 1, lost, one;
	int seconds = 1;

	cost_of_second(&written, &told);
	for (; seconds < 4 || (share > BUDGET && share > memory && seconds < 30); seconds++) {
		one = cost_of_second(&written, &told);
		share = one < share ? one : share;
		one = cost_of_memory(written / (seconds + 1)) / (double)SEC;
		memory = one < memory ? one : memory;
	}
	lost = waits_lost(waits) / (double)written;
	print_message("%.2f %% of a CPU for %.0f events a second, %.1f %% of them lost; reads of memory %.2f %%\n",
		      100 * share, (double)written / seconds, 100 * lost, 100 * memory);
	read = told + waits_lost(waits);
	if (read != written)
		fail_msg("of %lu events %lu were reported and %lu lost", written, told, waits_lost(waits));
	if (share > BUDGET && share > memory)
		fail_msg("it took %.2f %% of a CPU", 100 * share);
}

/* The same number of events costs the same whether all differ or few do, apart from cache misses. */
TEST(waits, one_that_differs_from_all_others_is_no_dearer_than_one_that_is_known)
{
	uint64_t few = UINT64_MAX, many = UINT64_MAX, told = 0, cost;

	for (int i = 0; i < 9; i++) {
		for (int k = 0; k < 4000; k++)
			report(0, 1, 2 + k % 8);
		cost = cost_of_drain();
		few = cost < few ? cost : few;
		show(&told);
		for (int k = 0; k < 4000; k++)
			report(0, 1, 2 + k);
		cost = cost_of_drain();
		many = cost < many ? cost : many;
		show(&told);
	}
	assert_int_equal(told + waits_lost(waits), 9 * 8000);
	print_message("%lu ns an event where few differ, %lu where all do\n", few / 4000, many / 4000);
	if (many > 20 * few)
		fail_msg("%lu ns an event where few differ, %lu where all do", few / 4000, many / 4000);
}

/* Few are left for the next tick; many are read before it, also if each CPU has few. */
TEST(waits, many_do_not_wait_for_the_next_tick)
{
	assert_false(waits_due(waits));
	report(0, 1, 2);
	assert_false(waits_due(waits));
	for (int cpu = 0; cpu < CPUS; cpu++)
		for (int i = 0; i < WAIT_EVENTS / CPUS / 8; i++)
			report(cpu, any_thread(), any_thread());
	assert_true(waits_due(waits));
	assert_int_equal(waits_drain(waits), 0);
	assert_false(waits_due(waits));
}

TEST(waits, the_price_rises_with_the_cpus)
{
	assert_int_equal(waits_price(1), WAIT_PRICE_NS);
	assert_int_equal(waits_price(3), WAIT_PRICE_NS);
	assert_int_equal(waits_price(96), 32 * WAIT_PRICE_NS);
	assert_int_equal(waits_price(1024), WAIT_PRICE_NS * 1024ULL / 3);
}

/* The price is set again when CPUs come or go, also while waits are left out. */
TEST(waits, the_price_follows_the_cpus)
{
	struct shared shared = { 0 };
	struct collect c = { .shared = &shared, .online = online_new(CPUS), .waits_rarely = 1 };
	uint64_t price = waits_price(online_count(c.online));

	assert_int_equal(collector_waits.follow(&c, true), 0);
	assert_int_equal(shared.wait_price_ns, price);
	collector_waits.sheds[0].set(&c, true);
	assert_true(shared.wait_price_ns > price);
	price = shared.wait_price_ns;
	shared.wait_price_ns = 0;
	assert_int_equal(collector_waits.follow(&c, true), 0);
	assert_int_equal(shared.wait_price_ns, price);
	online_free(c.online);
}

/* A thread ends or moves, and its slot is used further in the same tick: each part has its own waits. */
TEST(waits, of_two_threads_in_one_slot)
{
	uint32_t taken[2];
	const struct tick *t;
	uint64_t counts[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		for (int n = 0; n < 3 + i; n++)
			report(0, 1, 2);
		assert_int_equal(waits_drain(waits), 0);
		assert_int_equal(waits_take(waits, 1, &threads[1], !i, &taken[i]), 0);
	}
	tick_begin(model);
	for (int i = 0; i < 2; i++)
		assert_int_equal(waits_show(waits, taken[i], lives[3 + i]), 0);
	waits_end(waits);
	t = tick_end(model);
	for (size_t i = 0; i < t->nr_waits; i++)
		counts[t->waits[i].life == lives[4]] += t->waits[i].count;
	assert_int_equal(counts[0], 3);
	assert_int_equal(counts[1], 4);
	tick_put(t);
}

/* The reports of one refresh about the thread of slot 1: how often @wakers woke it. */
static void assert_woken(const uint32_t *wakers, const uint32_t *counts, int nr)
{
	const struct tick *t;
	uint32_t taken;

	assert_int_equal(waits_take(waits, 1, &threads[1], false, &taken), 0);
	tick_begin(model);
	assert_int_equal(waits_show(waits, taken, lives[1]), 0);
	waits_end(waits);
	t = tick_end(model);
	for (int i = 0; i < nr; i++) {
		uint32_t count = 0;

		for (size_t k = 0; k < t->nr_wokens; k++)
			count += t->wokens[k].number == wakers[i] ? t->wokens[k].count : 0;
		assert_int_equal(count, counts[i]);
	}
	tick_put(t);
}

/* The thread of slot 1 is woken @nr times by another thread than before. Returns the report about the streak before. */
static struct wait_event woken_by(uint32_t tid, uint32_t nr)
{
	struct slot *s = &threads[1];
	const struct wait_event over = { .slot = 1, .by = s->waker, .a = s->wakeups - s->waker_since, .b = s->waker_since,
					 .kind = WAIT_EVENT_WOKEN };

	s->in_scope = 1;
	s->waker = tid;
	s->waker_since = s->wakeups;
	s->wakeups += nr;
	return over;
}

static void told(struct wait_event e)
{
	areas[0]->wait_events[cpus[0].wait_events++ % WAIT_EVENTS] = e;
	assert_int_equal(waits_drain(waits), 0);
}

/* Each waking counts once, in the refresh in which it came: also those of a streak that goes on, or whose end is read late. */
TEST(waits, wakings_count_once)
{
	static const uint32_t wakers[] = { 77, 78, 79 };
	struct wait_event over;

	woken_by(77, 5);
	assert_woken(wakers, (uint32_t[]){ 5, 0, 0 }, 3);
	threads[1].wakeups += 3;
	assert_woken(wakers, (uint32_t[]){ 3, 0, 0 }, 3);
	assert_woken(wakers, (uint32_t[]){ 0, 0, 0 }, 3);
	threads[1].wakeups += 2;
	told(woken_by(78, 4));
	assert_woken(wakers, (uint32_t[]){ 2, 4, 0 }, 3);
	threads[1].wakeups += 6;
	over = woken_by(79, 7);
	assert_woken(wakers, (uint32_t[]){ 0, 0, 0 }, 3);
	told(over);
	assert_woken(wakers, (uint32_t[]){ 0, 6, 7 }, 3);
}

/* The time behind a thread of which nothing is known any more is reported without its name. */
TEST(waits, behind_an_unknown_thread)
{
	struct life *known = lives[9];
	const struct tick *t;
	uint32_t taken;

	report(0, 1, 9);
	areas[0]->wait_events[0].b = 1000;
	lives[9] = NULL;
	assert_int_equal(waits_drain(waits), 0);
	lives[9] = known;
	assert_int_equal(waits_take(waits, 1, &threads[1], false, &taken), 0);
	tick_begin(model);
	assert_int_equal(waits_show(waits, taken, lives[1]), 0);
	waits_end(waits);
	t = tick_end(model);
	assert_int_equal(t->nr_waits, 1);
	assert_int_equal(t->waits[0].kind, WAIT_SEVERAL);
	assert_int_equal(t->waits[0].ns, 201000);
	tick_put(t);
}

/* The oldest event of a full ring may be being overwritten. */
TEST(waits, of_a_full_ring_are_not_all_read)
{
	uint64_t told = 0;

	for (int i = 0; i < WAIT_EVENTS - 1; i++)
		report(0, 1, 2);
	for (int i = 0; i < WAIT_EVENTS; i++)
		report(1, 1, 2);
	assert_int_equal(waits_drain(waits), 0);
	show(&told);
	assert_within(waits_lost(waits), 1, WAIT_EVENTS / 4);
	assert_int_equal(told + waits_lost(waits), 2 * WAIT_EVENTS - 1);
}

/* CPU time that passes with each look at its clock; 0: it is the real one. */
static uint64_t step_ns, spent_ns;

int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	if (!step_ns || id != CLOCK_THREAD_CPUTIME_ID)
		return __real_clock_gettime(id, ts);
	spent_ns += step_ns;
	*ts = (struct timespec){ spent_ns / SEC, spent_ns % SEC };
	return 0;
}

/* Few of the possible CPUs are online, and there is time for the events of one of them: it is another one each time. */
TEST(waits, without_time_for_all_cpus_take_turns)
{
	struct cpu_area *few[CPUS] = { areas[0], areas[1], areas[2], areas[3] };
	struct waits *of_few = waits_new(&(struct waits_memory){ few, cpus, threads, CPUS, THREADS }, model, life_of, NULL);
	uint64_t counts[4] = { 0 };
	const struct tick *t;
	uint32_t taken;

	assert_non_null(of_few);
	step_ns = SEC / 2000;
	for (int drains = 0; drains < 8; drains++) {
		for (int cpu = 0; cpu < 4; cpu++)
			for (int i = 0; i < 2000; i++)
				report(cpu, 1 + cpu, 5);
		assert_int_equal(waits_drain(of_few), 0);
	}
	step_ns = 0;
	tick_begin(model);
	for (uint32_t slot = 1; slot <= 4; slot++) {
		assert_int_equal(waits_take(of_few, slot, &threads[slot], false, &taken), 0);
		assert_int_equal(waits_show(of_few, taken, lives[slot]), 0);
	}
	waits_end(of_few);
	t = tick_end(model);
	for (size_t i = 0; i < t->nr_waits; i++)
		for (int cpu = 0; cpu < 4; cpu++)
			counts[cpu] += t->waits[i].life == lives[1 + cpu] ? t->waits[i].count : 0;
	for (int cpu = 0; cpu < 4; cpu++)
		assert_int_equal(counts[cpu], counts[0]);
	assert_int_equal(4 * counts[0] + waits_lost(of_few), 8 * 4 * 2000);
	assert_true(waits_lost(of_few));
	tick_put(t);
	waits_free(of_few);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test_setup_teardown(waits_reading_those_of_64_overloaded_cpus_takes_2_percent_of_one, begin, end),
		  cmocka_unit_test_setup_teardown(waits_one_that_differs_from_all_others_is_no_dearer_than_one_that_is_known,
						  begin, end),
		  cmocka_unit_test_setup_teardown(waits_many_do_not_wait_for_the_next_tick, begin, end),
		  cmocka_unit_test_setup_teardown(waits_of_two_threads_in_one_slot, begin, end),
		  cmocka_unit_test_setup_teardown(waits_wakings_count_once, begin, end),
		  cmocka_unit_test_setup_teardown(waits_behind_an_unknown_thread, begin, end),
		  cmocka_unit_test_setup_teardown(waits_of_a_full_ring_are_not_all_read, begin, end),
		  cmocka_unit_test_setup_teardown(waits_without_time_for_all_cpus_take_turns, begin, end),
		  cmocka_unit_test(waits_the_price_rises_with_the_cpus), cmocka_unit_test(waits_the_price_follows_the_cpus));
}
