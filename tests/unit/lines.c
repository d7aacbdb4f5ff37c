/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source lines of this program, from within. */
#include "unit.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/known.h"
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

/* A copy of this program, as another build of it: its build ID differs. */
static int another_build(const struct elf_found *this)
{
	int from = open("/proc/self/exe", O_RDONLY), to = memfd_create("copy", MFD_CLOEXEC);
	size_t size = lseek(from, 0, SEEK_END);
	uint8_t *bytes = malloc(size), *id;

	assert_int_equal(pread(from, bytes, size, 0), size);
	assert_true(this->build_id_bytes > 0);
	id = memmem(bytes, size, this->build_id, this->build_id_bytes);
	assert_non_null(id);
	id[0] ^= 1;
	assert_int_equal(write(to, bytes, size), size);
	free(bytes);
	close(from);
	return to;
}

static uint64_t offset_of(const struct known *k, uint64_t address)
{
	const struct elf_segment *s = k->found.segments.at;

	while (address - s->address >= s->size)
		s++;
	return address - s->address + s->offset;
}

/* The file was closed, and its path may have another file when it is opened again. */
TEST(lines, of_a_debug_file_that_another_build_has_replaced)
{
	struct symbols_loaded a = { 0 };
	struct known *k = known_file(1);
	char was[1024] = "", same[1024] = "", another[1024] = "";
	uintptr_t at = outer(), base = 0;
	uint64_t offset;

	dl_iterate_phdr(first_object, &base);
	k->fd = open("/proc/self/exe", O_RDONLY);
	k->debug_fd = open("/proc/self/exe", O_RDONLY);
	assert_int_equal(known_load(k, SYMBOLS_FILE, 0, &a), 0);
	assert_int_equal(known_load(k, SYMBOLS_DEBUG, 0, &a), 0);
	offset = offset_of(k, at - base);
	known_source(k, true, offset, was, sizeof(was));
	assert_non_null(strstr(was, "lines.c:"));
	known_close(k);
	k->debug_fd = open("/proc/self/exe", O_RDONLY);
	known_source(k, true, offset, same, sizeof(same));
	assert_string_equal(same, was);
	close(k->debug_fd);
	k->debug_fd = another_build(&k->found);
	known_source(k, true, offset, another, sizeof(another));
	assert_string_equal(another, "");
	known_forget(1);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(lines_of_an_inlined_function), cmocka_unit_test(lines_of_nothing),
		  cmocka_unit_test(lines_of_a_debug_file_that_another_build_has_replaced));
}
