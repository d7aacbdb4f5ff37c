/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/tick.h"
#include "tui/widget/list.h"

#define SEC 1000000000ULL
#define HEIGHT 10

static struct life lives[100];
static struct process processes[100];
static struct row rows[100];
static int weights[100]; /* the heaviest comes first */

static bool heavier(const void *a, const void *b, const void *arg)
{
	(void)arg;
	return weights[(const struct row *)a - rows] > weights[(const struct row *)b - rows];
}

static uint64_t number(const void *item)
{
	return ((const struct row *)item)->number;
}

static const struct list_kind kind = { number, row_tie };

static const struct row *selected(const struct list *l)
{
	return list_selected(l);
}

static int setup(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		processes[i].tgid = lives[i].tid = lives[i].tgid = i + 1;
		lives[i].start_ns = i + 1;
		lives[i].process = &processes[i];
		rows[i] = (struct row){ .kind = ROW_THREAD, .number = i + 1, .thread = &lives[i],
					.process = &processes[i], .nr_threads = 1 };
		weights[i] = 100 - i;
	}
	return 0;
}

/* A refresh at this time, without one thread. */
static struct list_order refresh(struct list *l, uint64_t now_ns, int without)
{
	struct list_order o = { heavier, NULL, now_ns };

	list_begin(l, &kind);
	for (int i = 0; i < 100; i++)
		if (rows[i].number != without)
			assert_int_equal(list_add(l, &rows[i]), 0);
	list_sort(l, HEIGHT, &o);
	return o;
}

/* Until the user moves it, the selection is the first row, whichever that is. */
TEST(list, selection_sticks_once_moved)
{
	struct list l = { 0 };
	struct list_order o = refresh(&l, 10 * SEC, 0);

	assert_int_equal(selected(&l)->number, 1);
	weights[49] = 1000;
	refresh(&l, 11 * SEC, 0);
	assert_int_equal(selected(&l)->number, 50);
	list_act(&l, ACTION_DOWN, &o);
	refresh(&l, 20 * SEC, 0);
	assert_int_equal(selected(&l)->number, 1);
	weights[79] = weights[89] = 2000;
	refresh(&l, 30 * SEC, 0);
	assert_int_equal(selected(&l)->number, 1);
	assert_int_equal(l.cursor, 3);
	list_act(&l, ACTION_FIRST, &o);
	refresh(&l, 40 * SEC, 0);
	assert_int_equal(selected(&l)->number, 80); /* of equals, the smaller number */
	list_act(&l, ACTION_FIRST, &o);
	weights[59] = 3000;
	refresh(&l, 50 * SEC, 0);
	assert_int_equal(selected(&l)->number, 60);
	list_fini(&l);
}

TEST(list, order_is_held_after_a_move)
{
	struct list l = { 0 };
	struct list_order o = refresh(&l, 10 * SEC, 0);

	o.now_ns = 10 * SEC;
	list_act(&l, ACTION_DOWN, &o);
	assert_true(list_held(&l, 12 * SEC));
	weights[89] = 5000;
	refresh(&l, 12 * SEC, 0);
	assert_int_equal(number(l.items[0]), 1);
	assert_int_equal(number(l.items[1]), 2);
	assert_false(list_held(&l, 13 * SEC));
	refresh(&l, 13 * SEC, 0);
	assert_int_equal(number(l.items[0]), 90);
	assert_int_equal(selected(&l)->number, 2);
	list_fini(&l);
}

