/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind information of stripped Go programs: that of real ones as libdw reports it for twins with .debug_frame, and of
 * tables that lie. */
#include "folder.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/cfi.h"
#include "sym/elf_file.h"
#include "sym/gopclntab.h"

/* Builds a program with symbols, "full", and strips it: "stripped". */
static void build(const char *options, const char *more)
{
	char command[1024];
	FILE *f = fopen(in_folder("main.go"), "w");

	assert_non_null(f);
	fprintf(f, "package main\n%s\nvar one = 1\n"
		   "//go:noinline\n"
		   "func burn(n int) int { var a [1000]int; a[n%%1000] = n; return a[one] * n }\n"
		   "func main() { println(burn(one)) }\n", more);
	fclose(f);
	snprintf(command, sizeof(command),
		 "cd %s && rm -f full stripped && GO111MODULE=off GOFLAGS= GOCACHE=${GOCACHE:-%s/cache} go build -o full %s main.go && "
		 "strip -o stripped full", folder, folder, options);
	assert_int_equal(system(command), 0);
}

static void read_table(const char *path, struct cfi_table *t, struct elf_segments *s)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file f;

	assert_true(fd >= 0);
	*t = (struct cfi_table){ 0 };
	assert_int_equal(cfi_read(fd, t), 0);
	assert_int_equal(t->bad, 0);
	*s = (struct elf_segments){ .nr = 0 };
	assert_int_equal(elf_file_open(&f, fd), 0);
	elf_segments_read(&f, s);
	elf_file_close(&f);
	close(fd);
}

/* The rule for an address. */
static const struct cfi_rule *rule_at(const struct cfi_table *t, const struct elf_segments *s, uint64_t address)
{
	const struct cfi_rule *rule = &t->rules[0];

	for (int i = 0; i < s->nr; i++) {
		uint64_t offset = address - s->at[i].address + s->at[i].offset;
		const struct unwind_row *rows;
		size_t nr;

		if (address < s->at[i].address || address - s->at[i].address >= s->at[i].size)
			continue;
		for (size_t page = 0; page < t->nr_pages; page++) {
			if (t->pages[page].page != offset / UNWIND_PAGE_BYTES)
				continue;
			rows = cfi_rows_of(t, page, &nr);
			for (size_t row = 0; row < nr && rows[row].from <= offset % UNWIND_PAGE_BYTES; row++)
				rule = &t->rules[rows[row].rule];
		}
	}
	return rule;
}

/* Offset of the CFA from the stack pointer; -1: libdw does not know. */
static int64_t offset_of(Dwarf_CFI *cfi, uint64_t address)
{
	Dwarf_Frame *frame;
	int64_t offset = -1;
	Dwarf_Op *ops;
	size_t nr;

	if (dwarf_cfi_addrframe(cfi, address, &frame))
		return -1;
	if (!dwarf_frame_cfa(frame, &ops, &nr) && nr == 1)
		offset = ops[0].atom == DW_OP_bregx && ops[0].number == 7 ? (int64_t)ops[0].number2 :
			 ops[0].atom == DW_OP_breg7 ? (int64_t)ops[0].number : -1;
	free(frame);
	return offset;
}

static struct seen {
	int functions, places, others, outermost, signals, away;
} seen;

static void compare_function(const struct cfi_table *t, const struct elf_segments *s, Dwarf_CFI *cfi, unsigned long from,
			     unsigned long size, const char *name)
{
	int others = 0;

	seen.functions++;
	for (unsigned long at = from; at < from + size; at++) {
		const struct cfi_rule *rule = rule_at(t, s, at);
		int64_t offset = offset_of(cfi, at);

		seen.places++;
		others += rule->kind != CFI_SP;
		seen.outermost += at == from && rule->kind == CFI_STOP;
		seen.signals += at == from && rule->kind == CFI_SIGNAL;
		seen.away += at == from && rule->kind == CFI_FP_AWAY;
		if (rule->kind != CFI_SP || offset < 0)
			continue;
		if (rule->offset != offset || rule->fp != (offset > 8 ? CFI_AT_CFA : CFI_SAME))
			print_error("%s+%lu: %d, not %ld\n", name, at - from, rule->offset, offset);
		assert_int_equal(rule->offset, offset);
		assert_int_equal(rule->fp, offset > 8 ? CFI_AT_CFA : CFI_SAME);
		assert_true(rule->fp == CFI_SAME || rule->fp_offset == -16);
	}
	/* All of a function has a rule, or nothing of it; except for the byte in front of the return address of signals. */
	if (others > 1 && others != (int)size)
		print_error("%s: %d of %lu\n", name, others, size);
	assert_true(others <= 1 || others == (int)size);
	seen.others += others > 1;
}

