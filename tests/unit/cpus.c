/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "collect/cpus.h"

#define MS 1000000ULL

/* The programs' data, and the reader's view of it. */
static struct shared shared = { .started_ns = 0, .steal_known = 1 };
static struct cpu_slot slot;
static struct slot threads[2] = { [1] = { .tid = 77, .comm = "alone" } };
static uint32_t running;
static struct model *model;
static struct cpus *cpus;

/* The CPU has been idle or not, by @is_idle, since @since; before, it ran and idled for these times. */
static void wrote(uint64_t run, uint64_t idle, bool is_idle, uint64_t since)
{
	slot.run_ns = run;
	slot.idle_ns = idle;
	slot.current_idle = is_idle;
	slot.since = since;
	slot.switches_done = ++slot.switches;
}

static const struct tick *tick_all(uint64_t from, uint64_t now)
{
	struct timespec wall = { 0 };

	assert_int_equal(model_begin(model, now - from, now, &wall), 0);
	assert_int_equal(cpus_tick(cpus, model, now), 0);
	return tick_end(model);
}

static struct cpu_values tick(uint64_t from, uint64_t now)
{
	struct cpu_values v;
	const struct tick *t = tick_all(from, now);

	assert_int_equal(t->nr_cpus, 1);
	v = t->cpus[0];
	tick_put(t);
	return v;
}

static int open_new(void **state)
{
	(void)state;
	slot = (struct cpu_slot){ 0 };
	running = 0;
	model = model_new(0);
	cpus = cpus_new(&(struct cpus_memory){ .slots = &slot, .nr = 1, .shared = &shared, .threads = threads,
						.max_threads = 2, .running = &running });
	return !model || !cpus;
}

static int open_cpus(void **state)
{
	open_new(state);
	wrote(40 * MS, 59 * MS, true, 99 * MS);
	return cpus_tick(cpus, NULL, 100 * MS);
}

static int close_cpus(void **state)
{
	(void)state;
	cpus_free(cpus);
	model_free(model);
	return 0;
}

static void check(struct cpu_values v, uint64_t run, uint64_t idle)
{
	assert_int_equal(v.run_ns, run);
	assert_int_equal(v.idle_ns, idle);
}

TEST(cpus, times_of_the_interval)
{
	wrote(50 * MS, 80 * MS, false, 130 * MS);
	check(tick(100 * MS, 200 * MS), 80 * MS, 20 * MS);
	/* nothing happened: it still runs */
	check(tick(200 * MS, 300 * MS), 100 * MS, 0);
}

/* A switch to idle that is older than the tick which saw the thread still running. */
TEST(cpus, late_switch)
{
	wrote(50 * MS, 80 * MS, false, 130 * MS);
	check(tick(100 * MS, 200 * MS), 80 * MS, 20 * MS);
	wrote(90 * MS, 80 * MS, true, 170 * MS);
	check(tick(200 * MS, 300 * MS), 0, 100 * MS);
	check(tick(300 * MS, 400 * MS), 0, 100 * MS);
}

/* A switch that comes while the tick is read, after the tick's end. */
TEST(cpus, early_switch)
{
	wrote(50 * MS, 155 * MS, false, 205 * MS);
	check(tick(100 * MS, 200 * MS), 10 * MS, 90 * MS);
	check(tick(200 * MS, 300 * MS), 95 * MS, 5 * MS);
}

/* Stolen time is neither running nor idle; of a long run it is known as far as the timer saw it. */
TEST(cpus, steal)
{
	struct cpu_values v;

	slot.steal_charged = slot.steal_seen = 7000 * MS; /* from before the start */
	wrote(50 * MS, 80 * MS, false, 130 * MS);
	slot.steal_seen += 15 * MS;
	v = tick(100 * MS, 200 * MS);
	check(v, 65 * MS, 20 * MS);
	assert_int_equal(v.steal_ns, 15 * MS);
	/* the switch charges it, and 5 ms more */
	slot.steal_seen = slot.steal_charged += 20 * MS;
	slot.steal_ns = 20 * MS;
	wrote(120 * MS, 80 * MS, true, 220 * MS);
	v = tick(200 * MS, 300 * MS);
	check(v, 15 * MS, 80 * MS);
	assert_int_equal(v.steal_ns, 5 * MS);
	/* interrupts took part of the time, too: steal is limited to the rest */
	slot.hardirq_ns = 90 * MS;
	slot.steal_seen += 70 * MS;
	wrote(120 * MS, 170 * MS, false, 310 * MS);
	v = tick(300 * MS, 400 * MS);
	check(v, 90 * MS, 10 * MS);
	assert_int_equal(v.steal_ns, 0);
	shared.steal_known = 0;
	v = tick(400 * MS, 500 * MS);
	assert_int_equal(v.steal_ns, VALUE_NA);
	shared.steal_known = 1;
}