/* Between two refreshes the screen shows the held order, and a key or click acts on that, also when the time is over. */
TEST(list, order_is_held_until_it_is_drawn)
{
	struct list l = { 0 };
	struct list_order o = refresh(&l, 10 * SEC, 0);

	list_act(&l, ACTION_DOWN, &o);
	weights[89] = 5000;
	o = refresh(&l, 12 * SEC, 0);
	o.now_ns = 14 * SEC;
	assert_false(list_held(&l, o.now_ns));
	list_click(&l, 2, &o);
	assert_int_equal(selected(&l)->number, 3);
	o = refresh(&l, 16 * SEC, 0);
	o.now_ns = 18 * SEC;
	list_act(&l, ACTION_DOWN, &o);
	assert_int_equal(selected(&l)->number, 4);
	refresh(&l, 22 * SEC, 0);
	assert_int_equal(number(l.items[0]), 90);
	list_fini(&l);
}

/* If the selected thread is gone, the selection stays in its place. */
TEST(list, selected_is_gone)
{
	struct list l = { 0 };
	struct list_order o = refresh(&l, 10 * SEC, 0);

	list_act(&l, ACTION_DOWN, &o);
	list_act(&l, ACTION_DOWN, &o);
	assert_int_equal(selected(&l)->number, 3);
	refresh(&l, 20 * SEC, 3);
	assert_int_equal(l.cursor, 2);
	assert_int_equal(selected(&l)->number, 4);
	list_begin(&l, &kind);
	list_sort(&l, HEIGHT, &o);
	assert_null(list_selected(&l));
	list_fini(&l);
}

static bool ends_in(const void *item, const char *search)
{
	const struct row *r = item;

	return r->number % 10 == atoi(search);
}

TEST(list, search_goes_around)
{
	struct list l = { 0 };
	struct list_order o = refresh(&l, 10 * SEC, 0);

	list_search(&l, 0, ends_in, "7", &o);
	assert_int_equal(selected(&l)->number, 7);
	list_search(&l, 0, ends_in, "7", &o);
	assert_int_equal(selected(&l)->number, 7);
	list_search(&l, 1, ends_in, "7", &o);
	assert_int_equal(selected(&l)->number, 17);
	list_search(&l, -1, ends_in, "7", &o);
	list_search(&l, -1, ends_in, "7", &o);
	assert_int_equal(selected(&l)->number, 97);
	list_fini(&l);
}

/* The next match is the next one in the order, also far below the screen. */
TEST(list, search_follows_the_order)
{
	struct list l = { 0 };
	struct list_order o;

	for (int i = 0; i < 100; i++)
		weights[i] = i * 37 % 100 - (i % 10 == 6 ? HEIGHT : 0);
	o = refresh(&l, 10 * SEC, 0);
	list_search(&l, 0, ends_in, "7", &o);
	assert_int_equal(weights[selected(&l)->number - 1], 82);
	for (int nr = 1; nr < 10; nr++) {
		int before = weights[selected(&l)->number - 1];

		list_search(&l, 1, ends_in, "7", &o);
		assert_true(weights[selected(&l)->number - 1] < before);
	}
	list_fini(&l);
}

static uint64_t process_number(const void *item)
{
	return ((const struct row *)item)->process->tgid;
}

/* A held row that comes back as two has the place of one of them: the other one is not lost. */
TEST(list, held_row_that_comes_back_as_two)
{
	static const struct list_kind parts = { number, row_tie, process_number };
	struct list l = { 0 };
	struct list_order o = { heavier, NULL, 10 * SEC };
	bool there[100] = { false };

	processes[2].tgid = processes[3].tgid = processes[1].tgid;
	for (int second = 0; second < 2; second++) { /* numbers 1, 2, and 5 to 100; then 1, and 3 to 100 */
		list_begin(&l, &parts);
		for (int i = 0; i < 100; i++)
			if (second ? i != 1 : i != 2 && i != 3)
				assert_int_equal(list_add(&l, &rows[i]), 0);
		list_sort(&l, 100, &o);
		if (!second)
			list_act(&l, ACTION_DOWN, &o);
	}
	assert_true(list_held(&l, o.now_ns));
	assert_int_equal(l.nr, 99);
	for (size_t i = 0; i < l.nr; i++)
		there[number(l.items[i]) - 1] = true;
	for (int i = 0; i < 100; i++)
		assert_int_equal(there[i], i != 1);
	assert_int_equal(number(l.items[1]), 3);
	list_fini(&l);
}

