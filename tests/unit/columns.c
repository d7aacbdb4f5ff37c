/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/cmdline.h"
#include "model/owner.h"
#include "model/tick.h"
#include "tui/widget/columns.h"

static const struct sorting by_run = { .by = (enum column_id)METRIC_RUN };
static const struct column_context context = { .sorting = &by_run };

static struct column_list list(const char *text)
{
	struct column_list l;
	char error[128];
	const char *wrong = columns_parse(&l, TABLE_THREADS, text, error, sizeof(error));

	assert_null(wrong);
	return l;
}

static struct columns place(const char *text, int width, int pan)
{
	struct column_list l = list(text);
	struct columns c;

	columns_place(&c, &l, width, pan, &context);
	return c;
}

TEST(columns, never_wider_than_the_screen)
{
	for (int table = 0; table < TABLE_COUNT; table++) {
		struct column_list l;
		struct columns c;

		columns_default(&l, table);
		for (int width = 40; width <= 500; width++) {
			columns_place(&c, &l, width, 0, &context);
			assert_true(c.nr > 0);
			for (int i = 1; i < c.nr; i++)
				assert_true(c.at[i].x == c.at[i - 1].x + c.at[i - 1].width + 1);
			assert_true(c.at[c.nr - 1].x + c.at[c.nr - 1].width <= width);
		}
	}
}

/* The last columns to leave a narrow screen are number, state, bar, name, and the sort column. */
TEST(columns, the_important_ones_stay)
{
	struct column_list l;
	struct columns c;
	struct sorting by_migrations = { .by = (enum column_id)METRIC_MIGRATIONS };
	struct column_context sorted = { .sorting = &by_migrations };

	columns_default(&l, TABLE_THREADS);
	columns_place(&c, &l, 40, 0, &context);
	assert_true(columns_has(&c, COLUMN_ID) && columns_has(&c, COLUMN_STATE) &&
		    columns_has(&c, COLUMN_BAR) && columns_has(&c, COLUMN_COMMAND) &&
		    columns_has(&c, (enum column_id)METRIC_RUN));
	assert_false(columns_has(&c, COLUMN_CGROUP));
	assert_false(columns_has(&c, (enum column_id)METRIC_MIGRATIONS));
	columns_place(&c, &l, 40, 0, &sorted);
	assert_true(columns_has(&c, (enum column_id)METRIC_MIGRATIONS));
}

/* A wider screen shows all columns of a narrower one. */
TEST(columns, wider_never_loses_one)
{
	struct column_list l;
	struct columns narrow, wide;

	columns_default(&l, TABLE_THREADS);
	columns_place(&narrow, &l, 61, 0, &context);
	for (int width = 62; width <= 300; width++, narrow = wide) {
		columns_place(&wide, &l, width, 0, &context);
		for (int i = 0; i < narrow.nr; i++)
			assert_true(columns_has(&wide, narrow.at[i].id));
	}
}

TEST(columns, order_width_and_wishes)
{
	struct columns c = place("comm:20 id run -bar +migrations", 60, 0);

	assert_int_equal(c.at[0].id, COLUMN_COMM);
	assert_int_equal(c.at[0].width, 20);
	assert_int_equal(c.at[1].id, COLUMN_ID);
	assert_false(columns_has(&c, COLUMN_BAR));
	assert_true(columns_has(&c, (enum column_id)METRIC_MIGRATIONS));
}

static int width_of(const struct columns *c, enum column_id id)
{
	for (int i = 0; i < c->nr; i++)
		if (c->at[i].id == id)
			return c->at[i].width;
	return 0;
}

/* A width that was set on a wide screen is kept there, at the cost of less important columns. It is the most: a narrow screen
 * shows as many columns as without it, and the column takes what is left. */
TEST(columns, set_on_a_wide_screen)
{
	static const char text[] = "id user state bar run d runq cgroup command:150";
	struct columns c = place(text, 200, 0), without = place("id user state bar run d runq cgroup command", 80, 0);

	assert_int_equal(width_of(&c, COLUMN_COMMAND), 150);
	assert_false(columns_has(&c, COLUMN_CGROUP));
	c = place(text, 80, 0);
	assert_int_equal(c.nr, without.nr);
	for (int i = 0; i < c.nr; i++) {
		assert_int_equal(c.at[i].id, without.at[i].id);
		assert_int_equal(c.at[i].width, without.at[i].width);
	}
	c = place("id:9 comm:200 run:2", 80, 0);
	assert_int_equal(width_of(&c, COLUMN_ID), 9);
	assert_int_equal(width_of(&c, (enum column_id)METRIC_RUN), 2);
	assert_int_equal(width_of(&c, COLUMN_COMM), 80 - 1 - 10 - 3 - 1);
}

