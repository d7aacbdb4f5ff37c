/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ticks.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/exporter.h"
#include "model/owner.h"

/* Returns the output for a tick, whose reference it drops. */
static char *text_of(struct export *e, const struct tick *t)
{
	char *text;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	assert_int_equal(e->state ? 0 : export_openmetrics.begin(e), 0);
	assert_int_equal(export_openmetrics.tick(e, to, t), 0);
	fclose(to);
	tick_put(t);
	assert_true(bytes > 6 && !strcmp(text + bytes - 6, "# EOF\n"));
	return text;
}

static void has(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	if (!at || (at > text && at[-1] != '\n'))
		fail_msg("\"%s\" is not in:\n%s", line, text);
}

static void lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" is in:\n%s", part, text);
}

/* A tick with one thread, which ran and waited once, in slot @wait_slot, and may have a longest wait. */
static const struct tick *tick_of(struct model *m, struct life *l, struct cgroup *cgroups, size_t nr, uint64_t run,
				  int wait_slot, uint64_t longest)
{
	struct values v = { .v = { [METRIC_RUN] = run, [METRIC_RUNQ] = 3000, [METRIC_ALIVE] = SEC,
				   [METRIC_RUNQ_MAX] = longest, [METRIC_VOLUNTARY] = 7,
				   [METRIC_USER] = VALUE_NA, [METRIC_KERNEL] = VALUE_NA, [METRIC_STEAL] = VALUE_NA } };
	static const struct pressure pressure[PRESSURE_COUNT] = { { 1500000000, VALUE_NA }, { 0, 0 }, { VALUE_NA, VALUE_NA } };

	v.hist[HIST_RUNQ].n[wait_slot] = 1;
	tick_begin(m);
	assert_int_equal(model_thread(m, l, STATE_RUNNING, false, &v), 0);
	for (size_t i = 0; i < nr; i++)
		tick_cgroup(m, &cgroups[i], NULL);
	model_pressure(m, pressure);
	return tick_end(m);
}

TEST(openmetrics, adds_up_what_is_known)
{
	struct cgroup root = { .id = 1, .path = "/" };
	struct export e = { .scope = "all" };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 1000, "worker", &root);
	char *text = text_of(&e, tick_of(m, l, &root, 1, 1500000000, 12, 5000));

	has(text, "# TYPE systop_host_run_seconds counter\n# UNIT systop_host_run_seconds seconds\n# HELP systop_host_run_seconds ");
	has(text, "systop_host_run_seconds_total 1.500000000\n");
	has(text, "systop_cgroup_run_seconds_total{cgroup=\"/\"} 1.500000000\n");
	has(text, "systop_cgroup_switches_voluntary_total{cgroup=\"/\"} 7\n");
	has(text, "# TYPE systop_cgroup_runq_max_seconds gauge\n");
	has(text, "systop_cgroup_runq_max_seconds{cgroup=\"/\"} 0.000005000\n");
	has(text, "# TYPE systop_cgroup_steal_seconds counter\n");
	lacks(text, "steal_seconds_total");
	lacks(text, "runq_p99");
	has(text, "systop_pressure_seconds_total{resource=\"cpu\",share=\"some\"} 1.500000000\n");
	has(text, "systop_pressure_seconds_total{resource=\"memory\",share=\"full\"} 0.000000000\n");
	lacks(text, "{resource=\"cpu\",share=\"full\"}");
	lacks(text, "resource=\"io\"");
	free(text);

	text = text_of(&e, tick_of(m, l, &root, 1, 250000000, 12, 4000));
	has(text, "systop_host_run_seconds_total 1.750000000\n");
	has(text, "systop_host_switches_voluntary_total 14\n");
	has(text, "systop_host_threads 1\n");
	has(text, "systop_host_runq_max_seconds 0.000004000\n");
	has(text, "systop_pressure_seconds_total{resource=\"cpu\",share=\"some\"} 3.000000000\n");
	free(text);
	assert_int_equal(export_openmetrics.end(&e, NULL), 0);
	model_life_end(m, l);
	model_free(m);
}

/* 50,000 threads sleep for 585 years in four days. */
TEST(openmetrics, sums_beyond_64_bits)
{
	struct cgroup root = { .id = 1, .path = "/" };
	struct export e = { .scope = "all" };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 1000, "worker", &root);
	char *text;

	free(text_of(&e, tick_of(m, l, &root, 1, (1ULL << 63) + 5, 12, 0)));
	text = text_of(&e, tick_of(m, l, &root, 1, (1ULL << 63) + 5, 12, 0));
	has(text, "systop_host_run_seconds_total 18446744073.709551626\n");
	has(text, "systop_cgroup_run_seconds_total{cgroup=\"/\"} 18446744073.709551626\n");
	free(text);
	assert_int_equal(export_openmetrics.end(&e, NULL), 0);
	model_life_end(m, l);
	model_free(m);
}

