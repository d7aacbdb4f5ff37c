/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines above the view, on screens of any width, for hosts large and unknown. */
#include "unit.h"

#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "query/stack_quality.h"
#include "tui/screen/header.h"
#include "tui/screen/host.h"
#include "tui/term/paint.h"

#define SEC 1000000000ULL
#define GIB (1ULL << 30)
#define NA VALUE_NA

static uint64_t recorded(void *arg)
{
	(void)arg;
	return 30 * SEC;
}

static struct host host = { .name = "web-07", .kernel = "6.18.0", .version = "0.2.0", .scope = "all",
				  .source.recorded = recorded };

/* The lines of the header, without the blanks at their ends. */
struct lines {
	char at[HEADER_LINES][1024];
};

static struct lines draw_past(const struct tick *t, const struct tick *newest, int width)
{
	static const struct stack_quality stacks = { .total = 1000, .stacks = 1000 };
	const struct header h = { .host = &host, .tick = t, .newest = newest, .stacks = &stacks, .interval_ns = SEC,
				  .paused = newest != t, .views = "[1:Threads]", .crumbs = "", .help_key = "?" };
	WINDOW *pad = newpad(HEADER_LINES, width);
	struct lines lines;
	struct paint p;

	paint_init(&p, pad, width, HEADER_LINES, false);
	header_draw(&h, &p);
	for (int y = 0; y < HEADER_LINES; y++) {
		size_t len = mvwinnstr(pad, y, 0, lines.at[y], sizeof(lines.at[y]) - 1);

		while (len && lines.at[y][len - 1] == ' ')
			len--;
		lines.at[y][len] = '\0';
	}
	delwin(pad);
	return lines;
}

static struct lines draw(const struct tick *t, int width)
{
	return draw_past(t, t, width);
}

static struct tick tick_of(const struct host_state *state, struct cpu_values *cpus, size_t nr_cpus)
{
	struct tick t = { .interval_ns = SEC, .cpus = cpus, .nr_cpus = nr_cpus, .nr_cgroups = 61, .host = *state,
			  .self = { .cpu_ns = SEC / 1000, .rss_bytes = 53 << 20 } };

	for (size_t i = 0; i < nr_cpus; i++)
		cpus[i] = (struct cpu_values){ .run_ns = SEC / 2, .idle_ns = SEC / 2 };
	t.total.v[METRIC_USER] = SEC / 4 * nr_cpus;
	t.total.v[METRIC_KERNEL] = SEC / 4 * nr_cpus;
	return t;
}

TEST(header, memory)
{
	static const struct {
		struct host_state state;
		int width;
		const char *line;
	} cases[] = {
		{ { 31 * GIB, 10 * GIB, 5 * GIB, 0, 0, { 310, 290, 220 }, 0 }, 80,
		  "MEM 21/31G [######::  ] swap 0  load 3.1  STACKS unwound 0% named 0%     BUF 30s" },
		{ { 31 * GIB, 10 * GIB, NA, 2 * GIB, 2 * GIB, { 1050, 290, 220 }, 0 }, 80,
		  "MEM 21/31G [######    ] swap 2.0G  load 10  STACKS unwound 0% named 0%   BUF 30s" },
		{ { GIB, GIB - (100 << 20), 0, NA, NA, { NA, NA, NA }, 0 }, 80,
		  "MEM 100M/1.0G [::::::::::] swap -  load -  STACKS unwound 0% named 0%    BUF 30s" },
		{ { NA, NA, NA, NA, NA, { NA, NA, NA }, NA }, 80,
		  "MEM -/- [          ] swap -  load -  STACKS unwound 0% fn 0% named 0%    BUF 30s" },
		{ { 31 * GIB, 10 * GIB, 5 * GIB, 2 * GIB, GIB, { 310, 290, 220 }, 0 }, 40,
		  "MEM 21/31G  swap 1.0G  load 3.1  BUF 30s" },
		/* More is available than there is: a file that is half written. */
		{ { GIB, 9 * GIB, 9 * GIB, GIB, 9 * GIB, { 0, 0, 0 }, 0 }, 80,
		  "MEM 0B/1.0G [         ] swap 9.0G  load 0.0  STACKS unwound 0% named 0%  BUF 30s" },
	};

	FOR_EACH (c, cases) {
		struct tick t = tick_of(&c->state, (struct cpu_values[2]){ 0 }, 2);
		struct lines lines = draw(&t, c->width);

		assert_string_equal(lines.at[2], c->line);
	}
}