TEST(columns, panning_shows_others)
{
	struct column_list l;
	struct columns c, last;
	bool seen[COLUMN_COUNT] = { false };

	columns_default(&l, TABLE_THREADS);
	for (int pan = 0; pan < COLUMN_COUNT; pan++) {
		columns_place(&c, &l, 60, pan, &context);
		for (int i = 0; i < c.nr; i++)
			seen[c.at[i].id] = true;
	}
	for (int i = 0; i < l.nr; i++)
		assert_true(l.at[i].hidden || seen[l.at[i].id]);
	/* One step back from the last column that there is shows another one. */
	last = c;
	columns_place(&c, &l, 60, last.pan - 1, &context);
	assert_int_equal(c.nr, last.nr + 1);
}

TEST(columns, text_comes_back)
{
	struct column_list l = list("id -user +pid comm:20 run d -sleep"), again;
	char text[1024], text_again[1024];

	/* Hidden ones keep their place; those at the end get it anyway. */
	columns_print(&l, text, sizeof(text));
	assert_string_equal(text, "id -user +pid comm:20 run d");
	again = list(text);
	columns_print(&again, text_again, sizeof(text_again));
	assert_string_equal(text, text_again);
}

/* A + belongs to the column that it names, which may be in the list already. */
TEST(columns, wish_for_an_earlier_one)
{
	struct column_list l = list("id run +id d");
	char text[1024];

	columns_print(&l, text, sizeof(text));
	assert_string_equal(text, "+id run d");
}

TEST(columns, wrong_ones_are_refused)
{
	struct column_list l;
	char error[128];

	assert_non_null(columns_parse(&l, TABLE_THREADS, "id nosuch", error, sizeof(error)));
	assert_non_null(columns_parse(&l, TABLE_CGROUPS, "tree pid", error, sizeof(error)));
	assert_non_null(columns_parse(&l, TABLE_THREADS, "id:201", error, sizeof(error)));
	assert_non_null(columns_parse(&l, TABLE_THREADS, "id:x", error, sizeof(error)));
	assert_non_null(columns_parse(&l, TABLE_THREADS, "+", error, sizeof(error)));
}

/* Sorts by the shown text; rows that belong to nothing come last, also if the order is inverted. */
TEST(columns, sorts_by_what_a_row_belongs_to)
{
	static const struct owner ssh = { OWNER_UNIT, .unit = "ssh.service", .short_unit = "ssh" };
	static const struct owner web = { OWNER_CONTAINER, .container = "web" };
	struct cgroup root = { .path = "/" }, unit = { .path = "/a", .parent = &root, .owner = &ssh },
		      inner = { .path = "/a/b", .parent = &unit, .owner = &web };
	struct row rows[] = { { .kind = ROW_CGROUP, .cgroup = &root }, { .kind = ROW_CGROUP, .cgroup = &unit },
			      { .kind = ROW_CGROUP, .cgroup = &inner } };
	struct sorting s = { .by = COLUMN_OWNER };

	assert_true(sorting_before(&rows[1], &rows[2], &s) && !sorting_before(&rows[2], &rows[1], &s));
	assert_true(sorting_before(&rows[2], &rows[0], &s) && !sorting_before(&rows[0], &rows[2], &s));
	s.inverted = true;
	assert_true(sorting_before(&rows[2], &rows[1], &s) && !sorting_before(&rows[1], &rows[2], &s));
	assert_true(sorting_before(&rows[2], &rows[0], &s) && !sorting_before(&rows[0], &rows[2], &s));
	s.inverted = false;
	s.by = COLUMN_UNIT; /* of both the same */
	assert_false(sorting_before(&rows[1], &rows[2], &s) || sorting_before(&rows[2], &rows[1], &s));
	s.by = COLUMN_CONTAINER;
	assert_true(sorting_before(&rows[2], &rows[1], &s) && !sorting_before(&rows[1], &rows[2], &s));
	assert_null(column_owner(COLUMN_POD, &rows[2]));
	assert_string_equal(column_owner(COLUMN_UNIT, &rows[2]), "ssh.service");
}

