/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the command line means: options by themselves, and together in any order. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/options.h"
#include "export/exporter.h"
#include "model/tick.h"
#include "save/capture_plan.h"
#include "util/clock.h"
#include "util/fail.h"
#include "util/invoker.h"

#define SEC 1000000000ULL

/* Parses words separated by blanks. The caller frees the failure. */
static struct failure parse_failing(struct options *o, const char *line)
{
	static char words[512];
	char *argv[32] = { "systop" };
	struct failure failure;
	int argc = 1;

	snprintf(words, sizeof(words), "%s", line);
	for (char *word = strtok(words, " "); word && argc < 31; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	options_parse(argc, argv, o);
	failure_take(&failure);
	return failure;
}

/* Returns the exit status. */
static enum exit_status parse(struct options *o, const char *line)
{
	struct failure failure = parse_failing(o, line);

	failure_fini(&failure);
	return failure.status;
}

TEST(options, durations)
{
	static const struct {
		const char *text;
		uint64_t ns; /* 0: refused */
	} cases[] = {
		{ "0.1", SEC / 10 }, { "100ms", SEC / 10 }, { "5", 5 * SEC }, { "600", 600 * SEC }, { "601", 601 * SEC },
		{ "5m", 300 * SEC }, { "48h", 48 * 3600 * SEC }, { "876000h", 876000ULL * 3600 * SEC },
		{ "0", 0 }, { "0.09", 0 }, { "-1", 0 }, { "x", 0 }, { "5x", 0 }, { "99999999h", 0 }, { "18446744073709551616", 0 },
	};

	FOR_EACH (c, cases) {
		struct options o;
		char line[64];

		snprintf(line, sizeof(line), "--duration=%s", c->text);
		assert_int_equal(parse(&o, line), c->ns ? EXIT_STATUS_OK : EXIT_STATUS_USAGE);
		if (c->ns)
			assert_int_equal(o.duration_ns, c->ns);
		options_fini(&o);
	}
}

/* [-b [SEC [N]]] */
TEST(options, interval_and_count)
{
	static const struct {
		const char *line;
		uint64_t interval_ns, iterations; /* 0 and 0: refused */
	} cases[] = {
		{ "-b", SEC, 0 },          { "-b 5", 5 * SEC, 0 },    { "-b 0.5 3", SEC / 2, 3 },      { "--json 2 1", 2 * SEC, 1 },
		{ "2 3 -b", 2 * SEC, 3 },  { "-b 2 -n 4", 2 * SEC, 4 }, { "-b 2 3 -- cat 4", 2 * SEC, 3 }, { "-b -- 7 8", SEC, 0 },
		{ "2", 0, 0 },             { "2 3", 0, 0 },           { "-b 2 3 4", 0, 0 },            { "-b two", 0, 0 },
		{ "-b 0", 0, 0 },          { "-b 1 0", 0, 0 },        { "-b 1 1.5", 0, 0 },            { "-w x 1 2", 0, 0 },
		{ "-b 61", 0, 0 },         { "-b 1s", SEC, 0 },          { "-b 500ms 1", SEC / 2, 1 },
		{ "-b ms", 0, 0 },         { "-b 1 2s", 0, 0 },
	};

	FOR_EACH (c, cases) {
		struct options o;

		assert_int_equal(parse(&o, c->line), c->interval_ns ? EXIT_STATUS_OK : EXIT_STATUS_USAGE);
		if (c->interval_ns) {
			assert_int_equal(o.interval_ns, c->interval_ns);
			assert_int_equal(o.iterations, c->iterations);
		}
		options_fini(&o);
	}
}

/* Only the screen and plain tables are sorted, and tables only by the values of threads. */
TEST(options, sorting)
{
	static const struct {
		const char *line;
		int status;
	} cases[] = {
		{ "-s runq", EXIT_STATUS_OK },	 { "-b -s runq", EXIT_STATUS_OK }, { "-s cputime", EXIT_STATUS_OK },
		{ "-s bar", EXIT_STATUS_USAGE }, { "-b -s cputime", EXIT_STATUS_USAGE }, { "-s nothing", EXIT_STATUS_USAGE },
		{ "--json -s user", EXIT_STATUS_USAGE }, { "-s cputime -b -s user", EXIT_STATUS_OK },
		{ "-s run -w -", EXIT_STATUS_USAGE }, { "-s memory", EXIT_STATUS_OK }, { "-b -s memory", EXIT_STATUS_USAGE },
		{ "--json --batch -s rss", EXIT_STATUS_OK }, { "-s runq -V", EXIT_STATUS_OK },
	};

	FOR_EACH (c, cases) {
		struct options o;

		assert_int_equal(parse(&o, c->line), c->status);
		options_fini(&o);
	}
}

TEST(options, threads)
{
	struct options o;

	assert_int_equal(parse(&o, "-t 12,13 -p 14 --tid=15"), EXIT_STATUS_OK);
	assert_int_equal(o.nr_tids, 3);
	assert_int_equal(o.tids[0], 12);
	assert_int_equal(o.tids[1], 13);
	assert_int_equal(o.tids[2], 15);
	assert_int_equal(o.nr_pids, 1);
	assert_int_equal(o.pids[0], 14);
	options_fini(&o);
	assert_int_equal(parse(&o, "-H"), EXIT_STATUS_OK);
	assert_int_equal(o.nr_settings, 1);
	assert_string_equal(o.settings[0].value, "threads");
	options_fini(&o);
	assert_int_equal(parse(&o, "-t 12,"), EXIT_STATUS_USAGE);
	options_fini(&o);
	assert_int_equal(parse(&o, "-t 0"), EXIT_STATUS_USAGE);
	options_fini(&o);
	assert_int_equal(parse(&o, "-F 0"), EXIT_STATUS_OK);
	assert_int_equal(o.frequency, 0);
	options_fini(&o);
}

/* -o with --duration and nothing else records; --check takes --json and --schema. */
TEST(options, together)
{
	static const struct {
		const char *line;
		enum output output;
		const struct exporter *exporter;
		const char *file, *save_path;
	} cases[] = {
		{ "-o f", OUTPUT_SCREEN, NULL, NULL, "f" },
		{ "--duration 5", OUTPUT_SCREEN, NULL, NULL, NULL },
		{ "-o f --duration 5", OUTPUT_EXPORT, &export_trace, "f", NULL },
		{ "--duration 5 -o f", OUTPUT_EXPORT, &export_trace, "f", NULL },
		{ "--duration 5 -o f -b", OUTPUT_EXPORT, &export_table, NULL, "f" },
		{ "--duration 5 -o -", OUTPUT_EXPORT, &export_trace, "-", NULL },
		{ "-w g --duration 5 -o f", OUTPUT_EXPORT, &export_trace, "g", "f" },
		{ "--check", OUTPUT_CHECK, NULL, NULL, NULL },
		{ "--check --json", OUTPUT_CHECK, &export_json, NULL, NULL },
		{ "--json --check", OUTPUT_CHECK, &export_json, NULL, NULL },
		{ "-w g --check", OUTPUT_CHECK, NULL, NULL, NULL },
		{ "--check -b", OUTPUT_EXPORT, &export_table, NULL, NULL },
		{ "--check --schema", OUTPUT_CHECK_SCHEMA, NULL, NULL, NULL },
		{ "--schema --check", OUTPUT_CHECK_SCHEMA, NULL, NULL, NULL },
		{ "--schema", OUTPUT_SCHEMA, NULL, NULL, NULL },
	};

	FOR_EACH (c, cases) {
		struct options o;

		assert_int_equal(parse(&o, c->line), EXIT_STATUS_OK);
		assert_int_equal(o.output, c->output);
		assert_ptr_equal(o.exporter, c->exporter);
		assert_int_equal(!o.file, !c->file);
		assert_int_equal(!o.save_path, !c->save_path);
		if (c->file)
			assert_string_equal(o.file, c->file);
		if (c->save_path)
			assert_string_equal(o.save_path, c->save_path);
		options_fini(&o);
	}
}

/* What would silently mean something else, or nothing, is refused. */
TEST(options, refused)
{
	static const char *const good[] = { "--on=d>1s", "--on=rss>2G", "--filter=mem>2G", "--window-mem=1K", "--at=+1 -w f",
					    "--at=+1 -o f --duration 5", "--at=+1 --check",
					    "--window=0", "--folded=d --folded=cpu", "--redact", "-v f -v g", "--window-mem=10M" };
	static const char *const bad[] = { "--on=", "--window-mem=0", "--window-mem=0M", "--at=+1", "--at=+1 -b",
					   "--on=d>1s --window=0", "--redact --args", "-v f --log g", "--log f -v g", "-o -",
					   "--log -", "-n -1", "-n 0", "-p 4194305", "--window-mem=10MB" };

	FOR_EACH (line, good) {
		struct options o;

		assert_int_equal(parse(&o, *line), EXIT_STATUS_OK);
		options_fini(&o);
	}
	FOR_EACH (line, bad) {
		struct options o;

		assert_int_equal(parse(&o, *line), EXIT_STATUS_USAGE);
		options_fini(&o);
	}
}

/* The option as it was typed, and what its value can be: no name of the config file. */
TEST(options, bad_values)
{
	static const struct {
		const char *line, *what, *why;
	} cases[] = {
		{ "--view nosuch", "bad value for --view: \"nosuch\"",
		  "expected one of: threads processes tree cgroups flame-all flame latency d-state irq system waits" },
		{ "--color=red", "bad value for --color: \"red\"", "expected one of: auto always never" },
		{ "--filter=cpu>x", "bad value for --filter: \"cpu>x\"", "column 5: not a number: x" },
		{ "--on=cpu>x", "bad value for --on: \"cpu>x\"", "column 5: not a number: x" },
		{ "--on=mem>2G", "bad value for --on: \"mem>2G\"",
		  "a thread has no mem and no threads: rss is its process's memory" },
		{ "--on=!threads>500", "bad value for --on: \"!threads>500\"",
		  "a thread has no mem and no threads: rss is its process's memory" },
	};

	FOR_EACH (c, cases) {
		struct options o;
		struct failure failure = parse_failing(&o, c->line);

		assert_int_equal(failure.status, EXIT_STATUS_USAGE);
		assert_string_equal(failure.what, c->what);
		assert_string_equal(failure.why, c->why);
		failure_fini(&failure);
		options_fini(&o);
	}
}

/* The config that W writes is read in any folder. */
TEST(options, paths_of_themes)
{
	char path[] = "/tmp/systop-theme-XXXXXX", line[64], absolute[64];
	int fd = mkstemp(path);
	struct options o;

	assert_int_equal(invoker_find(), 0);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chdir("/tmp"), 0);
	snprintf(line, sizeof(line), "--theme ./%s --theme %s", strrchr(path, '/') + 1, path);
	snprintf(absolute, sizeof(absolute), "/tmp/./%s", strrchr(path, '/') + 1);
	assert_int_equal(parse(&o, line), EXIT_STATUS_OK);
	assert_int_equal(o.nr_settings, 2);
	assert_string_equal(o.settings[0].value, absolute);
	assert_string_equal(o.settings[1].value, path);
	options_fini(&o);
	unlink(path);
}