TEST(openmetrics, buckets_are_cumulative)
{
	struct cgroup root = { .id = 1, .path = "/" };
	struct export e = { .scope = "all" };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 1000, "worker", &root);
	char *text;

	free(text_of(&e, tick_of(m, l, &root, 1, 0, hists[HIST_RUNQ].first, 0)));
	free(text_of(&e, tick_of(m, l, &root, 1, 0, 12, 0)));
	text = text_of(&e, tick_of(m, l, &root, 1, 0, hists[HIST_RUNQ].last, 0));
	has(text, "# TYPE systop_host_runqueue_wait_seconds histogram\n");
	has(text, "systop_host_runqueue_wait_seconds_bucket{le=\"0.000002048\"} 1\n");
	has(text, "systop_host_runqueue_wait_seconds_bucket{le=\"0.000004096\"} 1\n");
	has(text, "systop_host_runqueue_wait_seconds_bucket{le=\"0.000008192\"} 2\n");
	has(text, "systop_host_runqueue_wait_seconds_bucket{le=\"+Inf\"} 3\n");
	has(text, "systop_host_runqueue_wait_seconds_count 3\n");
	has(text, "systop_host_runqueue_wait_seconds_sum 0.000009000\n");
	has(text, "systop_cgroup_runqueue_wait_seconds_bucket{cgroup=\"/\",le=\"+Inf\"} 3\n");
	free(text);
	assert_int_equal(export_openmetrics.end(&e, NULL), 0);
	model_life_end(m, l);
	model_free(m);
}

/* How much there is of something is a gauge of cgroups, and of the host where it is the host's. */
TEST(openmetrics, levels)
{
	const struct host_state host = { .mem_total = 4096, .mem_available = 2048, .swap_total = VALUE_NA,
					 .swap_used = VALUE_NA, .load = { 52, 1005, VALUE_NA } };
	struct cgroup root = { .id = 1, .path = "/" };
	static const struct cgroup_limit limit = { VALUE_NA, VALUE_NA };
	struct export e = { .scope = "all" };
	struct model *m = model_new(1 << 20);
	struct levels levels;
	char *text;

	levels_unknown(&levels);
	levels.v[METRIC_MEMORY - METRIC_LEVELS] = 12345;
	tick_begin(m);
	assert_int_equal(model_cgroup(m, &root, &limit, &levels), 0);
	model_host(m, &host);
	text = text_of(&e, tick_end(m));
	has(text, "# TYPE systop_cgroup_memory_bytes gauge\n# UNIT systop_cgroup_memory_bytes bytes\n");
	has(text, "systop_cgroup_memory_bytes{cgroup=\"/\"} 12345\n");
	lacks(text, "systop_cgroup_swap_bytes{");
	lacks(text, "rss_bytes");
	lacks(text, "systop_host_memory_bytes");
	has(text, "systop_host_memory_total_bytes 4096\n");
	has(text, "systop_host_memory_available_bytes 2048\n");
	lacks(text, "\nsystop_host_swap_used_bytes ");
	has(text, "systop_host_load{minutes=\"1\"} 0.52\n");
	has(text, "systop_host_load{minutes=\"5\"} 10.05\n");
	lacks(text, "minutes=\"15\"");
	free(text);
	assert_int_equal(export_openmetrics.end(&e, NULL), 0);
	model_free(m);
}