/* A row that was found by a search stays selected, also on the first line. */
TEST(list, search_finds_the_first)
{
	struct list l = { 0 };
	struct list_order o = refresh(&l, 10 * SEC, 0);

	list_search(&l, 0, ends_in, "1", &o);
	assert_int_equal(selected(&l)->number, 1);
	weights[49] = 1000;
	refresh(&l, 20 * SEC, 0);
	assert_int_equal(l.cursor, 1);
	assert_int_equal(selected(&l)->number, 1);
	list_fini(&l);
}

/* The first row does not count as selected until it is clicked. */
TEST(list, clicks)
{
	struct list l = { 0 };
	struct list_order o = refresh(&l, 10 * SEC, 0);

	assert_false(list_click(&l, 0, &o));
	assert_true(list_click(&l, 0, &o));
	assert_false(list_click(&l, 2, &o));
	assert_int_equal(selected(&l)->number, 3);
	weights[89] = 5000; /* a second click is on the same row, which did not move in between */
	refresh(&l, 11 * SEC, 0);
	assert_true(list_click(&l, 2, &o));
	list_act(&l, ACTION_PAGE_DOWN, &o);
	assert_false(list_click(&l, 1, &o));
	assert_int_equal(selected(&l)->number, l.top + 2);
	assert_true(list_click(&l, 1, &o));
	assert_false(list_click(&l, l.nr, &o));
	list_fini(&l);
}

/* The selected row is always visible. */
TEST(list, scrolls)
{
	static const enum action moves[] = { ACTION_PAGE_DOWN, ACTION_PAGE_DOWN, ACTION_HALF_UP,
					     ACTION_LAST, ACTION_UP, ACTION_HALF_DOWN, ACTION_PAGE_UP,
					     ACTION_FIRST, ACTION_UP };
	struct list l = { 0 };
	struct list_order o = refresh(&l, 10 * SEC, 0);

	FOR_EACH (move, moves) {
		assert_true(list_act(&l, *move, &o));
		refresh(&l, 10 * SEC, 0);
		assert_true(l.cursor >= l.top && l.cursor < l.top + HEIGHT);
		assert_int_equal(selected(&l)->number, l.cursor + 1);
	}
	assert_false(list_act(&l, ACTION_HELP, &o));
	list_act(&l, ACTION_LAST, &o); /* a list that gets shorter fills the screen */
	for (size_t nr = 15; nr > 0; nr -= 5) {
		list_begin(&l, &kind);
		assert_int_equal(list_add_all(&l, rows, nr, sizeof(*rows)), 0);
		list_sort(&l, HEIGHT, &o);
		assert_int_equal(l.top, nr > HEIGHT ? nr - HEIGHT : 0);
	}
	list_fini(&l);
}

/* Counts comparisons of two that are alike. */
struct alike {
	int from, compared;
};

static bool heavier_counted(const void *a, const void *b, const void *arg)
{
	struct alike *alike = (struct alike *)arg;

	alike->compared += (const struct row *)a - rows >= alike->from && (const struct row *)b - rows >= alike->from;
	return heavier(a, b, NULL);
}

/* The items from @alike on have the same weight: list_alike() does not change what is shown, wherever that weight puts
 * them, and wherever the screen is. */