/* Unknown memory comes last, also if the order is inverted. */
TEST(columns, sorts_by_memory)
{
	struct values values = { 0 };
	struct cgroup root = { .path = "/" };
	struct levels levels[3];
	struct row rows[3];
	struct sorting s = { .by = COLUMN_MEMORY };

	for (int i = 0; i < 3; i++) {
		levels[i].v[METRIC_RSS - METRIC_LEVELS] = i == 2 ? VALUE_NA : 1000 * (uint64_t)(i + 1);
		rows[i] = (struct row){ .kind = ROW_THREAD, .cgroup = &root, .values = &values, .own = &values,
					.levels = &levels[i] };
	}
	assert_true(sorting_before(&rows[1], &rows[0], &s) && !sorting_before(&rows[0], &rows[1], &s));
	assert_true(sorting_before(&rows[0], &rows[2], &s) && !sorting_before(&rows[2], &rows[0], &s));
	s.inverted = true;
	assert_true(sorting_before(&rows[0], &rows[1], &s) && !sorting_before(&rows[1], &rows[0], &s));
	assert_true(sorting_before(&rows[0], &rows[2], &s) && !sorting_before(&rows[2], &rows[0], &s));
}

/* Of two rows one precedes the other, and what precedes a row precedes all that follow it: with command lines, without, with
 * an empty one, and with one that begins like another. */
TEST(columns, commands_are_in_an_order)
{
	static const struct {
		const char *comm, *line;
		size_t len;
	} of[] = {
		{ "zsh", "/bin/zsh", 8 },     { "awk", "/usr/bin/awk", 12 }, { "kswapd0", NULL, 0 }, { "/sbin", NULL, 0 },
		{ "b", "sleep\0" "1", 7 },    { "a", "sleep\0" "2", 7 },     { "c", "sleep", 5 },    { "nothing", "", 0 },
		{ "awk", "/usr/bin/awk", 12 },
	};
	enum { NR = ARRAY_SIZE(of) };
	struct process processes[NR] = { 0 };
	struct life lives[NR] = { 0 };
	struct row rows[NR];

	for (int i = 0; i < NR; i++) {
		strcpy(lives[i].comm, of[i].comm);
		processes[i].cmdline = of[i].line ? cmdline_new(of[i].line, of[i].len, false) : NULL;
		rows[i] = (struct row){ .kind = ROW_THREAD, .number = i + 1, .thread = &lives[i], .process = &processes[i] };
	}
	for (enum cmdline_form form = 0; form < CMDLINE_FORMS; form++) {
		struct sorting s = { .by = COLUMN_COMMAND, .form = form };

		for (int a = 0; a < NR; a++)
			for (int b = 0; b < NR; b++) {
				bool before = sorting_before(&rows[a], &rows[b], &s);

				assert_int_equal(before, a != b && !sorting_before(&rows[b], &rows[a], &s));
				for (int c = 0; before && c < NR; c++)
					assert_true(!sorting_before(&rows[b], &rows[c], &s) ||
						    sorting_before(&rows[a], &rows[c], &s));
			}
	}
	for (int i = 0; i < NR; i++)
		free((struct cmdline *)processes[i].cmdline);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(columns_never_wider_than_the_screen),
		  cmocka_unit_test(columns_the_important_ones_stay),
		  cmocka_unit_test(columns_wider_never_loses_one),
		  cmocka_unit_test(columns_order_width_and_wishes),
		  cmocka_unit_test(columns_set_on_a_wide_screen), cmocka_unit_test(columns_panning_shows_others),
		  cmocka_unit_test(columns_text_comes_back),
		  cmocka_unit_test(columns_wrong_ones_are_refused),
		  cmocka_unit_test(columns_sorts_by_what_a_row_belongs_to),
		  cmocka_unit_test(columns_wish_for_an_earlier_one), cmocka_unit_test(columns_sorts_by_memory),
		  cmocka_unit_test(columns_commands_are_in_an_order));
}