/* Two cgroups with the same path in one refresh are one series: the sum, and the longest of both. */
TEST(openmetrics, cgroups_of_one_path_add_up)
{
	struct cgroup cgroups[] = { { .id = 1, .path = "/" }, { .id = 2, .path = "/twice", .parent = &cgroups[0], .depth = 1 },
				    { .id = 3, .path = "/twice", .parent = &cgroups[0], .depth = 1 } };
	const struct values v[] = { { .v = { [METRIC_RUN] = 1000, [METRIC_RUNQ_MAX] = 9000 } },
				    { .v = { [METRIC_RUN] = 500, [METRIC_RUNQ_MAX] = 4000 } } };
	struct export e = { .scope = "all" };
	struct model *m = model_new(1 << 20);
	struct life *lives[] = { tick_life(m, 10, "a", &cgroups[1]), tick_life(m, 11, "b", &cgroups[2]) };
	char *text;

	tick_begin(m);
	for (int i = 0; i < 2; i++)
		assert_int_equal(model_thread(m, lives[i], STATE_RUNNING, false, &v[i]), 0);
	for (int i = 0; i < 3; i++)
		tick_cgroup(m, &cgroups[i], NULL);
	text = text_of(&e, tick_end(m));
	has(text, "systop_cgroup_threads{cgroup=\"/twice\"} 2\n");
	has(text, "systop_cgroup_run_seconds_total{cgroup=\"/twice\"} 0.000001500\n");
	has(text, "systop_cgroup_runq_max_seconds{cgroup=\"/twice\"} 0.000009000\n");
	free(text);
	assert_int_equal(export_openmetrics.end(&e, NULL), 0);
	for (int i = 0; i < 2; i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

/* Pressure that was unknown for a while continues from its last value. */
TEST(openmetrics, pressure_that_was_unknown)
{
	const struct pressure known = { 1000, 500 }, unknown = { VALUE_NA, VALUE_NA };
	struct export e = { .scope = "all" };
	struct model *m = model_new(1 << 20);
	char *text = NULL;

	for (int i = 0; i < 3; i++) {
		struct pressure all[PRESSURE_COUNT];

		for (int k = 0; k < PRESSURE_COUNT; k++)
			all[k] = i == 1 ? unknown : known;
		tick_begin(m);
		model_pressure(m, all);
		free(text);
		text = text_of(&e, tick_end(m));
		assert_int_equal(!!strstr(text, "{resource=\"io\",share=\"full\"}"), i != 1);
	}
	has(text, "systop_pressure_seconds_total{resource=\"io\",share=\"some\"} 0.000002000\n");
	has(text, "systop_pressure_seconds_total{resource=\"io\",share=\"full\"} 0.000001000\n");
	free(text);
	assert_int_equal(export_openmetrics.end(&e, NULL), 0);
	model_free(m);
}

/* A refresh of one thread of the root: it ran for @run, read @bytes, waited for @longest at most; the root has that @memory. */
static const struct tick *tick_with(struct model *m, struct life *l, struct cgroup *root, uint64_t run, uint64_t bytes,
				    uint64_t longest, uint64_t memory)
{
	static const struct cgroup_limit limit = { VALUE_NA, VALUE_NA };
	struct values v = { .v = { [METRIC_RUN] = run, [METRIC_READ] = bytes, [METRIC_RUNQ_MAX] = longest } };
	struct levels levels;

	levels_unknown(&levels);
	levels.v[METRIC_MEMORY - METRIC_LEVELS] = memory;
	tick_begin(m);
	assert_int_equal(model_thread(m, l, STATE_RUNNING, false, &v), 0);
	assert_int_equal(model_cgroup(m, root, &limit, &levels), 0);
	return tick_end(m);
}

static void skipped(struct export *e, const struct tick *t)
{
	assert_int_equal(export_openmetrics.skip(e, t), 0);
	tick_put(t);
}

/* A text after one that was skipped has the sums and the longest of both refreshes, but levels, and what is known, as of its
 * own. The last one is written at the end. */
TEST(openmetrics, texts_that_are_skipped)
{
	struct cgroup root = { .id = 1, .path = "/" };
	struct export e = { .scope = "all" };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 1000, "worker", &root);
	char *text;
	size_t bytes;
	FILE *to;

	free(text_of(&e, tick_with(m, l, &root, 1000, 10, 9000, 500)));
	skipped(&e, tick_with(m, l, &root, 2000, 10, 5000, 400));
	text = text_of(&e, tick_with(m, l, &root, 4000, VALUE_NA, 4000, 300));
	has(text, "systop_host_run_seconds_total 0.000007000\n");
	has(text, "systop_host_runq_max_seconds 0.000005000\n");
	has(text, "systop_cgroup_runq_max_seconds{cgroup=\"/\"} 0.000005000\n");
	has(text, "systop_cgroup_memory_bytes{cgroup=\"/\"} 300\n");
	lacks(text, "systop_cgroup_read_bytes_total");
	free(text);
	text = text_of(&e, tick_with(m, l, &root, 0, 5, 3000, VALUE_NA));
	has(text, "systop_host_runq_max_seconds 0.000003000\n");
	has(text, "systop_cgroup_read_bytes_total{cgroup=\"/\"} 25\n");
	lacks(text, "systop_cgroup_memory_bytes{");
	free(text);
	skipped(&e, tick_with(m, l, &root, 8000, 0, 2000, 200));
	to = open_memstream(&text, &bytes);
	assert_int_equal(export_openmetrics.end(&e, to), 0);
	fclose(to);
	has(text, "systop_host_run_seconds_total 0.000015000\n");
	has(text, "systop_cgroup_memory_bytes{cgroup=\"/\"} 200\n");
	free(text);
	model_life_end(m, l);
	model_free(m);
}

/* Two cgroups with one path, one of them gone, count as one. */
TEST(openmetrics, cgroups_come_and_go)
{
	struct cgroup cgroups[] = { { .id = 1, .path = "/" },
				    { .id = 2, .path = "/a\"\\\n", .parent = &cgroups[0], .depth = 1 },
				    { .id = 3, .path = "/twice", .parent = &cgroups[0], .depth = 1 },
				    { .id = 4, .path = "/twice", .parent = &cgroups[0], .depth = 1 } };
	struct export e = { .scope = "all" };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 1000, "worker", &cgroups[1]);
	char *text = text_of(&e, tick_of(m, l, cgroups, 4, SEC, 12, 0)), *at;

	has(text, "systop_cgroup_run_seconds_total{cgroup=\"/a\\\"\\\\\\\\x0a\"} 1.000000000\n");
	at = strstr(text, "systop_cgroup_run_seconds_total{cgroup=\"/twice\"}");
	assert_non_null(at);
	assert_null(strstr(at + 1, "systop_cgroup_run_seconds_total{cgroup=\"/twice\"}"));
	free(text);
	text = text_of(&e, tick_of(m, l, cgroups, 2, SEC, 12, 0));
	has(text, "systop_cgroup_run_seconds_total{cgroup=\"/\"} 2.000000000\n");
	lacks(text, "/twice");
	free(text);
	assert_int_equal(export_openmetrics.end(&e, NULL), 0);
	model_life_end(m, l);
	model_free(m);
}

