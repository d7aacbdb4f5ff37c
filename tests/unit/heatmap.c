/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "tui/term/paint.h"
#include "tui/widget/heatmap.h"

/* Columns 100 to 104 of a second each, rows 20 to 23. */
static struct heatmap five(uint64_t first)
{
	struct heatmap h = { .unit = 1 };

	assert_int_equal(heatmap_shape(&h, first, 5, 20, 4), 0);
	for (int column = 0; column < 5; column++)
		h.at[column].per = 1;
	return h;
}

/* A new refresh arrives. */
static void go_on(struct heatmap *h)
{
	assert_int_equal(heatmap_shape(h, h->first + 1, h->columns, h->low, h->rows), 0);
	for (int column = 0; column < h->columns; column++)
		h->at[column].per = 1;
	heatmap_done(h);
}

TEST(heatmap, cursor_is_on_what_is_new_until_it_is_moved)
{
	struct heatmap h = five(100);

	*heatmap_cell(&h, 4, 2) = 7;
	heatmap_done(&h);
	assert_int_equal(h.cursor.column, 104);
	assert_int_equal(h.cursor.row, 22);
	go_on(&h);
	assert_int_equal(h.cursor.column, 105);
	assert_int_equal(h.cursor.row, 23); /* nothing is there */
	assert_true(heatmap_act(&h, ACTION_HEAT_LEFT));
	assert_true(heatmap_act(&h, ACTION_DOWN));
	go_on(&h);
	assert_int_equal(h.cursor.column, 104);
	assert_int_equal(h.cursor.row, 22);
	for (int i = 0; i < 9; i++)
		go_on(&h);
	assert_int_equal(h.cursor.column, h.first); /* pushed along by the edge */
	assert_true(heatmap_act(&h, ACTION_LAST));
	go_on(&h);
	assert_int_equal(h.cursor.column, h.first + 4);
	assert_false(heatmap_act(&h, ACTION_HELP));
	heatmap_fini(&h);
}

TEST(heatmap, cursor_stays_inside)
{
	struct heatmap h = five(0);

	heatmap_done(&h);
	for (int i = 0; i < 9; i++) {
		heatmap_act(&h, ACTION_HEAT_LEFT);
		heatmap_act(&h, ACTION_DOWN);
	}
	assert_int_equal(h.cursor.column, 0);
	assert_int_equal(h.cursor.row, 20);
	for (int i = 0; i < 9; i++) {
		heatmap_act(&h, ACTION_HEAT_RIGHT);
		heatmap_act(&h, ACTION_UP);
	}
	assert_int_equal(h.cursor.column, 4);
	assert_int_equal(h.cursor.row, 23);
	heatmap_fini(&h);
}

TEST(heatmap, range_moves_with_its_time)
{
	struct heatmap h = five(100);
	struct heat_range r;

	heatmap_done(&h);
	heatmap_act(&h, ACTION_HEAT_SELECT); /* 104, 23 */
	go_on(&h);
	assert_int_equal(heatmap_range(&h).last, 104);
	heatmap_act(&h, ACTION_HEAT_LEFT);
	heatmap_act(&h, ACTION_DOWN);
	r = heatmap_range(&h);
	assert_int_equal(r.first, 103);
	assert_int_equal(r.last, 104);
	assert_int_equal(r.low, 22);
	assert_int_equal(r.high, 23);
	heatmap_act(&h, ACTION_HEAT_SELECT);
	heatmap_act(&h, ACTION_FIRST); /* the range is complete: the cursor moves alone */
	go_on(&h);
	r = heatmap_range(&h);
	assert_int_equal(r.first, 103);
	assert_int_equal(r.last, 104);
	assert_true(heatmap_act(&h, ACTION_BACK));
	assert_false(heatmap_act(&h, ACTION_BACK));
	r = heatmap_range(&h);
	assert_int_equal(r.first, r.last);
	assert_int_equal(r.first, h.cursor.column);
	heatmap_fini(&h);
}

TEST(heatmap, range_goes_with_the_last_of_its_time)
{
	struct heatmap h = five(100);

	heatmap_done(&h);
	heatmap_act(&h, ACTION_FIRST);
	heatmap_act(&h, ACTION_HEAT_SELECT);
	heatmap_act(&h, ACTION_HEAT_RIGHT);
	heatmap_act(&h, ACTION_HEAT_SELECT); /* 100 and 101 */
	go_on(&h);
	assert_int_equal(h.range, HEAT_SELECTED);
	go_on(&h);
	assert_int_equal(h.range, HEAT_NONE);
	heatmap_fini(&h);
}

