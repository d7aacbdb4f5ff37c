/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/tick.h"
#include "tui/screen/host.h"
#include "tui/term/paint.h"
#include "tui/widget/row_table.h"
#include "tui/widget/table.h"

struct item {
	uint64_t key, size;
	const char *name;
};

static struct item items[] = { { 1, 10, "b" }, { 2, 30, "a" }, { 3, VALUE_NA, "d" }, { 4, 20, "c" } };

static uint64_t key(const void *item)
{
	return ((const struct item *)item)->key;
}

static int tie(const void *a, const void *b)
{
	return key(a) < key(b) ? -1 : 1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->name, ((const struct item *)b)->name);
}

static bool match(const void *item, const char *search)
{
	return !strcmp(((const struct item *)item)->name, search);
}

static void name_text(const struct table_cell *cell, char *buf, size_t size)
{
	snprintf(buf, size, "%s", ((const struct item *)cell->item)->name);
}

enum { SIZE, PICTURE, LATE, NAME };
static const struct table_column columns[] = {
	[SIZE] = { "SIZE", 0, 5, .at = TABLE_AT(struct item, size), .unit = UNIT_COUNT },
	[PICTURE] = { "PICTURE", 1, 8, .text = name_text },
	[LATE] = { "LATE", 1, 8, .from = 100, .at = TABLE_AT(struct item, size), .unit = UNIT_COUNT },
	[NAME] = { "NAME", 1, 8, TABLE_LEFT | TABLE_WIDENS, .wide = 20, .text = name_text, .compare = by_name },
};

static const struct table_kind kind = {
	.items = { key, tie }, TABLE_COLUMNS(columns), .sorted = true, .by = SIZE, .match = match,
};

static struct paint paint = { .width = 80, .height = 24 };
static struct view_context context = { .paint = &paint, .search = "" };

static void next_tick(struct table_state *t)
{
	table_begin(t, &kind, NULL);
	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
		assert_int_equal(table_add(t, &items[i]), 0);
	table_sort(t, &context, 10);
	context.now_ns += 10000000000ULL; /* past the time that the order is held */
}

static void assert_order(struct table_state *t, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t keys[] = { a, b, c, d };

	next_tick(t);
	for (int i = 0; i < 4; i++)
		assert_int_equal(key(t->list.items[i]), keys[i]);
}

/* Numbers sort largest first, texts smallest first; unknown values and hidden columns do not sort. */
TEST(table, sorts_by_its_columns)
{
	struct table_state t = { 0 };

	assert_order(&t, 2, 4, 1, 3);
	assert_false(table_ascending(&t));
	table_act(&t, ACTION_SORT_RIGHT, &context);
	assert_int_equal(t.by, NAME);
	assert_true(table_ascending(&t));
	assert_order(&t, 2, 1, 4, 3);
	table_act(&t, ACTION_INVERT, &context);
	assert_order(&t, 3, 4, 1, 2);
	table_act(&t, ACTION_SORT_RIGHT, &context);
	assert_int_equal(t.by, SIZE);
	assert_order(&t, 1, 4, 2, 3);
	table_fini(&t);
}

TEST(table, clicks_on_titles_and_rows)
{
	struct table_state t = { 0 };

	next_tick(&t);
	t.y = 4;
	assert_false(table_click(&t, &context, 4, t.x[NAME]));
	assert_order(&t, 2, 1, 4, 3);
	assert_false(table_click(&t, &context, 4, t.x[NAME] + 1));
	assert_order(&t, 3, 4, 1, 2);
	assert_false(table_click(&t, &context, 4, t.x[PICTURE]));
	assert_int_equal(t.by, NAME);
	assert_false(table_click(&t, &context, 4, t.x[SIZE]));
	assert_order(&t, 2, 4, 1, 3);
	assert_false(table_click(&t, &context, 6, 0));
	assert_int_equal(key(table_selected(&t)), 4);
	assert_true(table_click(&t, &context, 6, 0));
	assert_false(table_click(&t, &context, 5 + 4, 0)); /* below the last one */
	table_fini(&t);
}