/* Cgroups that were never in scope, or are gone, take no memory, however many come and go. */
TEST(openmetrics, cgroups_out_of_scope)
{
	struct cgroup cgroups[] = { { .id = 1, .path = "/", .in_scope = true }, { .id = 2, .parent = &cgroups[0], .depth = 1 } };
	struct export e = { .scope = "-c api" };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 1000, "worker", &cgroups[0]);
	size_t before = 0;

	for (int i = 0; i < 2000; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/session-%d", i);
		cgroups[1].path = path;
		cgroups[1].in_scope = i % 2;
		free(text_of(&e, tick_of(m, l, cgroups, 2, SEC, 12, 0)));
		if (i == 1000)
			before = mallinfo2().uordblks;
	}
	assert_true(mallinfo2().uordblks < before + (64 << 10));
	assert_int_equal(export_openmetrics.end(&e, NULL), 0);
	model_life_end(m, l);
	model_free(m);
}

/* A series continues when the name of its container becomes known. */
TEST(openmetrics, labels_of_what_it_belongs_to)
{
	static const struct owner unit = { OWNER_UNIT, .unit = "a.service", .short_unit = "a" };
	static const struct owner before = { OWNER_CONTAINER, .container = "3f2a91c04b7e" };
	static const struct owner after = { OWNER_CONTAINER, .container = "we\"b", .pod = "shop/api" };
	struct cgroup cgroups[] = { { .id = 1, .path = "/", .owner = &unit },
				    { .id = 2, .path = "/b", .parent = &cgroups[0], .owner = &before } };
	struct export e = { .scope = "all" };
	struct model *m = model_new(1 << 20);
	struct life *l = tick_life(m, 4711, "worker", &cgroups[1]);
	char *text = text_of(&e, tick_of(m, l, cgroups, 2, SEC, 12, 0));

	has(text, "systop_cgroup_run_seconds_total{cgroup=\"/\",unit=\"a.service\"} 1.000000000\n");
	has(text, "systop_cgroup_run_seconds_total{cgroup=\"/b\",unit=\"a.service\",container=\"3f2a91c04b7e\"} 1.000000000\n");
	free(text);
	cgroups[1].owner = &after;
	text = text_of(&e, tick_of(m, l, cgroups, 2, SEC, 12, 0));
	has(text, "systop_cgroup_run_seconds_total{cgroup=\"/b\",unit=\"a.service\",container=\"we\\\"b\",pod=\"shop/api\"} "
		  "2.000000000\n");
	lacks(text, "3f2a91c04b7e");
	free(text);
	assert_int_equal(export_openmetrics.end(&e, NULL), 0);
	model_life_end(m, l);
	model_free(m);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(openmetrics_adds_up_what_is_known), cmocka_unit_test(openmetrics_sums_beyond_64_bits),
		  cmocka_unit_test(openmetrics_buckets_are_cumulative),
		  cmocka_unit_test(openmetrics_levels),
		  cmocka_unit_test(openmetrics_cgroups_of_one_path_add_up), cmocka_unit_test(openmetrics_pressure_that_was_unknown),
		  cmocka_unit_test(openmetrics_texts_that_are_skipped), cmocka_unit_test(openmetrics_cgroups_come_and_go),
		  cmocka_unit_test(openmetrics_cgroups_out_of_scope),
		  cmocka_unit_test(openmetrics_labels_of_what_it_belongs_to));
}