/* A filter that the screen would cut is refused; other outputs take any. */
TEST(options, long_filters)
{
	static const struct {
		int bytes;
		const char *output;
		enum exit_status status;
	} cases[] = { { 255, "", EXIT_STATUS_OK }, { 256, "", EXIT_STATUS_USAGE }, { 256, "-b", EXIT_STATUS_OK } };

	FOR_EACH (c, cases) {
		struct options o;
		char line[300];

		snprintf(line, sizeof(line), "--filter=%0*d %s", c->bytes, 1, c->output);
		assert_int_equal(parse(&o, line), c->status);
		options_fini(&o);
	}
}

/* A recording has refreshes of at most a minute, and fewer than the model remembers unless it is too long for that; they
 * add up to its length, and those of a recording without a length to its window. */
TEST(options, long_recordings)
{
	static const struct {
		uint64_t duration_ns, most;
	} cases[] = {
		{ SEC / 10, 1 }, { 5 * SEC, 5 }, { 600 * SEC, HISTORY_TICKS - 1 }, { 6 * 3600 * SEC, 360 }, { 48 * 3600 * SEC, 2880 },
		{ 100ULL * 365 * 24 * 3600 * SEC, UINT64_MAX },
	};
	struct capture_plan until_stopped = { .duration_ns = 0 };

	FOR_EACH (c, cases) {
		struct capture_plan p = { .duration_ns = c->duration_ns };
		uint64_t refreshes, sum;

		capture_plan_init(&p, SEC, 30);
		refreshes = (c->duration_ns + p.interval_ns - 1) / p.interval_ns;
		sum = refreshes * p.interval_ns;
		assert_true(refreshes >= 1 && refreshes <= c->most);
		assert_true(p.interval_ns <= 60 * SEC);
		assert_true(sum >= c->duration_ns && sum - c->duration_ns < refreshes);
		assert_true(p.window_s >= 1);
	}
	capture_plan_init(&until_stopped, SEC / 10, 30);
	assert_true(until_stopped.interval_ns * HISTORY_TICKS > 30 * SEC);
	capture_plan_init(&until_stopped, SEC, 30);
	assert_int_equal(until_stopped.interval_ns, SEC);
	assert_true(until_stopped.window_s >= 48 * 3600);
}