/* The selection stays on its item in any order. */
TEST(table, selection_and_search)
{
	struct table_state t = { 0 };

	next_tick(&t);
	table_act(&t, ACTION_DOWN, &context);
	assert_int_equal(key(table_selected(&t)), 4);
	table_act(&t, ACTION_INVERT, &context);
	next_tick(&t);
	assert_int_equal(key(table_selected(&t)), 4);
	context.search = "d";
	table_search(&t, 1, &context);
	assert_int_equal(key(table_selected(&t)), 3);
	t.passive = true;
	assert_null(table_selected(&t));
	table_fini(&t);
}

TEST(table, columns_by_the_width_of_the_screen)
{
	struct table_state t = { 0 };

	next_tick(&t);
	assert_int_equal(t.width[LATE], -1);
	assert_int_equal(t.x[NAME], 1 + 5 + 1 + 8 + 1);
	assert_int_equal(t.width[NAME], 20);
	paint.width = 30;
	next_tick(&t);
	assert_int_equal(t.width[NAME], 30 - (1 + 5 + 1 + 8 + 1));
	paint.width = 10;
	next_tick(&t);
	assert_int_equal(t.width[NAME], 8);
	paint.width = 120;
	next_tick(&t);
	assert_int_equal(t.width[LATE], 8);
	paint.width = 80;
	table_fini(&t);
}

static size_t nr_wanted; /* processes whose memory is wanted */

static void want_memory(void *arg, const pid_t *tgids, size_t nr)
{
	(void)arg;
	(void)tgids;
	nr_wanted = nr;
}

static void rows_setup(struct view_context *c, struct settings *settings)
{
	static const struct host host = { .want_memory = want_memory };
	char error[64];

	settings_default(settings);
	assert_null(columns_parse(&settings->columns[TABLE_THREADS], TABLE_THREADS, "id run", error, sizeof(error)));
	assert_null(columns_parse(&settings->columns[TABLE_PROCESSES], TABLE_PROCESSES, "id run", error, sizeof(error)));
	*c = context;
	c->settings = settings;
	c->host = &host;
	c->height = 10;
	c->search = "";
}

static void show_rows(struct row_table *t, const struct view_context *c, const struct row *rows, size_t nr)
{
	row_table_begin(t, c);
	assert_int_equal(list_add_all(&t->table.list, rows, nr, sizeof(*rows)), 0);
	row_table_update(t, c, false);
}

/* The memory of the processes on the screen is wanted, also if their command lines are not shown. */
TEST(table, memory_of_visible_rows)
{
	static struct process process = { .tgid = 7 };
	static struct values values;
	const struct row row = { .kind = ROW_PROCESS, .number = 7, .process = &process, .values = &values, .own = &values };
	struct row_table t = { .which = TABLE_PROCESSES };
	struct settings settings;
	struct view_context c;

	rows_setup(&c, &settings);
	show_rows(&t, &c, &row, 1);
	assert_int_equal(nr_wanted, 1);
	row_table_fini(&t);
}

/* If the table lacks the sort column, rows are in the order of their numbers, as the screen shows, also if the order was inverted.
 * */
TEST(table, order_by_a_column_that_it_lacks)
{
	static struct process processes[] = { { .tgid = 7 }, { .tgid = 8 } };
	static struct values values;
	struct row_table t = { .which = TABLE_PROCESSES };
	struct settings settings;
	struct view_context c;
	struct row rows[2];

	for (int i = 0; i < 2; i++)
		rows[i] = (struct row){ .kind = ROW_PROCESS, .number = processes[i].tgid, .process = &processes[i],
					.values = &values, .own = &values };
	rows_setup(&c, &settings);
	settings.sorting = (struct sorting){ .by = COLUMN_PID, .inverted = true };
	show_rows(&t, &c, rows, 2);
	assert_ptr_equal(t.table.list.items[0], &rows[0]);
	settings.sorting.by = COLUMN_ID;
	show_rows(&t, &c, rows, 2);
	assert_ptr_equal(t.table.list.items[0], &rows[1]);
	row_table_fini(&t);
}

/* The rows of a thread that was moved to another cgroup and back, with one of another thread between, the busiest first. */
enum { MOVED_ROWS = 4 };

