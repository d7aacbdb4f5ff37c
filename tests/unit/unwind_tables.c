/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/unwind_tables.h"
#include "helper/proto.h"
#include "util/space.h"

#define ROWS 8192   /* per page */
#define PAGES 4     /* per file: eight files fill a chunk */
#define RULES 100   /* which no other file has */
#define FIT (UNWIND_CHUNK_ROWS / ROWS / PAGES)

static struct unwind_file files[UNWIND_FILES];
static struct unwind_page pages[UNWIND_PAGES];
static struct cfi_rule rules[UNWIND_RULES];
static struct cpu_area *const no_areas[1];
static uint32_t seconds;
static struct unwind_tables *tables;

static int begin(void **state)
{
	struct unwind_tables_memory memory = { files, pages, rules, no_areas, 1, -1, 1, &seconds };

	(void)state;
	memset(files, 0, sizeof(files));
	memset(pages, 0, sizeof(pages));
	seconds = 1000;
	tables = unwind_tables_new(&memory);
	return !tables;
}

static int end(void **state)
{
	(void)state;
	unwind_tables_free(tables);
	return 0;
}

/* The symbols helper's result for file @file with @nr_pages pages: rule @i contains @file and @i. */
static int packed(uint32_t file, uint32_t nr_pages)
{
	struct cfi_packed head = { RULES, nr_pages };
	int fd = memfd_create("table", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &head, sizeof(head)), sizeof(head));
	for (int i = 0; i < RULES; i++) {
		struct cfi_rule rule = { .kind = CFI_SP, .offset = file, .more = i };

		assert_int_equal(write(fd, &rule, sizeof(rule)), sizeof(rule));
	}
	for (uint32_t page = 0; page < nr_pages; page++) {
		struct cfi_packed_page of = { page, ROWS };
		struct unwind_row rows[ROWS];

		for (int i = 0; i < ROWS; i++)
			rows[i] = (struct unwind_row){ i, i % RULES };
		assert_int_equal(write(fd, &of, sizeof(of)), sizeof(of));
		assert_int_equal(write(fd, rows, sizeof(rows)), sizeof(rows));
	}
	return fd;
}

static int read_file(uint32_t file, uint32_t nr_pages)
{
	int fd = packed(file, nr_pages), err = unwind_tables_read(tables, file, fd);

	close(fd);
	files[file].used = seconds;
	return err;
}

/* The pages of files with a table are not shared. */
static void check_pages(uint32_t nr)
{
	static uint8_t taken[UNWIND_CHUNK_ROWS / ROWS];

	memset(taken, 0, sizeof(taken));
	for (uint32_t file = 1; file <= nr; file++)
		for (uint32_t i = 0; i < files[file].nr; i++) {
			struct unwind_page *p = &pages[files[file].first + i];

			assert_int_equal(p->nr, ROWS);
			assert_int_equal(p->first % ROWS, 0);
			assert_int_equal(taken[p->first / ROWS]++, 0);
		}
}

/* Hours of new files, few of them needed at once: 300 files have more rules than there is room for, and many times
 * more rows. */
TEST(unwind_tables, those_needed_last_stay_and_the_others_make_room)
{
	const uint32_t all = 300;

	for (uint32_t file = 1; file <= all; file++) {
		int err = read_file(file, PAGES);

		if (err)
			fail_msg("file %u has no table: %s", file, strerror(-err));
		files[1].used = files[2].used = seconds;
		for (uint32_t needed = 1; needed <= 2 && needed <= file; needed++)
			if (files[needed].nr != PAGES)
				fail_msg("file %u was needed, and has no table any more when file %u has", needed, file);
		check_pages(file);
		seconds += 3;
	}
	for (uint32_t i = 0; i < FIT - 4; i++)
		if (files[all - i].nr != PAGES)
			fail_msg("file %u of %u was met late, and has no table any more", all - i, all);
}

/* No table has a rule of another file's in its place. */
TEST(unwind_tables, a_rule_goes_with_the_last_file_that_has_it)
{
	struct cfi_rule shared = { .kind = CFI_SP, .offset = 1, .more = 7 };
	uint32_t at;

	for (uint32_t file = 1; file <= 4 * FIT; file++) {
		assert_int_equal(read_file(file, PAGES), 0);
		files[1].used = seconds;
		seconds += 3;
	}
	for (at = 0; at < UNWIND_RULES && memcmp(&rules[at], &shared, sizeof(shared)); at++)
		;
	assert_within(at, 0, UNWIND_RULES - 1);
	for (uint32_t i = 0; i < RULES; i++)
		assert_int_equal(rules[at - 7 + i].offset, 1);
}

