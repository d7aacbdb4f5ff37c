/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares where functions begin and end with what libdw reads from the same files, and searches files that lie. */
#include "unit.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/cfi.h"
#include "sym/elf_file.h"
#include "sym/functions.h"
#include "sym/known.h"

#include <errno.h>

static const char *const paths[] = { "/bin/bash", "/bin/ls", "/lib64/ld-linux-x86-64.so.2", "/usr/bin/perf",
				     "/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib64/libc.so.6",
				     "/usr/lib/x86_64-linux-gnu/libstdc++.so.6" };

/* A copy in memory; -1: there is no such file. */
static int copy_of(const char *path)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), to;
	char buf[1 << 16];
	ssize_t got;

	if (from < 0)
		return -1;
	to = memfd_create("copy", MFD_CLOEXEC);
	assert_true(to >= 0);
	while ((got = read(from, buf, sizeof(buf))) > 0)
		assert_int_equal(write(to, buf, got), got);
	close(from);
	return to;
}

static struct functions functions_of(int fd)
{
	struct functions t;
	struct elf_file f;

	assert_int_equal(elf_file_open(&f, fd), 0);
	functions_read(&f, &t);
	elf_file_close(&f);
	return t;
}

/* All functions of a file in .eh_frame, by libdw. Returns their number. */
static size_t each_by_libdw(int fd, void (*fn)(const struct functions *, int, uint64_t, uint64_t))
{
	struct functions t = functions_of(fd);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const unsigned char *ident = (unsigned char *)elf_getident(elf, NULL);
	Elf_Scn *section = NULL;
	Elf_Data *data = NULL;
	GElf_Shdr sh;
	size_t names = 0, nr = 0;

	elf_getshdrstrndx(elf, &names);
	while (!data && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &sh) && !strcmp(elf_strptr(elf, names, sh.sh_name), ".eh_frame"))
			data = elf_rawdata(section, NULL);
	assert_non_null(data);
	for (Dwarf_Off at = 0, next; !dwarf_next_cfi(ident, data, true, at, &next, &(Dwarf_CFI_Entry){ 0 }); at = next) {
		Dwarf_CFI_Entry e;
		int32_t from;
		uint32_t size;

		if (dwarf_next_cfi(ident, data, true, at, &next, &e) || dwarf_cfi_cie_p(&e))
			continue;
		/* All of these files have 4 bytes, relative to their own place. */
		memcpy(&from, e.fde.start, 4);
		memcpy(&size, e.fde.start + 4, 4);
		if (!size)
			continue;
		fn(&t, fd, sh.sh_addr + (e.fde.start - (uint8_t *)data->d_buf) + from, size);
		nr++;
	}
	elf_end(elf);
	return nr;
}

static size_t found, missing;

static void must_find(const struct functions *t, int fd, uint64_t from, uint64_t size)
{
	const uint64_t places[] = { from, from + size / 2, from + size - 1 };
	struct function_range r;

	for (int i = 0; i < 3; i++) {
		if (!functions_find(t, fd, places[i], &r)) {
			missing++;
			continue;
		}
		found++;
		if (r.from != from || r.to != from + size)
			fail_msg("0x%lx is in 0x%lx to 0x%lx, not in 0x%lx to 0x%lx", places[i], r.from, r.to, from, from + size);
	}
}

TEST(functions, are_those_of_libdw)
{
	size_t nr = 0, files = 0;

	elf_version(EV_CURRENT);
	found = missing = 0;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int fd = copy_of(paths[i]);

		if (fd < 0)
			continue;
		files++;
		nr += each_by_libdw(fd, must_find);
		close(fd);
	}
	printf("# %zu functions in %zu files, %zu places found, %zu not\n", nr, files, found, missing);
	assert_true(files >= 3 && nr > 3000);
	assert_int_equal(missing, 0);
}

/* Places in no function: before the first one, in the padding between two, in data. */
TEST(functions, code_without_unwind_information_is_in_none)
{
	int fd = copy_of("/bin/bash");
	struct functions t = functions_of(fd);
	struct function_range r;

	assert_true(t.nr > 1000);
	assert_false(functions_find(&t, fd, 0, &r));
	assert_false(functions_find(&t, fd, t.address, &r));
	assert_false(functions_find(&t, fd, UINT64_MAX, &r));
	close(fd);
}

static void strip_sections(int fd)
{
	Elf64_Ehdr head;

	assert_int_equal(pread(fd, &head, sizeof(head), 0), sizeof(head));
	head.e_shoff = head.e_shnum = head.e_shstrndx = 0;
	assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
}

TEST(functions, files_without_sections_have_the_same_and_unwind_the_same)
{
	int fd = copy_of("/bin/bash");
	struct functions with = functions_of(fd), without;
	struct cfi_table table, bare;

	assert_int_equal(cfi_read(fd, &table), 0);
	strip_sections(fd);
	without = functions_of(fd);
	assert_memory_equal(&with, &without, sizeof(with));
	assert_int_equal(cfi_read(fd, &bare), 0);
	assert_int_equal(table.nr, bare.nr);
	assert_memory_equal(table.rows, bare.rows, table.nr * sizeof(*table.rows));
	cfi_fini(&table);
	cfi_fini(&bare);
	close(fd);
}

