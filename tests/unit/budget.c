/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/budget.h"

#include <stdio.h>

#include "unit.h"

#define SEC 1000000000ULL
#define LIMIT 1000

static void nothing(struct collect *c, bool shed)
{
	(void)c, (void)shed;
}

static bool never(const struct collect_options *o)
{
	(void)o;
	return false;
}

static const struct collector with_two = {
	.sheds = {
		{ "third", "", 30, SHEDS(BUDGET_CPU) | SHEDS(BUDGET_MEMORY), nothing },
		{ "first", "", 10, SHEDS(BUDGET_CPU), nothing },
	},
};
static const struct collector with_one = {
	.sheds = {
		{ "kept", "", 0, SHEDS(BUDGET_CPU), nothing, never },
		{ "second", "", 20, SHEDS(BUDGET_CPU), nothing },
	},
};
static const struct collector with_none;
static const struct collector *const rows[] = { &with_two, &with_none, &with_one };

static struct budget budget;

static int begin(void **state)
{
	(void)state;
	budget_init(&budget, rows, 3, NULL, (uint64_t[]){ LIMIT, LIMIT });
	return 0;
}

/* One second at this cost; returns what changed: "-first", "+first", "". */
static const char *second_of(enum budget_kind kind, uint64_t cost)
{
	static char said[32];
	const struct collector_shed *row;
	bool shed;

	row = budget_step(&budget, kind, cost, SEC, &shed);
	*said = '\0';
	if (row)
		snprintf(said, sizeof(said), "%c%s", shed ? '-' : '+', row->name);
	return said;
}

static const char *second(uint64_t cost)
{
	return second_of(BUDGET_CPU, cost);
}

/* Seconds of low cost until the row is back. */
static int seconds_until(const char *back)
{
	for (int i = 1; i < 1000; i++) {
		const char *said = second(LIMIT / 10);

		if (!*said)
			continue;
		assert_string_equal(said, back);
		return i;
	}
	return 0;
}

/* Details go in their own order, whatever the order of the collectors. */
static void goes_in_order(void **state)
{
	(void)state;
	assert_string_equal(second(LIMIT), "");
	assert_null(budget_shed(&budget, 0));
	assert_string_equal(second(LIMIT + 1), "-first");
	assert_string_equal(second(LIMIT + 1), "-second");
	assert_false(budget_over(&budget, BUDGET_CPU));
	assert_string_equal(second(LIMIT + 1), "-third");
	assert_string_equal(second(LIMIT + 1), "");
	assert_true(budget_over(&budget, BUDGET_CPU));
	assert_string_equal(budget_shed(&budget, 0)->name, "first");
	assert_string_equal(budget_shed(&budget, 2)->name, "third");
	assert_null(budget_shed(&budget, 3));
}

static void comes_back_in_the_other_order(void **state)
{
	(void)state;
	second(LIMIT + 1);
	second(LIMIT + 1);
	assert_int_equal(seconds_until("+second"), 5);
	assert_int_equal(seconds_until("+first"), 5);
	assert_int_equal(seconds_until(""), 0);
	assert_null(budget_shed(&budget, 0));
}

/* Near the limit nothing changes, and a moment near it restarts the wait of details that are left out. */
static void stays_where_it_is_near_the_limit(void **state)
{
	(void)state;
	second(LIMIT + 1);
	for (int i = 0; i < 100; i++)
		assert_string_equal(second(LIMIT * 4 / 5), "");
	for (int i = 0; i < 4; i++)
		assert_string_equal(second(LIMIT / 10), "");
	assert_string_equal(second(LIMIT * 4 / 5), "");
	assert_int_equal(seconds_until("+first"), 5);
}

/* A collector that costs too much each time it is back is tried less and less often. */
static void waits_longer_each_time(void **state)
{
	(void)state;
	second(LIMIT + 1);
	assert_int_equal(seconds_until("+first"), 5);
	assert_string_equal(second(LIMIT + 1), "-first");
	assert_int_equal(seconds_until("+first"), 10);
	assert_string_equal(second(LIMIT + 1), "-first");
	assert_int_equal(seconds_until("+first"), 20);
	for (int i = 0; i < 10; i++) {
		assert_string_equal(second(LIMIT + 1), "-first");
		assert_true(seconds_until("+first") <= 160);
	}
	/* it had room */
	for (int i = 0; i < 200; i++)
		assert_string_equal(second(LIMIT / 10), "");
	assert_string_equal(second(LIMIT + 1), "-first");
	assert_int_equal(seconds_until("+first"), 5);
}

/* A collector switched off for both limits is back when both have room. */
static void of_two_budgets(void **state)
{
	(void)state;
	assert_string_equal(second_of(BUDGET_MEMORY, LIMIT + 1), "-third");
	assert_string_equal(second_of(BUDGET_MEMORY, LIMIT + 1), "");
	second(LIMIT + 1);
	second(LIMIT + 1);
	assert_string_equal(second(LIMIT + 1), ""); /* it is left out already */
	assert_int_equal(seconds_until("+second"), 10);
	assert_string_equal(budget_shed(&budget, 1)->name, "third");
	for (int i = 0; i < 4; i++)
		assert_string_equal(second_of(BUDGET_MEMORY, 0), "");
	assert_string_equal(second_of(BUDGET_MEMORY, 0), "+third");
}

static void without_limits(void **state)
{
	(void)state;
	budget_init(&budget, rows, 3, NULL, (uint64_t[]){ 0, 0 });
	assert_string_equal(second(UINT64_MAX), "");
	assert_false(budget_over(&budget, BUDGET_CPU));
}

/* What thread_take() returns is one number a thread: the rows of collectors share it. */
static void one_row_takes_the_data_of_threads(void **state)
{
	int taking = 0;

	(void)state;
	for (size_t i = 0; i < COLLECTOR_COUNT; i++)
		taking += collectors[i]->thread_take != NULL;
	assert_int_equal(taking, 1);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test_setup(goes_in_order, begin),
		  cmocka_unit_test_setup(comes_back_in_the_other_order, begin),
		  cmocka_unit_test_setup(stays_where_it_is_near_the_limit, begin),
		  cmocka_unit_test_setup(waits_longer_each_time, begin),
		  cmocka_unit_test_setup(of_two_budgets, begin),
		  cmocka_unit_test_setup(without_limits, begin),
		  cmocka_unit_test(one_row_takes_the_data_of_threads));
}