/* The time of what runs out of scope is neither user nor kernel time. */
TEST(header, scope)
{
	struct host_state state = { 0 };
	struct tick t = tick_of(&state, (struct cpu_values[4]){ { 0 } }, 4);
	const struct values none = { { 0 } }, some = { .v = { [METRIC_ALIVE] = 1 } };
	struct cgroup out = { .path = "/a" }, in = { .path = "/b", .in_scope = true };
	const struct row cgroups[] = { { .values = &some, .cgroup = &out }, { .values = &none, .cgroup = &out },
				       { .values = &some, .cgroup = &out }, { .values = &none, .cgroup = &in } };

	t.cgroups = cgroups;
	t.nr_cgroups = 4;
	t.total.v[METRIC_RUN] = SEC;
	t.total.v[METRIC_USER] = SEC / 2;
	t.total.v[METRIC_KERNEL] = SEC / 2;
	host.scope = "pid 4711";
	assert_non_null(strstr(draw(&t, 80).at[0], "scope pid 4711 3 cgroups"));
	assert_string_equal(draw(&t, 80).at[1],
			    "CPU 50% of 4 us12 sy12 hi0 si0 st0 [#=:::     ]  RUNQ p99 -  D 0          LOSS 0");
	host.scope = "all";
	assert_non_null(strstr(draw(&t, 80).at[0], "scope all 4 cgroups"));
	assert_string_equal(draw(&t, 80).at[1],
			    "CPU 50% of 4 us12 sy12 hi0 si0 st0 [#====     ]  RUNQ p99 -  D 0          LOSS 0");
}

TEST(header, uptime)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "  up 0s " }, { 59 * SEC, "  up 59s " }, { 60 * SEC, "  up 1m " }, { 3599 * SEC, "  up 59m " },
		{ 3600 * SEC, "  up 1h00m " }, { 86399 * SEC, "  up 23h59m " }, { 86400 * SEC, "  up 1d " },
		{ 4000ULL * 86400 * SEC, "  up 4000d " }, { NA, "  up - " },
	};

	FOR_EACH (c, cases) {
		struct host_state state = { .uptime_ns = c->ns };
		struct tick t = tick_of(&state, (struct cpu_values[1]){ 0 }, 1);
		struct lines lines = draw(&t, 80);

		assert_non_null(strstr(lines.at[0], c->text));
		assert_non_null(strstr(lines.at[0], "self 0.1% 53M"));
	}
}

/* On every width each line begins with what it is about, and losses are seen. */
TEST(header, every_width)
{
	static const struct host_state states[] = {
		{ 31 * GIB, 10 * GIB, 5 * GIB, 2 * GIB, GIB, { 310, 290, 220 }, 41 * 86400 * SEC },
		{ 23ULL << 40, 11ULL << 40, 3ULL << 40, 9ULL << 40, 1234 * GIB, { 1234567, 999999, 123456 }, NA - 1 },
		{ NA, NA, NA, NA, NA, { NA, NA, NA }, NA },
		{ 0 },
	};
	struct cpu_values *cpus = calloc(8192, sizeof(*cpus));

	FOR_EACH (state, states)
		for (int width = 40; width <= 240; width++)
			for (int lost = 0; lost < 2; lost++) {
				struct tick t = tick_of(state, cpus, lost ? 8192 : 4);
				struct lines lines;

				t.loss[0] = lost ? 123456789 : 0;
				t.total_d = lost ? 4321 : 0;
				lines = draw(&t, width);
				assert_memory_equal(lines.at[0], "systop web-07 ", 14);
				assert_true(!strstr(lines.at[0], "scope all 6") ||
					    strstr(lines.at[0], "scope all 61 cgroups"));
				assert_memory_equal(lines.at[1], "CPU 50% of ", 11);
				assert_non_null(strstr(lines.at[1], lost ? " LOSS 123456789" : " LOSS 0"));
				assert_memory_equal(lines.at[2], "MEM ", 4);
				if (width < 80)
					continue;
				assert_non_null(strstr(lines.at[2], "  load "));
				assert_non_null(strstr(lines.at[2], "  BUF 30s"));
				assert_non_null(strstr(lines.at[2], "  STACKS unwound "));
			}
	free(cpus);
}

/* Refreshes are a bit more or less than a second apart. */
TEST(header, age_of_the_past)
{
	static const struct {
		uint64_t ns;
		const char *age;
	} cases[] = {
		{ 2998000000, "PAUSED -3s " }, { 3002000000, "PAUSED -3s " }, { 200000000, "PAUSED -0s " },
		{ 59700000000, "PAUSED -1m00s " }, { 65000000000, "PAUSED -1m05s " },
	};
	struct cpu_values cpu;
	struct tick then = tick_of(&(struct host_state){ 0 }, &cpu, 1), now = then;

	FOR_EACH(c, cases)
	{
		now.boottime_ns = then.boottime_ns + c->ns;
		if (!strstr(draw_past(&then, &now, 80).at[0], c->age))
			fail_msg("%s, not %s", draw_past(&then, &now, 80).at[0], c->age);
	}
}

int main(void)
{
	FILE *null = fopen("/dev/null", "r+");

	setlocale(LC_ALL, "C.UTF-8");
	setenv("TZ", "UTC", 1);
	if (!null || !newterm("xterm", null, null))
		return EXIT_FAILURE;
	RUN_TESTS(cmocka_unit_test(header_memory), cmocka_unit_test(header_scope), cmocka_unit_test(header_uptime),
		  cmocka_unit_test(header_every_width), cmocka_unit_test(header_age_of_the_past));
}