static size_t right;

/* A function that is found anyway holds the place, and is one of the file's own. */
static void may_find(const struct functions *t, int fd, uint64_t from, uint64_t size)
{
	struct function_range r;

	if (!functions_find(t, fd, from + size / 2, &r))
		return;
	assert_true(r.from <= from + size / 2 && r.to > from + size / 2);
	right += r.from == from;
}

/* A table in which every second entry is another one's: unsorted, and its functions begin where none does. */
TEST(functions, a_table_that_lies_costs_names_only)
{
	int fd = copy_of("/bin/bash");
	struct functions t = functions_of(fd);
	int32_t entry[4], swapped[4];
	size_t nr;

	srandom(7);
	for (uint64_t i = 0; i + 1 < t.nr; i += 2) {
		assert_int_equal(pread(fd, entry, sizeof(entry), t.table + i * 8), sizeof(entry));
		memcpy(swapped, entry, sizeof(swapped));
		swapped[random() % 4] = random();
		if (i % 4)
			swapped[1] = entry[3], swapped[3] = entry[1];
		assert_int_equal(pwrite(fd, swapped, sizeof(swapped), t.table + i * 8), sizeof(swapped));
	}
	right = 0;
	nr = each_by_libdw(fd, may_find);
	printf("# %zu of %zu functions still found\n", right, nr);
	assert_true(right < nr);
	close(fd);
}

/* The search ends, whatever the bytes are, and wherever the file ends. */
TEST(functions, broken_files_are_searched_to_an_end)
{
	struct function_range r;

	srandom(11);
	for (int i = 0; i < 400; i++) {
		int fd = copy_of("/bin/ls");
		struct functions t = functions_of(fd);
		uint64_t header = t.address - t.segment.address + t.segment.offset;

		for (int k = 0; k < 8; k++) {
			uint64_t at = k < 4 ? header + random() % 64 : t.segment.offset + random() % t.segment.size;
			uint8_t byte = random();

			assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		}
		if (i % 4 == 3)
			assert_int_equal(ftruncate(fd, header + random() % 4096), 0);
		t = functions_of(fd);
		for (int k = 0; k < 50; k++) {
			uint64_t place = random() % (1 << 20);

			if (functions_find(&t, fd, place, &r))
				assert_true(r.from <= place && place < r.to);
		}
		close(fd);
	}
}

/* The offset of a function that has no name. */
static uint64_t nameless_in(struct known *k)
{
	char name[SYMTAB_NAME_MAX];
	uint64_t at = k->found.segments.at[0].offset;

	while (known_name(k, false, at, name) != NAME_FUNCTION)
		at += 64;
	return at;
}

/* A file that was closed, @forgotten: also what was read of it, has to be opened again, though it was looked for in debug
 * information meanwhile, which turned out to be another file's. */
static void close_and_look(bool forgotten)
{
	struct symbols_loaded a = { 0 };
	struct known *k = known_file(1);
	char name[SYMTAB_NAME_MAX];
	uint64_t at;

	k->fd = open("/bin/ls", O_RDONLY | O_CLOEXEC);
	assert_int_equal(known_load(k, SYMBOLS_FILE, 0, &a), 0);
	assert_false(a.whole);
	at = nameless_in(k);
	k->symtab.in_file = forgotten;
	known_close(k);
	k->debug_fd = open("/bin/bash", O_RDONLY | O_CLOEXEC);
	assert_int_equal(known_load(k, SYMBOLS_DEBUG, 0, &a), -ESTALE);
	assert_int_equal(k->read, !forgotten);
	assert_int_equal(known_name(k, false, at, name), -ESTALE);
	known_forget(1);
}

TEST(functions, are_looked_up_after_another_files_debug_information)
{
	close_and_look(false);
	close_and_look(true);
}

TEST(functions, a_copy_of_a_file_is_not_its_debug_information)
{
	struct symbols_loaded a = { 0 };
	struct known *k = known_file(1);
	size_t symbols;

	k->fd = open("/bin/ls", O_RDONLY | O_CLOEXEC);
	assert_int_equal(known_load(k, SYMBOLS_FILE, 0, &a), 0);
	symbols = k->symtab.nr;
	k->debug_fd = copy_of("/bin/ls");
	assert_int_equal(known_load(k, SYMBOLS_DEBUG, 0, &a), -ESTALE);
	assert_int_equal(k->symtab.nr, symbols);
	known_forget(1);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(functions_are_those_of_libdw),
		  cmocka_unit_test(functions_code_without_unwind_information_is_in_none),
		  cmocka_unit_test(functions_files_without_sections_have_the_same_and_unwind_the_same),
		  cmocka_unit_test(functions_a_table_that_lies_costs_names_only),
		  cmocka_unit_test(functions_broken_files_are_searched_to_an_end),
		  cmocka_unit_test(functions_are_looked_up_after_another_files_debug_information),
		  cmocka_unit_test(functions_a_copy_of_a_file_is_not_its_debug_information));
}
