/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "model/hist.h"

/* Slots of the runqueue's histogram, by number. */
#define S(i) (HIST_SHIFT + (i))
#define UNIT_NS_OF(slots) ((uint64_t)(slots) << HIST_SHIFT)

TEST(hist, quantile_of_empty_is_unknown)
{
	const struct hist h = { 0 };

	assert_true(hist_quantile(&h, HIST_RUNQ, 0.5, VALUE_NA) == VALUE_NA);
	assert_true(hist_quantile(&h, HIST_RUNQ, 1, VALUE_NA) == VALUE_NA);
}

TEST(hist, quantile_interpolates_within_its_slot)
{
	static const struct {
		struct hist h;
		double q;
		uint64_t want;
	} cases[] = {
		/* the first slot begins at 0: it also counts shorter waits */
		{ { .n = { [S(0)] = 4 } }, 0.5, UNIT_NS_OF(1) },
		{ { .n = { [S(0)] = 4 } }, 1, UNIT_NS_OF(2) },
		{ { .n = { [S(0)] = 1 } }, 0.25, UNIT_NS_OF(1) / 2 },
		/* slot 3: [8, 16) units */
		{ { .n = { [S(3)] = 4 } }, 0.5, UNIT_NS_OF(12) },
		{ { .n = { [S(3)] = 4 } }, 0.25, UNIT_NS_OF(10) },
		{ { .n = { [S(3)] = 1000 } }, 1, UNIT_NS_OF(16) },
		/* exactly at the edge of two slots */
		{ { .n = { [S(0)] = 1, [S(4)] = 1 } }, 0.5, UNIT_NS_OF(2) },
		{ { .n = { [S(0)] = 1, [S(4)] = 1 } }, 0.75, UNIT_NS_OF(24) },
		/* empty slots between are skipped */
		{ { .n = { [S(2)] = 99, [S(20)] = 1 } }, 0.99, UNIT_NS_OF(8) },
		{ { .n = { [S(2)] = 98, [S(20)] = 2 } }, 0.99, UNIT_NS_OF(3 << 19) },
		{ { .n = { [S(HIST_SLOTS - 1)] = 2 } }, 0.5, UNIT_NS_OF(3ULL << (HIST_SLOTS - 2)) },
		{ { .n = { [S(HIST_SLOTS - 1)] = 2 } }, 1, UNIT_NS_OF(1ULL << HIST_SLOTS) },
		/* the sum of the counts does not fit into 32 bits */
		{ { .n = { [S(0)] = UINT32_MAX, [S(1)] = UINT32_MAX, [S(2)] = UINT32_MAX } },
		  0.5,
		  UNIT_NS_OF(3) },
	};

	FOR_EACH (c, cases)
		assert_within(hist_quantile(&c->h, HIST_RUNQ, c->q, VALUE_NA), c->want - 1, c->want + 1);
}

TEST(hist, quantile_is_not_above_the_longest)
{
	const struct hist h = { .n = { [S(3)] = 1000 } };

	assert_int_equal(hist_quantile(&h, HIST_RUNQ, 0.99, UNIT_NS_OF(9)), UNIT_NS_OF(9));
	assert_int_equal(hist_quantile(&h, HIST_RUNQ, 0.5, UNIT_NS_OF(15)), UNIT_NS_OF(12));
	assert_int_equal(hist_quantile(&h, HIST_RUNQ, 0.5, 0), 0);
	assert_int_equal(hist_quantile(&h, HIST_RUNQ, 0.5, VALUE_NA), UNIT_NS_OF(12));
}

TEST(hist, quantile_never_decreases)
{
	const struct hist h = { .n = { [S(0)] = 3, [S(1)] = 1, [S(7)] = 100, [S(8)] = 2, [S(22)] = 1 } };
	uint64_t last = 0;

	for (int permille = 1; permille <= 1000; permille++) {
		uint64_t ns = hist_quantile(&h, HIST_RUNQ, permille / 1000.0, VALUE_NA);

		assert_true(ns >= last);
		last = ns;
	}
}

TEST(hist, add_sums_slot_by_slot)
{
	struct hist a = { .n = { [0] = 1, [5] = 2 } };
	const struct hist b = { .n = { [0] = 10, [22] = 7 } };
	const struct hist want = { .n = { [0] = 11, [5] = 2, [22] = 7 } };

	hist_add(&a, &b);
	assert_memory_equal(&a, &want, sizeof(a));
}

TEST(hist, add_saturates)
{
	struct hist a = { .n = { UINT32_MAX - 1, UINT32_MAX } };
	const struct hist b = { .n = { 2, 0 } };

	hist_add(&a, &b);
	assert_true(a.n[0] == UINT32_MAX);
	assert_true(a.n[1] == UINT32_MAX);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(hist_quantile_of_empty_is_unknown),
		  cmocka_unit_test(hist_quantile_interpolates_within_its_slot),
		  cmocka_unit_test(hist_quantile_is_not_above_the_longest),
		  cmocka_unit_test(hist_quantile_never_decreases),
		  cmocka_unit_test(hist_add_sums_slot_by_slot),
		  cmocka_unit_test(hist_add_saturates));
}