static struct life moved_lives[MOVED_ROWS];
static struct row moved_rows[MOVED_ROWS];

static void moved_setup(struct view_context *c, struct settings *settings)
{
	static struct cgroup from = { .id = 1, .path = "/from" }, to = { .id = 2, .path = "/to" };
	static struct cgroup *const cgroups[] = { &from, &from, &to, &from };
	static struct values values[MOVED_ROWS];
	static struct process process;

	rows_setup(c, settings);
	for (int i = 0; i < MOVED_ROWS; i++) {
		pid_t tid = i == 1 ? 8 : 7;

		values[i].v[METRIC_RUN] = 30 - i;
		moved_lives[i] = (struct life){ .tid = tid, .start_ns = 10 * tid };
		moved_rows[i] = (struct row){ .kind = ROW_THREAD, .number = tid, .thread = &moved_lives[i], .process = &process,
					      .cgroup = cgroups[i], .values = &values[i], .own = &values[i] };
	}
}

/* Each of its rows can be selected and opened, also if two are in the same cgroup, and stays where it is. When one of them is
 * gone, another one is selected. */
TEST(table, rows_of_a_thread_that_was_moved)
{
	const struct row *rows = moved_rows;
	const struct tick tick = { .active = rows, .nr_active = 2, .idle = &rows[2], .nr_idle = 2 };
	struct row_table t = { .which = TABLE_THREADS };
	struct settings settings;
	struct view_context c;
	struct subject s;

	moved_setup(&c, &settings);
	for (int i = 0; i < MOVED_ROWS; i++) {
		show_rows(&t, &c, rows, MOVED_ROWS);
		for (int line = 0; line < MOVED_ROWS; line++)
			assert_ptr_equal(t.table.list.items[line], &rows[line]);
		assert_ptr_equal(row_table_selected(&t), &rows[i]);
		s = subject_of(row_table_selected(&t));
		assert_ptr_equal(subject_row(&s, &tick)->cgroup, rows[i].cgroup);
		assert_int_equal(subject_row(&s, &tick)->number, rows[i].number);
		assert_true(row_table_act(&t, &c, ACTION_DOWN));
	}
	assert_true(row_tie(&rows[0], &rows[2]) < 0 && row_tie(&rows[2], &rows[0]) > 0);
	assert_true(row_tie(&rows[0], &rows[3]) < 0 && row_tie(&rows[3], &rows[0]) > 0);
	show_rows(&t, &c, rows, 2);
	assert_ptr_equal(row_table_selected(&t), &rows[0]);
	row_table_fini(&t);
}

/* While the order is held, what remains of a thread that was moved has its place: none of its rows is the one that was there. */
TEST(table, a_moved_thread_keeps_its_held_place)
{
	const struct row *rows = moved_rows;
	struct row_table t = { .which = TABLE_THREADS };
	struct settings settings;
	struct view_context c;

	moved_setup(&c, &settings);
	show_rows(&t, &c, rows, 2);
	assert_true(row_table_act(&t, &c, ACTION_DOWN));
	show_rows(&t, &c, rows, MOVED_ROWS);
	assert_ptr_equal(t.table.list.items[0], &rows[0]);
	assert_ptr_equal(t.table.list.items[1], &rows[1]);
	show_rows(&t, &c, &rows[1], 2);
	assert_ptr_equal(t.table.list.items[0], &rows[2]);
	assert_ptr_equal(t.table.list.items[1], &rows[1]);
	assert_ptr_equal(row_table_selected(&t), &rows[1]);
	row_table_fini(&t);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(table_sorts_by_its_columns), cmocka_unit_test(table_clicks_on_titles_and_rows),
		  cmocka_unit_test(table_selection_and_search),
		  cmocka_unit_test(table_columns_by_the_width_of_the_screen),
		  cmocka_unit_test(table_memory_of_visible_rows),
		  cmocka_unit_test(table_order_by_a_column_that_it_lacks),
		  cmocka_unit_test(table_rows_of_a_thread_that_was_moved),
		  cmocka_unit_test(table_a_moved_thread_keeps_its_held_place));
}