/* A range that was not ended does not grow with the cursor, which the edge pushes along. */
TEST(heatmap, begun_range_goes_like_a_whole_one)
{
	struct heatmap h = five(100);
	struct heat_range r;

	heatmap_done(&h);
	heatmap_act(&h, ACTION_FIRST);
	heatmap_act(&h, ACTION_HEAT_SELECT);
	heatmap_act(&h, ACTION_HEAT_RIGHT); /* 100 and 101 */
	go_on(&h);
	assert_int_equal(h.range, HEAT_SELECTING);
	r = heatmap_range(&h);
	assert_int_equal(r.first, 100);
	assert_int_equal(r.last, 101);
	go_on(&h);
	assert_int_equal(h.range, HEAT_NONE);
	assert_int_equal(h.cursor.column, 102);
	heatmap_fini(&h);
}

TEST(heatmap, levels)
{
	static const struct {
		double value;
		int log, linear;
	} cases[] = {
		{ 0, 0, 0 },    { 0.01, 1, 1 }, { 2.9, 1, 1 },   { 3, 2, 1 },      { 10, 3, 1 },
		{ 99, 4, 1 },   { 100, 5, 2 },  { 899, 6, 9 },   { 900, 6, 9 },    { 1000, 7, 9 },
		{ 9999, 8, 9 }, { 1e4, 9, 9 },  { 1e9, 9, 9 },
	};
	struct heatmap h = five(0);

	*heatmap_cell(&h, 0, 0) = 900;
	heatmap_done(&h);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		h.linear = false;
		assert_int_equal(heatmap_level(&h, cases[i].value), cases[i].log);
		h.linear = true;
		assert_int_equal(heatmap_level(&h, cases[i].value), cases[i].linear);
	}
	heatmap_fini(&h);
}

/* The top is shown, unless the cursor is below the lines. */
TEST(heatmap, low_screens_scroll)
{
	struct heatmap h = five(0);

	heatmap_done(&h);
	assert_int_equal(heatmap_bottom(&h, 4), 0);
	assert_int_equal(heatmap_bottom(&h, 9), 0);
	assert_int_equal(heatmap_bottom(&h, 2), 2);
	for (int i = 0; i < 3; i++)
		heatmap_act(&h, ACTION_DOWN);
	assert_int_equal(heatmap_bottom(&h, 2), 0);
	heatmap_fini(&h);
}

TEST(heatmap, ages)
{
	static const struct {
		uint64_t ms;
		const char *want;
	} cases[] = {
		{ 0, "now" }, { 49, "now" }, { 100, "-0.1s" }, { 500, "-0.5s" }, { 970, "-1s" }, { 1040, "-1s" },
		{ 1520, "-1.5s" }, { 10020, "-10s" }, { 119900, "-120s" },
	};
	char text[24];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(heatmap_age(cases[i].ms * 1000000, text, sizeof(text)), cases[i].want);
}

/* Counts have no fractions, and a level without a whole number is left out. */
TEST(heatmap, legend_of_whole_numbers)
{
	struct heatmap h = five(100);
	struct paint p = { .unicode = true };
	char text[200];

	h.linear = true;
	*heatmap_cell(&h, 4, 2) = 4;
	*heatmap_cell(&h, 3, 2) = 1;
	heatmap_done(&h);
	h.most = 4;
	heatmap_legend(&h, &p, "samples", true, text, sizeof(text));
	assert_null(strchr(text, '.'));
	for (int n = 1; n <= 4; n++) {
		int level = heatmap_level(&h, n), before = heatmap_level(&h, n - 1);
		char is[32];

		snprintf(is, sizeof(is), "%d", n);
		assert_true(level == before || strstr(text, is)); /* the lower bound of each level is shown */
	}
	heatmap_legend(&h, &p, "/s", false, text, sizeof(text));
	assert_non_null(strchr(text, '.'));
	heatmap_fini(&h);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(heatmap_cursor_is_on_what_is_new_until_it_is_moved),
		  cmocka_unit_test(heatmap_cursor_stays_inside),
		  cmocka_unit_test(heatmap_range_moves_with_its_time),
		  cmocka_unit_test(heatmap_range_goes_with_the_last_of_its_time),
		  cmocka_unit_test(heatmap_begun_range_goes_like_a_whole_one),
		  cmocka_unit_test(heatmap_levels),
		  cmocka_unit_test(heatmap_low_screens_scroll),
		  cmocka_unit_test(heatmap_ages), cmocka_unit_test(heatmap_legend_of_whole_numbers));
}
