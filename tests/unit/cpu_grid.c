/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <string.h>

#include "model/tick.h"
#include "tui/screen/host.h"
#include "tui/screen/view.h"
#include "tui/term/paint.h"
#include "tui/view/cpu_grid.h"

#define CPUS 256

static struct cpu_values values[CPUS];
static struct topology_cpu places[CPUS];
static struct topology topology;
static struct cpu_grid grid;

static const struct topology *host_topology(void *arg)
{
	return arg;
}

/* Shows a tick with this number of CPUs on a screen of this size. */
static void show(int cpus, int width, int height)
{
	static uint64_t seq;
	const struct host host = { .topology = host_topology, .arg = &topology };
	const struct tick tick = { .seq = ++seq, .cpus = values, .nr_cpus = cpus };
	const struct paint paint = { .width = width };
	const struct view_context c = { .tick = &tick, .newest = &tick, .paint = &paint, .host = &host };

	for (int cpu = 0; cpu < cpus; cpu++)
		values[cpu].cpu = cpu;
	assert_int_equal(grid_update(&grid, &c, height), 0);
}

static void place(int cpu, int node, int llc, int core)
{
	places[cpu] = (struct topology_cpu){ true, { node, llc, core, 0 } };
	topology = (struct topology){ places, cpu < topology.nr ? topology.nr : cpu + 1 };
}

static const char *title_of(size_t at)
{
	static char title[64];

	grid_title(&grid, at, title, sizeof(title));
	return title;
}

static int begin(void **state)
{
	(void)state;
	topology.nr = 0;
	for (int cpu = 0; cpu < CPUS; cpu++)
		places[cpu] = (struct topology_cpu){ false, { -1, -1, -1, -1 } };
	memset(&grid, 0, sizeof(grid));
	return 0;
}

static int end(void **state)
{
	(void)state;
	grid_fini(&grid);
	return 0;
}

/* Two sockets, siblings 128 apart, a cache for 8 cores. */
TEST(cpu_grid, cells_of_256_fit_a_small_screen)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		place(cpu, cpu % 128 / 64, cpu % 128 / 8, cpu % 128);
	show(CPUS, 80, 16);
	assert_int_equal(grid.shape, CPU_CELLS);
	assert_within(grid.lines, 1, 16);
	for (size_t i = 0; i < grid.nr; i++) {
		assert_within(grid.cpus[i].x, 0, 79);
		assert_within(grid.cpus[i].y, 2, grid.lines - 1);
		assert_int_equal(grid.cpus[i].values->cpu, i / 2 + i % 2 * 128);
		if (i % 2)
			assert_int_equal(grid.cpus[i].x, grid.cpus[i - 1].x + 1);
	}
	assert_string_equal(title_of(255), "node 1 llc 15");
}

TEST(cpu_grid, moves_as_it_looks)
{
	static const struct {
		enum action action;
		int selected;
	} steps[] = {
		{ ACTION_CPU_RIGHT, 128 }, { ACTION_CPU_RIGHT, 1 }, { ACTION_DOWN, 25 },     { ACTION_DOWN, 49 },
		{ ACTION_UP, 25 },         { ACTION_CPU_LEFT, 152 }, { ACTION_CPU_CELLS, 152 }, { ACTION_FIRST, 0 },
	};

	for (int cpu = 0; cpu < CPUS; cpu++)
		place(cpu, cpu % 128 / 64, cpu % 128 / 8, cpu % 128);
	show(CPUS, 80, 16);
	FOR_EACH(step, steps) {
		assert_true(grid_act(&grid, step->action));
		assert_int_equal(grid_selected(&grid)->values->cpu, step->selected);
	}
	assert_false(grid_act(&grid, ACTION_UP)); /* scrolls what is above */
	assert_false(grid_act(&grid, ACTION_CPU_LEFT));
	show(CPUS, 80, 16);
	assert_int_equal(grid.shape, CPU_BARS);
	grid_click(&grid, grid.cpus[5].y, 70);
	assert_int_equal(grid.selected, 130);
}

TEST(cpu_grid, bars_of_siblings_stand_side_by_side)
{
	for (int cpu = 0; cpu < 8; cpu++)
		place(cpu, 0, 0, cpu % 4);
	show(8, 300, 40); /* there is room for four, and two make a core */
	assert_int_equal(grid.shape, CPU_BARS);
	assert_int_equal(grid.columns, 4);
	assert_false(grid.titles);
	show(8, 220, 40);
	assert_int_equal(grid.columns, 2);
	for (size_t i = 0; i < grid.nr; i += 2)
		assert_int_equal(grid.cpus[i].y, grid.cpus[i + 1].y);
	show(8, 80, 40);
	assert_int_equal(grid.columns, 1);
}

/* Only the existence of the CPUs is known. */
TEST(cpu_grid, unknown_ones_are_one_group)
{
	for (int cpu = 0; cpu < 100; cpu++)
		place(cpu, -1, -1, -1);
	show(100, 80, 16);
	assert_string_equal(title_of(0), "CPUs");
	for (size_t i = 0; i < grid.nr; i++)
		assert_int_equal(grid_ends_group(&grid, i), i == 99);
	assert_int_equal(grid.cpus[1].x, 2);
	show(CPUS, 40, 4); /* no room for gaps */
	assert_int_equal(grid.cpus[1].x, 1);
	assert_within(grid.cpus[255].x, 0, 39);
}

TEST(cpu_grid, offline_ones_come_last)
{
	place(0, 0, 0, 0);
	place(2, 0, 1, 1);
	show(4, 80, 16);
	assert_string_equal(title_of(0), "node 0 llc 0");
	assert_string_equal(title_of(1), "node 0 llc 1");
	assert_string_equal(title_of(2), "offline");
	assert_int_equal(grid.cpus[2].values->cpu, 1);
	assert_int_equal(grid.cpus[3].values->cpu, 3);
}

TEST(cpu_grid, no_cpus_and_no_sysfs)
{
	show(0, 80, 16);
	assert_null(grid_selected(&grid));
	assert_false(grid_act(&grid, ACTION_DOWN));
	show(2, 80, 16);
	assert_string_equal(title_of(0), "CPUs");
	assert_int_equal(grid.lines, 3);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	RUN_TESTS(CASE(cpu_grid_cells_of_256_fit_a_small_screen), CASE(cpu_grid_moves_as_it_looks),
		  CASE(cpu_grid_bars_of_siblings_stand_side_by_side), CASE(cpu_grid_unknown_ones_are_one_group),
		  CASE(cpu_grid_offline_ones_come_last), CASE(cpu_grid_no_cpus_and_no_sysfs));
}