/* If all tables are needed they stay; the new file is requested again later, not at once. */
TEST(unwind_tables, what_is_needed_does_not_go_for_each_that_comes)
{
	uint32_t without = 0;

	for (uint32_t file = 1; file <= FIT; file++)
		assert_int_equal(read_file(file, PAGES), 0);
	for (uint32_t file = FIT + 1; file <= 2 * FIT; file++) {
		int err = read_file(file, PAGES);

		assert_true(!err || err == -ENOSPC);
		without += !!err;
		files[file].met = 1;
	}
	assert_within(without, FIT - 3, FIT - 1); /* one turn */
	assert_int_equal(unwind_tables_wanted(tables, 0), 0);
}

static bool no_memory;

void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	errno = ENOMEM;
	return no_memory ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
}

/* The files are not to blame: they get their tables when there is memory, or in place of others. */
TEST(unwind_tables, no_memory_for_more_rows)
{
	struct unwind_tables_memory memory = { files, pages, rules, no_areas, 1, -1, 2, &seconds };

	unwind_tables_free(tables);
	tables = unwind_tables_new(&memory);
	assert_non_null(tables);
	no_memory = true;
	assert_int_equal(read_file(1, PAGES), -ENOSPC);
	no_memory = false;
	for (uint32_t file = 1; file <= FIT; file++)
		assert_int_equal(read_file(file, PAGES), 0);
	seconds += 60;
	no_memory = true;
	assert_int_equal(read_file(FIT + 1, PAGES), 0);
	no_memory = false;
	assert_int_equal(files[1].nr, 0);
	assert_int_equal(read_file(1, PAGES), 0);
}

/* A file that takes half of the limit per file goes before small ones. */
TEST(unwind_tables, the_large_ones_go_first_and_for_a_while)
{
	struct cfi_packed head = { CFI_RULES_MAX, 1 };
	struct cfi_packed_page page = { 0, 1 };
	struct unwind_row row = { 0, 0 };
	uint32_t large = 1;

	for (; large <= UNWIND_RULES / CFI_RULES_MAX; large++) {
		int fd = memfd_create("table", MFD_CLOEXEC);

		assert_int_equal(write(fd, &head, sizeof(head)), sizeof(head));
		for (uint32_t i = 0; i < head.nr_rules; i++) {
			struct cfi_rule rule = { .kind = CFI_SP, .offset = large << 16, .more = i };

			assert_int_equal(write(fd, &rule, sizeof(rule)), sizeof(rule));
		}
		assert_int_equal(write(fd, &page, sizeof(page)), sizeof(page));
		assert_int_equal(write(fd, &row, sizeof(row)), sizeof(row));
		files[large].used = seconds;
		assert_int_equal(unwind_tables_read(tables, large, fd), 0);
		assert_int_equal(files[large].nr, 1);
		close(fd);
	}
	assert_int_equal(read_file(large, PAGES), 0);
	for (uint32_t i = 1; i < large; i++)
		assert_int_equal(files[i].nr, 0);
	assert_int_equal(read_file(1, PAGES), -ENOSPC);
}

TEST(unwind_tables, ranges_that_are_given_back_are_one)
{
	struct space s = { 0 };

	assert_int_equal(space_take(&s, 1, 100), -ENOSPC);
	assert_int_equal(space_give(&s, 0, 300), 0);
	assert_int_equal(space_take(&s, 60, 100), 0);
	assert_int_equal(space_take(&s, 60, 100), 100); /* not across 100 */
	assert_int_equal(space_take(&s, 30, 100), 60);
	assert_int_equal(space_take(&s, 101, 100), -ENOSPC);
	assert_int_equal(s.left, 150);
	assert_int_equal(space_give(&s, 60, 30), 0);
	assert_int_equal(space_give(&s, 0, 60), 0);
	assert_int_equal(s.nr, 2);
	assert_int_equal(space_give(&s, 100, 60), 0);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.ranges[0].first, 0);
	assert_int_equal(s.ranges[0].nr, 300);
	assert_int_equal(space_take(&s, 300, 1000), 0);
	assert_int_equal(s.left, 0);
	space_fini(&s);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test_setup_teardown(unwind_tables_those_needed_last_stay_and_the_others_make_room, begin,
						  end),
		  cmocka_unit_test_setup_teardown(unwind_tables_a_rule_goes_with_the_last_file_that_has_it, begin, end),
		  cmocka_unit_test_setup_teardown(unwind_tables_what_is_needed_does_not_go_for_each_that_comes, begin,
						  end),
		  cmocka_unit_test_setup_teardown(unwind_tables_no_memory_for_more_rows, begin, end),
		  cmocka_unit_test_setup_teardown(unwind_tables_the_large_ones_go_first_and_for_a_while, begin, end),
		  cmocka_unit_test(unwind_tables_ranges_that_are_given_back_are_one));
}