/* Compares Go's functions, and each second of the others, at each byte. */
static void compare(const char *options)
{
	int fd = open(in_folder("full"), O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CFI *cfi = dwarf_getcfi(dwarf);
	char line[4096], symbol[4096];
	struct elf_segments segments;
	unsigned long address, size;
	struct cfi_table t;
	FILE *f;

	assert_non_null(cfi);
	read_table(in_folder("stripped"), &t, &segments);
	seen = (struct seen){ 0 };
	snprintf(line, sizeof(line), "nm -S --defined-only %s", in_folder("full"));
	f = popen(line, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char type;

		if (sscanf(line, "%lx %lx %c %4095[^\n]", &address, &size, &type, symbol) == 4 && strchr("tT", type) && size &&
		    (!strncmp(symbol, "runtime.", 8) || !strncmp(symbol, "main.", 5)))
			compare_function(&t, &segments, cfi, address, size, symbol);
	}
	pclose(f);
	if (seen.functions < 900 || seen.others > 60 || seen.outermost < 5 || seen.signals != 1)
		print_error("%s: %d functions, %d places, %d functions otherwise, %d outermost, %d signals\n", options,
			    seen.functions, seen.places, seen.others, seen.outermost, seen.signals);
	assert_true(seen.functions >= 900);
	assert_true(seen.others <= 60); /* those that move to another stack */
	assert_true(seen.outermost >= 5);
	assert_int_equal(seen.signals, 1);
	assert_true(seen.away >= 5); /* systemstack, asmcgocall, cgocallback, nanotime1, time.now */
	cfi_fini(&t);
	dwarf_end(dwarf);
	close(fd);
}

TEST(gopcsp, rows_are_those_of_libdw)
{
	FOR_EACH (option, ((const char *const[]){ "", "-buildmode=pie", "-ldflags=-linkmode=external" })) {
		build(*option, "");
		compare(*option);
	}
}

static uint64_t address_of(const char *name)
{
	char line[512];
	unsigned long address = 0;
	FILE *f;

	snprintf(line, sizeof(line), "nm --defined-only %s | grep -w %s", in_folder("full"), name);
	f = popen(line, "r");
	assert_true(fgets(line, sizeof(line), f) && sscanf(line, "%lx", &address) == 1);
	pclose(f);
	return address;
}

/* A program with C functions, too: theirs comes from .eh_frame. */
TEST(gopcsp, beside_eh_frame)
{
	struct elf_segments s;
	struct cfi_table t;

	build("", "// int twice(int x) { return 2 * x; }\nimport \"C\"\nvar two = C.twice(1)\n");
	compare("cgo");
	read_table(in_folder("stripped"), &t, &s);
	assert_int_equal(rule_at(&t, &s, address_of("twice"))->kind, CFI_SP);
	assert_int_equal(rule_at(&t, &s, address_of("_start"))->kind, CFI_STOP);
	cfi_fini(&t);
}

/* The function before it has no byte in front of its end that could be a return address's. */
TEST(gopcsp, signal_frames_are_found_by_the_byte_in_front_of_them)
{
	struct elf_segments s;
	struct cfi_table t;
	uint64_t at;

	build("", "");
	read_table(in_folder("stripped"), &t, &s);
	at = address_of("runtime.sigreturn.*");
	assert_int_equal(rule_at(&t, &s, at)->kind, CFI_SIGNAL);
	assert_int_equal(rule_at(&t, &s, at - 1)->kind, CFI_SIGNAL);
	assert_int_not_equal(rule_at(&t, &s, at - 2)->kind, CFI_SIGNAL);
	cfi_fini(&t);
}

/* --- Tables that lie */

static uint8_t *program;
static size_t program_size;
static struct gopclntab found;

static void open_program(void)
{
	struct elf_file f;
	int fd;

	build("", "");
	fd = open(in_folder("stripped"), O_RDWR | O_CLOEXEC);
	program_size = lseek(fd, 0, SEEK_END);
	program = mmap(NULL, program_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(program != MAP_FAILED);
	assert_int_equal(elf_file_open(&f, fd), 0);
	assert_int_equal(gopclntab_find(&f, &found), 0);
	elf_file_close(&f);
	close(fd);
}

static int reread(struct cfi_table *t)
{
	int fd = open(in_folder("stripped"), O_RDONLY | O_CLOEXEC), err;

	*t = (struct cfi_table){ 0 };
	err = cfi_read(fd, t);
	close(fd);
	for (size_t page = 0; !err && page < t->nr_pages; page++) {
		size_t nr;
		const struct unwind_row *rows = cfi_rows_of(t, page, &nr);

		assert_true(nr && !rows[0].from);
		for (size_t i = 0; i < nr; i++)
			assert_true(rows[i].rule < t->nr_rules && (!i || rows[i].from > rows[i - 1].from));
	}
	return err;
}

/* All functions have the same movements, of which there are as many as the table has room for: the work is bounded. */
TEST(gopcsp, one_long_list_for_all_functions)
{
	uint8_t *table;
	struct cfi_table t;

	open_program();
	table = program + found.offset;
	for (uint64_t i = 0; i < found.nr; i++) {
		uint32_t place;

		memcpy(&place, table + found.functions + i * 8 + 4, 4);
		memcpy(table + found.more_base + place + 16, &(uint32_t){ 1 }, 4);
	}
	/* Up by 8 and down by 8, for no instruction, in turns. */
	for (uint64_t i = found.pcs + 1; i + 4 <= found.functions; i += 4)
		memcpy(table + i, (uint8_t[]){ 16, 0, 15, 0 }, 4);
	assert_int_equal(reread(&t), 0);
	assert_true(t.bad > found.nr / 2);
	cfi_fini(&t);
	munmap(program, program_size);
}

TEST(gopcsp, any_bytes)
{
	struct cfi_table t;
	unsigned int seed = 1;

	open_program();
	for (int round = 0; round < 60; round++) {
		uint8_t kept[4096];
		uint64_t bytes = found.bytes - sizeof(kept), from = found.offset + 64 + (uint64_t)rand_r(&seed) * 4099 % bytes;

		if (from + sizeof(kept) > program_size)
			continue;
		memcpy(kept, program + from, sizeof(kept));
		for (size_t i = 0; i < sizeof(kept); i += 1 + round % 8)
			program[from + i] = rand_r(&seed);
		reread(&t);
		cfi_fini(&t);
		memcpy(program + from, kept, sizeof(kept));
	}
	munmap(program, program_size);
}

/* Places far behind the table's end. */
TEST(gopcsp, places_outside_of_the_table)
{
	struct cfi_table t;
	uint8_t *table;

	open_program();
	table = program + found.offset;
	for (uint64_t i = 0; i < found.nr; i++) {
		uint32_t place, wrong = i % 2 ? UINT32_MAX : 0x7fffffff;

		memcpy(&place, table + found.functions + i * 8 + 4, 4);
		if (i % 3)
			memcpy(table + found.more_base + place + 4, &wrong, 4); /* its name, */
		if (i % 5)
			memcpy(table + found.more_base + place + 16, &wrong, 4); /* its movements, */
		if (!(i % 7))
			memcpy(table + found.functions + i * 8 + 4, &wrong, 4); /* all of it */
	}
	assert_int_equal(reread(&t), 0);
	cfi_fini(&t);
	munmap(program, program_size);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(gopcsp_rows_are_those_of_libdw),
		cmocka_unit_test(gopcsp_beside_eh_frame),
		cmocka_unit_test(gopcsp_signal_frames_are_found_by_the_byte_in_front_of_them),
		cmocka_unit_test(gopcsp_one_long_list_for_all_functions),
		cmocka_unit_test(gopcsp_any_bytes),
		cmocka_unit_test(gopcsp_places_outside_of_the_table),
	};

	return cmocka_run_group_tests(cases, folder_new, folder_drop);
}
