/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps that JITs write of their code. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/perfmap.h"

static int map_of(const char *text)
{
	char path[] = "/tmp/systop-perfmap-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static const char *name_at(const struct perfmap *m, uint64_t address)
{
	static char buf[SYMTAB_NAME_MAX];
	const char *name = symtab_find(&m->symtab, address, 0, buf);

	return name ? name : "";
}

TEST(perfmap, lines)
{
	static const char text[] = "7f001000 40 one\r\n"
				   "0x7f002000 0x40 a name@of more words\n"
				   "7f003000 40\n"
				   "7f003000 40 \n"
				   "7f003000 xyz nonsense\n"
				   "\n"
				   "7f001000 20 anew\n"
				   "7f004000 10 not yet whole";
	struct perfmap m = { 0 };
	int fd = map_of(text);

	assert_int_equal(perfmap_read(&m, fd, 0), 0);
	assert_int_equal(m.symtab.nr, 2);
	assert_string_equal(name_at(&m, 0x7f001000), "anew");
	assert_string_equal(name_at(&m, 0x7f001030), "");
	assert_string_equal(name_at(&m, 0x7f00203f), "a name@of more words");
	assert_string_equal(name_at(&m, 0x7f003000), "");
	assert_string_equal(name_at(&m, 0x7f004000), "");
	assert_int_equal(write(fd, " name\n", 6), 6);
	assert_int_equal(perfmap_read(&m, fd, 0), 0);
	assert_string_equal(name_at(&m, 0x7f004000), "not yet whole name");
	assert_int_equal(m.symtab.nr, 3);
	assert_int_equal(perfmap_read(&m, fd, 0), 0);
	assert_int_equal(m.symtab.nr, 3);
	symtab_fini(&m.symtab);
	close(fd);
}

static void append(int fd, const char *text)
{
	assert_int_equal(pwrite(fd, text, strlen(text), lseek(fd, 0, SEEK_END)), strlen(text));
}

/* Code is made in the place of discarded functions, whose names stay in the map. */
TEST(perfmap, code_made_anew)
{
	struct perfmap m = { 0 };
	int fd = map_of("1000 1000 whole\n"
			"2000 100 after\n"
			"5000 1000 at its start\n"
			"6000 400 one\n"
			"6400 400 two\n"
			"6c00 1000 three\n"
			"7c00 100 four\n");

	assert_int_equal(perfmap_read(&m, fd, 0), 0);
	assert_int_equal(m.symtab.nr, 7);
	assert_string_equal(name_at(&m, 0x6450), "two");
	append(fd, "1800 700 smaller\n6000 1000 larger\n");
	assert_int_equal(perfmap_read(&m, fd, 0), 0);
	assert_string_equal(name_at(&m, 0x1000), "");
	assert_string_equal(name_at(&m, 0x1900), "smaller");
	assert_string_equal(name_at(&m, 0x1f00), "");
	assert_string_equal(name_at(&m, 0x2000), "after");
	assert_string_equal(name_at(&m, 0x5fff), "at its start");
	assert_string_equal(name_at(&m, 0x6000), "larger");
	assert_string_equal(name_at(&m, 0x6450), "larger");
	assert_string_equal(name_at(&m, 0x6fff), "larger");
	assert_string_equal(name_at(&m, 0x7000), "");
	assert_string_equal(name_at(&m, 0x7c00), "four");
	assert_int_equal(m.symtab.nr, 5);
	append(fd, "5ff0 20 over both\n");
	assert_int_equal(perfmap_read(&m, fd, 0), 0);
	assert_string_equal(name_at(&m, 0x5fef), "");
	assert_string_equal(name_at(&m, 0x600f), "over both");
	assert_string_equal(name_at(&m, 0x6450), "");
	assert_int_equal(m.symtab.nr, 4);
	symtab_fini(&m.symtab);
	close(fd);
}

/* A process with the same number, and a map that was rewritten. */
TEST(perfmap, another_file)
{
	int one = map_of("1000 10 one\n2000 10 two\n"), other = map_of("1000 10 other\n");
	struct perfmap m = { 0 };

	assert_int_equal(perfmap_read(&m, one, 0), 0);
	assert_string_equal(name_at(&m, 0x2000), "two");
	assert_int_equal(perfmap_read(&m, other, 0), 0);
	assert_string_equal(name_at(&m, 0x1000), "other");
	assert_string_equal(name_at(&m, 0x2000), "");
	assert_int_equal(ftruncate(other, 0), 0);
	assert_int_equal(pwrite(other, "1000 10 new\n", 12, 0), 12);
	assert_int_equal(perfmap_read(&m, other, 0), 0);
	assert_string_equal(name_at(&m, 0x1000), "new");
	symtab_fini(&m.symtab);
	close(one);
	close(other);
}

/* Some compilers write a map of all code each time they are asked to, in place: it is longer then, and in another order. */
TEST(perfmap, anew_in_place)
{
	static const char before[] = "1000 10 one\n2000 10 two\n";
	static const char after[] = "1000 10 first\n1800 10 between\n2000 10 another\n3000 10 last\n";
	struct perfmap m = { 0 };
	int fd = map_of(before);

	assert_int_equal(perfmap_read(&m, fd, 0), 0);
	assert_string_equal(name_at(&m, 0x2000), "two");
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, after, strlen(after), 0), strlen(after));
	assert_int_equal(perfmap_read(&m, fd, 0), 0);
	assert_string_equal(name_at(&m, 0x1000), "first");
	assert_string_equal(name_at(&m, 0x1800), "between");
	assert_string_equal(name_at(&m, 0x2000), "another");
	assert_string_equal(name_at(&m, 0x3000), "last");
	assert_int_equal(m.symtab.nr, 4);
	symtab_fini(&m.symtab);
	close(fd);
}