/* A run is what interrupts took of it, and what was stolen of the rest. */
TEST(cpus, steal_beside_interrupts)
{
	struct cpu_values v;

	slot.steal_charged = slot.steal_seen = 7000 * MS;
	wrote(50 * MS, 80 * MS, false, 130 * MS);
	slot.hardirq_ns = 60 * MS;
	slot.steal_seen += 15 * MS;
	v = tick(100 * MS, 200 * MS);
	check(v, 70 * MS, 20 * MS);
	assert_int_equal(v.steal_ns, 10 * MS);
	assert_int_equal(v.hardirq_ns, 60 * MS);
}

/* The end of a gap is on the clock that continues while the host is suspended; each gap is reported once. */
TEST(cpus, gaps_of_the_timer)
{
	struct cpu_values v;

	cpus_timers(cpus, true);
	slot.gap_ns = 20 * MS;
	slot.gap_at = 150 * MS;
	slot.gap_tid = 77;
	slot.suspended_ns = 5000 * MS;
	wrote(50 * MS, 80 * MS, false, 130 * MS);
	v = tick(100 * MS, 200 * MS);
	assert_int_equal(v.gap_ns, 20 * MS);
	assert_int_equal(v.gap_at, 5150 * MS);
	assert_int_equal(v.gap_tid, 77);
	assert_int_equal(tick(200 * MS, 300 * MS).gap_ns, 0);
	slot.tickless = 1;
	assert_int_equal(tick(300 * MS, 400 * MS).gap_ns, VALUE_NA);
}

/* An isolated CPU whose only thread, or idle, has it from before the start. */
TEST(cpus, no_switch_since_the_start)
{
	struct cpu_values v;

	running = 1;
	assert_int_equal(cpus_tick(cpus, NULL, 200 * MS), 0);
	v = tick(200 * MS, 300 * MS);
	check(v, 100 * MS, 0);
	assert_int_equal(v.tid, 77);
	/* it leaves at last: the programs' values continue those that were shown */
	wrote(390 * MS, 0, true, 390 * MS);
	v = tick(300 * MS, 400 * MS);
	check(v, 90 * MS, 10 * MS);
	assert_int_equal(v.tid, 0);
}

TEST(cpus, idle_since_the_start)
{
	assert_int_equal(cpus_tick(cpus, NULL, 100 * MS), 0);
	check(tick(100 * MS, 200 * MS), 0, 100 * MS);
	check(tick(200 * MS, 300 * MS), 0, 100 * MS);
	wrote(0, 390 * MS, false, 390 * MS);
	check(tick(300 * MS, 400 * MS), 10 * MS, 90 * MS);
}

/* An interval in which the only CPU, or none, was online: it has no time after its last switch. */
static void check_off(uint64_t from, uint64_t now)
{
	const struct tick *t = tick_all(from, now);

	assert_int_equal(t->nr_cpus, 0);
	tick_put(t);
}

TEST(cpus, offline)
{
	wrote(40 * MS, 100 * MS, false, 140 * MS); /* the last reported switch is to the thread that stops it */
	slot.offline = 1;
	check(tick(100 * MS, 200 * MS), 0, 40 * MS);
	check_off(200 * MS, 300 * MS);
	/* it has been back since 340 ms: the programs have skipped its offline time */
	slot.offline = 0;
	wrote(40 * MS, 100 * MS, false, 340 * MS);
	check(tick(300 * MS, 400 * MS), 60 * MS, 0);
	/* offline again at 410 ms, which is known only one tick later */
	wrote(110 * MS, 100 * MS, true, 410 * MS);
	check(tick(400 * MS, 500 * MS), 10 * MS, 90 * MS);
	slot.offline = 1;
	check_off(500 * MS, 600 * MS);
	slot.offline = 0;
	wrote(110 * MS, 100 * MS, false, 640 * MS);
	check(tick(600 * MS, 700 * MS), 60 * MS, 0);
}

TEST(cpus, online_after_the_start)
{
	slot.offline = 1;
	assert_int_equal(cpus_tick(cpus, NULL, 100 * MS), 0);
	check_off(100 * MS, 200 * MS);
	slot.offline = 0;
	wrote(0, 0, false, 230 * MS);
	check(tick(200 * MS, 300 * MS), 70 * MS, 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(cpus_times_of_the_interval, open_cpus, close_cpus),
		cmocka_unit_test_setup_teardown(cpus_late_switch, open_cpus, close_cpus),
		cmocka_unit_test_setup_teardown(cpus_steal, open_cpus, close_cpus),
		cmocka_unit_test_setup_teardown(cpus_steal_beside_interrupts, open_cpus, close_cpus),
		cmocka_unit_test_setup_teardown(cpus_gaps_of_the_timer, open_cpus, close_cpus),
		cmocka_unit_test_setup_teardown(cpus_early_switch, open_cpus, close_cpus),
		cmocka_unit_test_setup_teardown(cpus_no_switch_since_the_start, open_new, close_cpus),
		cmocka_unit_test_setup_teardown(cpus_idle_since_the_start, open_new, close_cpus),
		cmocka_unit_test_setup_teardown(cpus_offline, open_cpus, close_cpus),
		cmocka_unit_test_setup_teardown(cpus_online_after_the_start, open_new, close_cpus),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
