/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --on: which thread starts a trace. */
#include "ticks.h"

#include <stdio.h>

#include "model/sample.h"
#include "query/filter.h"
#include "save/trigger.h"

#define THREADS 3

static const struct {
	const char *comm;
	uint64_t in_d_ns; /* at the end of a refresh of one second */
} threads[THREADS] = { { "dd", 10 * SEC }, { "nginx", 3 * SEC / 2 }, { "mysqld", 4 * SEC } };

/* The thread that a trigger names; "": none. */
static const char *fires(const char *text, const struct tick *tick)
{
	static char why[200];
	struct filter_error error;
	struct filter *filter = filter_parse(text, NULL, &error);
	struct trigger t = { .filter = filter, .text = "", .limit = 1 };

	assert_non_null(filter);
	if (!trigger_fires(&t, tick, SEC, why, sizeof(why)))
		*why = '\0';
	filter_free(filter);
	return why;
}

/* Each thread counts by its own time since it entered D state, whatever time the thread before it has. */
TEST(trigger, time_in_d_is_that_of_the_thread)
{
	const struct values in_d = { .v = { [METRIC_D] = SEC } };
	struct model *m = model_new(0);
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct life *lives[THREADS];
	const struct tick *t;

	tick_begin(m);
	for (int i = 0; i < THREADS; i++) {
		lives[i] = tick_life(m, 100 + i, threads[i].comm, &cgroup);
		assert_int_equal(model_thread(m, lives[i], STATE_D, false, &in_d), 0);
		assert_int_equal(model_block(m, lives[i], METRIC_D, threads[i].in_d_ns, false), 0);
	}
	tick_cgroup(m, &cgroup, NULL);
	t = tick_end(m);
	assert_string_equal(fires("d>2s", t), ": dd 100 in /");
	assert_string_equal(fires("d>2s comm=nginx", t), "");
	assert_string_equal(fires("d>1200ms comm=nginx", t), ": nginx 101 in /");
	assert_string_equal(fires("!comm=dd d>2s", t), ": mysqld 102 in /");
	assert_string_equal(fires("d>20s", t), "");
	tick_put(t);
	for (int i = 0; i < THREADS; i++)
		model_life_end(m, lives[i]);
	model_free(m);
}

/* A block that ends before a refresh sees it that old. */
TEST(trigger, a_block_that_has_ended)
{
	const struct values in_d = { .v = { [METRIC_D] = 8 * SEC / 10 } };
	struct model *m = model_new(0);
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct life *l = tick_life(m, 100, "dd", &cgroup);
	const struct tick *t;

	tick_begin(m);
	assert_int_equal(model_thread(m, l, STATE_D, false, &in_d), 0);
	assert_int_equal(model_block(m, l, METRIC_D, 8 * SEC / 10, false), 0);
	tick_cgroup(m, &cgroup, NULL);
	t = tick_end(m);
	assert_string_equal(fires("d>900ms", t), "");
	tick_put(t);
	for (int i = 0; i < 2; i++) {
		tick_begin(m);
		if (!i)
			model_block_end(m, l);
		assert_int_equal(model_thread(m, l, STATE_RUNNING, false, &in_d), 0);
		tick_cgroup(m, &cgroup, NULL);
		t = tick_end(m);
		assert_string_equal(fires("d>900ms", t), i ? "" : ": dd 100 in /");
		assert_string_equal(fires("d>1700ms", t), "");
		tick_put(t);
	}
	model_life_end(m, l);
	model_free(m);
}

static void save(struct trigger *t, uint64_t at)
{
	trigger_saves(t, at);
	trigger_saved(t);
}

/* The quiet time counts from saves that began, and the limit of any hour counts those with a file; neither counts matches. */
TEST(trigger, what_is_not_saved_does_not_count)
{
	struct filter_error error;
	struct filter *filter = filter_parse("comm=dd", NULL, &error);
	struct trigger when = { .filter = filter, .text = "", .limit = 2, .quiet_ns = 30 * SEC };
	struct model *m = model_new(0);
	struct cgroup cgroup = { .id = 1, .path = "/" };
	struct life *l = tick_life(m, 100, "dd", &cgroup);
	const struct values ran = { .v = { [METRIC_RUN] = SEC } };
	const struct tick *t;
	char why[200];

	tick_begin(m);
	assert_int_equal(model_thread(m, l, STATE_RUNNING, false, &ran), 0);
	tick_cgroup(m, &cgroup, NULL);
	t = tick_end(m);
	for (int i = 1; i <= 3; i++)
		assert_true(trigger_fires(&when, t, i * SEC, why, sizeof(why)));
	save(&when, 3 * SEC);
	assert_false(trigger_fires(&when, t, 32 * SEC, why, sizeof(why)));
	assert_true(trigger_fires(&when, t, 33 * SEC, why, sizeof(why)));
	trigger_saves(&when, 33 * SEC); /* and fails */
	assert_false(trigger_fires(&when, t, 92 * SEC, why, sizeof(why))); /* twice as long */
	assert_true(trigger_fires(&when, t, 93 * SEC, why, sizeof(why)));
	save(&when, 93 * SEC);
	assert_true(when.quiet_ns == 30 * SEC && !when.failed);
	assert_false(trigger_fires(&when, t, 1000 * SEC, why, sizeof(why)));
	assert_false(trigger_fires(&when, t, 3602 * SEC, why, sizeof(why)));
	assert_true(trigger_fires(&when, t, 3603 * SEC, why, sizeof(why)));
	trigger_saves(&when, 3603 * SEC); /* and fails: the oldest file is no longer counted */
	trigger_saves(&when, 3663 * SEC); /* is cancelled, */
	trigger_cancelled(&when);
	trigger_saves(&when, 3663 * SEC); /* and fails again */
	assert_false(trigger_fires(&when, t, 3782 * SEC, why, sizeof(why)));
	assert_true(trigger_fires(&when, t, 3783 * SEC, why, sizeof(why)));
	save(&when, 3783 * SEC);
	assert_false(trigger_fires(&when, t, 3812 * SEC, why, sizeof(why)));
	assert_true(trigger_fires(&when, t, 3813 * SEC, why, sizeof(why)));
	save(&when, 3813 * SEC);
	assert_false(trigger_fires(&when, t, 7382 * SEC, why, sizeof(why)));
	for (int i = 0; i < 25; i++)
		trigger_saves(&when, 10000 * SEC); /* each fails */
	assert_false(trigger_fires(&when, t, 13599 * SEC, why, sizeof(why)));
	assert_true(trigger_fires(&when, t, 13600 * SEC, why, sizeof(why)));
	tick_put(t);
	model_life_end(m, l);
	model_free(m);
	filter_free(filter);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(trigger_time_in_d_is_that_of_the_thread), cmocka_unit_test(trigger_a_block_that_has_ended),
		  cmocka_unit_test(trigger_what_is_not_saved_does_not_count));
}