/* Until --at, however far away, refreshes come as they do later, and one comes when the recording begins. */
TEST(options, a_recording_later)
{
	struct capture_plan p = { .at = { SCHEDULE_IN, 3600 }, .duration_ns = 10 * SEC };
	uint64_t before, after;

	capture_plan_init(&p, SEC, 30);
	before = clock_ns(CLOCK_BOOTTIME);
	capture_plan_begin(&p);
	after = clock_ns(CLOCK_BOOTTIME);
	assert_true(p.from_ns - after > 3590 * SEC);
	assert_int_equal(p.until_ns, p.from_ns + 10 * SEC);
	assert_true(p.first_ns && p.first_ns <= p.interval_ns);
	assert_true((p.from_ns - p.first_ns - before) % p.interval_ns <= after - before);
	p.begins_ns = 0;
	capture_plan_begin(&p);
	assert_int_equal(p.first_ns, p.interval_ns);
}

/* A time of day is that of the clock on the wall, also across a change of summer time. */
TEST(options, times_of_day)
{
	static const struct {
		const char *at;
		time_t now;
		uint64_t hours;
	} cases[] = {
		{ "@12:00", 1774692000, 1 },  /* Saturday, 2026-03-28, 11:00 */
		{ "@12:00", 1774699200, 22 }, /* 13:00; the clock goes forward in the night */
		{ "@10:00", 1792843200, 21 }, /* Saturday, 2026-10-24, 14:00; it goes back */
	};
	struct schedule at;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	FOR_EACH (c, cases) {
		assert_int_equal(schedule_parse(c->at, &at), 0);
		assert_int_equal(schedule_wait(&at, &(struct timespec){ .tv_sec = c->now }), c->hours * 3600 * SEC);
	}
	unsetenv("TZ");
	tzset();
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(options_durations), cmocka_unit_test(options_interval_and_count),
		  cmocka_unit_test(options_sorting),
		  cmocka_unit_test(options_threads), cmocka_unit_test(options_together), cmocka_unit_test(options_refused),
		  cmocka_unit_test(options_bad_values), cmocka_unit_test(options_paths_of_themes),
		  cmocka_unit_test(options_long_filters),
		  cmocka_unit_test(options_long_recordings), cmocka_unit_test(options_a_recording_later),
		  cmocka_unit_test(options_times_of_day));
}
