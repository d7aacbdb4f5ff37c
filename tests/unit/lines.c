/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source lines of this program, from within. */
#include "unit.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sym/lines.h"

static const char *inner_line, *outer_line;

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/* Its own address, in a function that is inlined into its caller. */
static inline __attribute__((always_inline)) uintptr_t inner(void)
{
	uintptr_t here;

	inner_line = "lines.c:" TEXT(__LINE__) "\n";
#if defined(__x86_64__)
	asm volatile("lea -1(%%rip), %0" : "=r"(here)); /* an address within the function */
#else
	asm volatile("adr %0, ." : "=r"(here));
#endif
	return here;
}

static __attribute__((noinline)) uintptr_t outer(void)
{
	outer_line = "inner inlined in outer at lines.c:" TEXT(__LINE__);
	return inner() + 0;
}

static int first_object(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

TEST(lines, of_an_inlined_function)
{
	int fd = open("/proc/self/exe", O_RDONLY), line = 0, expected = 0, called = 0, from = 0;
	uintptr_t at = outer(), base = 0;
	char text[1024];

	dl_iterate_phdr(first_object, &base);
	lines_find(fd, at - base, text, sizeof(text));
	close(fd);
	/* Compilers disagree by a line or two about the line of a statement. */
	assert_int_equal(sscanf(inner_line, "lines.c:%d", &expected), 1);
	assert_int_equal(sscanf(text, "lines.c:%d", &line), 1);
	assert_within(line, expected - 2, expected + 6);
	assert_int_equal(sscanf(outer_line, "inner inlined in outer at lines.c:%d", &expected), 1);
	assert_non_null(strstr(text, "\ninner inlined in outer at lines.c:"));
	from = sscanf(strchr(text, '\n') + 1, "inner inlined in outer at lines.c:%d", &called);
	assert_int_equal(from, 1);
	assert_within(called, expected, expected + 2);
}

TEST(lines, of_nothing)
{
	int fd = open("/proc/self/exe", O_RDONLY), none = open("/dev/null", O_RDONLY);
	char text[64] = "x";

	lines_find(fd, 0, text, sizeof(text));
	assert_string_equal(text, "");
	lines_find(none, 0x1000, text, sizeof(text));
	assert_string_equal(text, "");
	close(fd);
	close(none);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(lines_of_an_inlined_function), cmocka_unit_test(lines_of_nothing));
}