static void show_alike(int alike, int weight, size_t top)
{
	struct alike counted = { alike };
	struct list_order o = { heavier_counted, &counted, 10 * SEC };
	struct list told = { .top = top, .cursor = top }, not = told;

	for (int i = 0; i < 100; i++)
		weights[i] = i < alike ? 1 + i * 37 % 10 : weight;
	list_begin(&told, &kind);
	list_begin(&not, &kind);
	assert_int_equal(list_add_all(&told, rows, alike, sizeof(*rows)), 0);
	list_alike(&told);
	for (int i = 99; i >= alike; i--)
		assert_int_equal(list_add_all(&told, &rows[i], 1, sizeof(*rows)), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(list_add(&not, &rows[i]), 0);
	for (int again = 0; again < 2; again++) {
		list_sort(&told, HEIGHT, &o);
		if (!again && !weight && alike) /* all others precede them */
			assert_int_equal(counted.compared, 0);
		list_sort(&not, HEIGHT, &o);
		for (size_t i = told.top; i < told.top + HEIGHT; i++)
			assert_ptr_equal(told.items[i], not.items[i]);
		assert_true(list_act(&told, ACTION_PAGE_DOWN, &o));
		assert_true(list_act(&not, ACTION_PAGE_DOWN, &o));
		assert_int_equal(told.cursor, not.cursor);
		assert_ptr_equal(selected(&told), selected(&not));
		o.now_ns += 10 * SEC;
	}
	list_fini(&told);
	list_fini(&not);
}

TEST(list, what_is_alike_is_in_its_place)
{
	for (int alike = 0; alike <= 100; alike += 5)
		for (int weight = 0; weight <= 20; weight += 5)
			for (size_t top = 0; top <= 90; top += 15)
				show_alike(alike, weight, top);
}

/* A followed row moves in the order, but not on the screen. */
TEST(list, what_is_followed_stays_on_its_line)
{
	struct list l = { 0 };
	struct list_order o = refresh(&l, 10 * SEC, 0);

	list_act(&l, ACTION_HALF_DOWN, &o);
	assert_int_equal(l.cursor, 5);
	list_act(&l, ACTION_FOLLOW, &o);
	weights[5] = 50;
	refresh(&l, 20 * SEC, 0);
	assert_int_equal(selected(&l)->number, 6);
	assert_int_equal(l.cursor - l.top, 5);
	list_fini(&l);
}

TEST(list, what_is_followed_is_gone)
{
	struct list l = { 0 };
	struct list_order o = refresh(&l, 10 * SEC, 0);

	list_act(&l, ACTION_DOWN, &o);
	assert_false(list_following(&l));
	list_act(&l, ACTION_FOLLOW, &o);
	assert_true(list_following(&l));
	refresh(&l, 20 * SEC, 2);
	assert_int_equal(selected(&l)->number, 3);
	assert_false(list_following(&l));
	refresh(&l, 30 * SEC, 0); /* as in the past, in which it is still there */
	assert_int_equal(selected(&l)->number, 2);
	assert_true(list_following(&l));
	refresh(&l, 40 * SEC, 2);
	list_act(&l, ACTION_FOLLOW, &o); /* from now on the one that is selected */
	assert_true(list_following(&l));
	refresh(&l, 50 * SEC, 0);
	assert_int_equal(selected(&l)->number, 3);
	list_act(&l, ACTION_FOLLOW, &o);
	assert_false(list_following(&l));
	list_fini(&l);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup(list_selection_sticks_once_moved, setup),
		cmocka_unit_test_setup(list_order_is_held_after_a_move, setup),
		cmocka_unit_test_setup(list_order_is_held_until_it_is_drawn, setup),
		cmocka_unit_test_setup(list_selected_is_gone, setup),
		cmocka_unit_test_setup(list_search_goes_around, setup),
		cmocka_unit_test_setup(list_search_follows_the_order, setup),
		cmocka_unit_test_setup(list_held_row_that_comes_back_as_two, setup),
		cmocka_unit_test_setup(list_search_finds_the_first, setup),
		cmocka_unit_test_setup(list_clicks, setup),
		cmocka_unit_test_setup(list_scrolls, setup),
		cmocka_unit_test_setup(list_what_is_alike_is_in_its_place, setup),
		cmocka_unit_test_setup(list_what_is_followed_stays_on_its_line, setup),
		cmocka_unit_test_setup(list_what_is_followed_is_gone, setup),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
