/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "model/metric.h"
#include "util/text.h"

TEST(metric, find_knows_names_and_titles)
{
	static const struct {
		const char *name;
		enum metric_id want;
	} cases[] = {
		{ "run_ns", METRIC_RUN },
		{ "RUN_NS", METRIC_RUN },
		{ "run%", METRIC_RUN },
		{ "RUNQ%", METRIC_RUNQ },
		{ "thr%", METRIC_THROTTLED },
		{ "d%", METRIC_D },
		{ "runq_p99_ns", METRIC_RUNQ_P99 },
		{ "migrations", METRIC_MIGRATIONS },
		{ "mig/s", METRIC_MIGRATIONS },
		{ "", METRIC_COUNT },
		{ "run", METRIC_RUN },
		{ "CPU", METRIC_RUN },
		{ "usr", METRIC_USER },
		{ "runq.p99", METRIC_RUNQ_P99 },
		{ "rq-max", METRIC_RUNQ_MAX },
		{ "vcs", METRIC_VOLUNTARY },
		{ "involuntary", METRIC_INVOLUNTARY },
		{ "runq.p9", METRIC_COUNT },
		{ "runq.p999", METRIC_COUNT },
		{ "ru", METRIC_COUNT },
		{ "run_ns ", METRIC_COUNT },
		{ "tid", METRIC_COUNT },
	};

	FOR_EACH (c, cases)
		assert_int_equal(metric_find(c->name), c->want);
}

TEST(metric, every_one_is_found_by_both)
{
	for (enum metric_id f = 0; f < METRIC_COUNT; f++) {
		assert_int_equal(metric_find(metrics[f].name), f);
		assert_int_equal(metric_find(metrics[f].title), f);
	}
}

/* Values fit (see format_value()), and so do titles, which would be cut otherwise. */
TEST(metric, columns_hold_title_and_values)
{
	for (enum metric_id f = 0; f < METRIC_COUNT; f++) {
		assert_true(metrics[f].width >= (metric_shown(f) == UNIT_SHARE ? 5 : 6));
		assert_true(text_width(metrics[f].title) <= metrics[f].width);
		assert_true(metrics[f].help[0] != '\0');
	}
}

/* --json prints ns for exactly the metrics whose names say so. */
TEST(metric, names_say_their_unit)
{
	for (enum metric_id f = 0; f <= METRIC_WALL; f++) {
		assert_string_equal(metric_suffix(f), metrics[f].unit == UNIT_NS ? "_ns" : metrics[f].unit == UNIT_BYTES ? "_bytes" : "");
		assert_memory_equal(metrics[f].name, metrics[f].stem, strlen(metrics[f].stem));
	}
	assert_string_equal(metrics[METRIC_RUN].name, "run_ns");
	assert_string_equal(metrics[METRIC_WAKEUPS].name, "wakeups");
}

/* --folded, JSON and the flamegraph iterate over weights by place; wall time is last. */
TEST(metric, weights_have_a_place_each)
{
	enum metric_id shown = METRIC_WALL;
	int nr = 0, places = 0;

	for (enum metric_id f = 0; f < METRIC_COUNT; f++)
		nr += metrics[f].weight.name != NULL;
	for (; metric_weight(places) != METRIC_NONE; places++) {
		const struct metric *m = &metrics[metric_weight(places)];

		shown = metric_weight_next(shown);
		assert_int_equal(shown, metric_weight(places));
		assert_true(*m->weight.name && *m->weight.title && *m->weight.part);
		assert_int_equal(metric_find(m->weight.name), shown == METRIC_WALL ? METRIC_COUNT : shown);
	}
	assert_int_equal(places, nr + 1);
	assert_int_equal(shown, METRIC_WALL);
}

/* Wall time adds nothing that is not time, or that is part of time that counts already. */
TEST(metric, wall_is_time_that_is_counted_once)
{
	for (enum metric_id f = 0; f < METRIC_COUNT; f++) {
		assert_true(metric_weighs(f, f));
		assert_int_equal(metric_weighs(METRIC_WALL, f), metrics[f].wall);
		assert_true(!metrics[f].wall || (metrics[f].unit == UNIT_NS && metrics[f].kind == KIND_SUM));
	}
	assert_false(metrics[METRIC_USER].wall || metrics[METRIC_THROTTLED].wall || metrics[METRIC_ALIVE].wall);
}

/* Quantiles and maxima belong to a histogram that each thread has. */
TEST(metric, what_is_computed_has_its_histogram)
{
	for (enum metric_id f = 0; f < METRIC_COUNT; f++) {
		bool of_hist = metrics[f].kind == KIND_QUANTILE || metrics[f].kind == KIND_MAX;

		assert_int_equal(of_hist, metrics[f].hist < HISTS_OF_THREADS);
		assert_int_equal(metrics[f].kind == KIND_QUANTILE, metrics[f].q > 0);
		if (metrics[f].kind == KIND_MAX)
			assert_int_equal(hists[metrics[f].hist].longest, f);
	}
	for (enum hist_id h = 0; h < HIST_COUNT; h++) {
		assert_int_equal(hists[h].owner == HIST_OF_THREADS, h < HISTS_OF_THREADS);
		assert_non_null(metrics[hists[h].weight].weight.name);
		assert_true(hists[h].first < hists[h].last);
	}
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(metric_find_knows_names_and_titles),
		  cmocka_unit_test(metric_every_one_is_found_by_both),
		  cmocka_unit_test(metric_columns_hold_title_and_values),
		  cmocka_unit_test(metric_names_say_their_unit), cmocka_unit_test(metric_weights_have_a_place_each),
		  cmocka_unit_test(metric_wall_is_time_that_is_counted_once),
		  cmocka_unit_test(metric_what_is_computed_has_its_histogram));
}