TEST(perfmap, a_long_line)
{
	static char line[1 << 20];
	struct perfmap m = { 0 };
	int fd = map_of("1000 10 before\n2000 10 ");

	for (size_t i = 0; i < sizeof(line); i++) /* any part of it looks like a line */
		line[i] = i % 2 ? ' ' : '1';
	assert_int_equal(write(fd, line, sizeof(line)), sizeof(line));
	assert_int_equal(perfmap_read(&m, fd, 0), 0);
	assert_int_equal(write(fd, line, sizeof(line)), sizeof(line));
	assert_int_equal(write(fd, "\n3000 10 after\n", 15), 15);
	assert_int_equal(perfmap_read(&m, fd, 0), 0);
	assert_int_equal(m.symtab.nr, 2);
	assert_string_equal(name_at(&m, 0x1000), "before");
	assert_string_equal(name_at(&m, 0x2000), "");
	assert_string_equal(name_at(&m, 0x3000), "after");
	assert_true(m.symtab.names_room < sizeof(line));
	symtab_fini(&m.symtab);
	close(fd);
}

/* Of a million functions the last ones keep their names; reading takes several turns. */
TEST(perfmap, a_long_map)
{
	char name[32], path[] = "/tmp/systop-perfmap-XXXXXX";
	struct perfmap m = { 0 };
	int fd = mkstemp(path), err, turns = 0;
	FILE *f = fdopen(dup(fd), "w");

	unlink(path);
	assert_non_null(f);
	for (int i = 0; i < 1000000; i++)
		fprintf(f, "%x 10 function_%d\n", 0x10000000 + (i ^ 0x5555) * 16, i);
	fclose(f);
	while ((err = perfmap_read(&m, fd, 1)) == -EAGAIN)
		turns++;
	assert_int_equal(err, 0);
	printf("# %d turns, %zu of 1000000 functions\n", turns, m.symtab.nr);
	assert_true(turns > 10);
	assert_true(m.symtab.nr >= 200000 && m.symtab.nr <= 510000);
	for (int i = 999999; i > 800000; i--) {
		snprintf(name, sizeof(name), "function_%d", i);
		assert_string_equal(name_at(&m, 0x10000000 + (i ^ 0x5555) * 16), name);
	}
	assert_string_equal(name_at(&m, 0x10000000 + (1 ^ 0x5555) * 16), "");
	symtab_fini(&m.symtab);
	close(fd);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(perfmap_lines), cmocka_unit_test(perfmap_code_made_anew),
		  cmocka_unit_test(perfmap_another_file),
		  cmocka_unit_test(perfmap_anew_in_place),
		  cmocka_unit_test(perfmap_a_long_line), cmocka_unit_test(perfmap_a_long_map));
}
