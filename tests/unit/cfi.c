/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares rows of .eh_frame with libdw's result for the same addresses: of this program, its libraries and a few
 * files of the system; all of the system's files with SYSTOP_CFI_FILES. */
#include "folder.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "sym/cfi.h"
#include "sym/cfi_roots.h"
#include "sym/elf_file.h"

/* What the files of this machine are read for. */
#if defined(__aarch64__)
#define MACHINE cfi_aarch64
#define LINKER "/lib/ld-linux-aarch64.so.1"
#else
#define MACHINE cfi_x86_64
#define LINKER "/lib64/ld-linux-x86-64.so.2"
#endif

static struct {
	uint64_t files, rows, bad, mismatches, broken;
	uint64_t refused; /* by libdw */
} seen;

/* Converts libdw's rule for a register to the unwinder's terms. */
static void oracle_register(Dwarf_Frame *f, int reg, uint8_t *saved, int64_t *offset)
{
	Dwarf_Op memory[3], *ops;
	size_t nr;

	*offset = 0;
	*saved = CFI_LOST;
	if (dwarf_frame_register(f, reg, memory, &ops, &nr))
		return;
	/* Without a rule, a callee-saved register has kept its value. */
	if (!nr) {
		*saved = CFI_SAME;
	} else if (nr == 1 && ops[0].atom == DW_OP_call_frame_cfa) {
		*saved = CFI_AT_CFA;
	} else if (nr == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst) {
		*saved = CFI_AT_CFA;
		*offset = ops[1].number;
	} else if (nr == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_breg0 + MACHINE.fp) {
		*saved = CFI_AT_FP; /* an expression begins with the CFA on the stack */
		*offset = ops[1].number;
	}
}

/* libdw's CFA. */
static bool oracle_cfa(Dwarf_Frame *f, struct cfi_rule *rule)
{
	Dwarf_Op *ops;
	size_t nr;

	rule->kind = CFI_BAD;
	if (dwarf_frame_cfa(f, &ops, &nr))
		return false;
	if (nr == 1 && (ops[0].atom == DW_OP_bregx || (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31))) {
		int reg = ops[0].atom == DW_OP_bregx ? (int)ops[0].number : ops[0].atom - DW_OP_breg0;

		rule->kind = reg == MACHINE.sp ? CFI_SP : reg == MACHINE.fp ? CFI_FP
			     : reg == MACHINE.bx && MACHINE.bx != MACHINE.ra ? CFI_BX : CFI_BAD;
		rule->offset = ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number;
	} else if (nr >= 2 && nr <= 3 && (ops[0].atom == DW_OP_breg0 + MACHINE.fp || ops[0].atom == DW_OP_breg0 + MACHINE.sp) &&
		   ops[1].atom == DW_OP_deref && (nr == 2 || ops[2].atom == DW_OP_plus_uconst)) {
		rule->kind = ops[0].atom == DW_OP_breg0 + MACHINE.fp ? CFI_DEREF_FP : CFI_DEREF_SP;
		rule->offset = ops[0].number;
		rule->more = nr == 3 ? ops[2].number : 0;
	} else if (nr == 9 && ops[0].atom == DW_OP_breg7 && ops[1].atom == DW_OP_breg16 && ops[5].atom == DW_OP_ge) {
		rule->kind = CFI_PLT;
		rule->offset = ops[0].number;
		rule->more = ops[4].atom - DW_OP_lit0;
	}
	return true;
}

static struct cfi_rule oracle(Dwarf_Frame *f)
{
	struct cfi_rule rule = { .kind = CFI_BAD };
	Dwarf_Op memory[3], *ops;
	int64_t fp_offset, bx_offset;
	bool signal;
	size_t nr;
	int ra = dwarf_frame_info(f, NULL, NULL, &signal);

	oracle_cfa(f, &rule);
	if (signal && ((rule.kind == CFI_DEREF_SP && rule.offset == 160) || (rule.kind == CFI_FP && !rule.offset)))
		return (struct cfi_rule){ .kind = CFI_SIGNAL };
	if (ra < 0 || dwarf_frame_register(f, ra, memory, &ops, &nr))
		return (struct cfi_rule){ .kind = CFI_BAD };
	if (!nr && ops) /* undefined, in libdw's form */
		return (struct cfi_rule){ .kind = CFI_STOP };
	oracle_register(f, MACHINE.fp, &rule.fp, &fp_offset);
	oracle_register(f, MACHINE.bx, &rule.bx, &bx_offset);
	if (fp_offset != (int16_t)fp_offset) /* too far for a rule */
		return (struct cfi_rule){ .kind = CFI_BAD };
	rule.bx = bx_offset == (int16_t)bx_offset ? rule.bx : CFI_LOST;
	rule.fp_offset = fp_offset;
	rule.bx_offset = rule.bx == CFI_LOST ? 0 : bx_offset;
	if (MACHINE.bx == MACHINE.ra)
		return rule.kind == CFI_BAD ? (struct cfi_rule){ .kind = CFI_BAD } : rule;
	if (nr == 1 && (ops[0].atom == DW_OP_reg5 || (ops[0].atom == DW_OP_regx && ops[0].number == 5)) &&
	    rule.kind == CFI_SP) {
		rule.kind = CFI_RA_DI;
		return rule;
	}
	if (nr != 2 || ops[0].atom != DW_OP_call_frame_cfa || ops[1].atom != DW_OP_plus_uconst ||
	    (int64_t)ops[1].number != -8)
		return (struct cfi_rule){ .kind = CFI_BAD };
	return rule.kind == CFI_BAD ? (struct cfi_rule){ .kind = CFI_BAD } : rule;
}

/* libdw does not know such a CFA: a register that is set after an expression. */
static bool is_refused(Dwarf_Frame *f)
{
	Dwarf_Op *ops;
	size_t nr;

	return dwarf_frame_cfa(f, &ops, &nr);
}

static void compare_row(const char *path, Dwarf_CFI *cfi, uint64_t address, const struct cfi_rule *ours)
{
	struct cfi_rule theirs;
	Dwarf_Frame *frame;

	seen.rows++;
	seen.bad += ours->kind == CFI_BAD;
	if (dwarf_cfi_addrframe(cfi, address, &frame)) {
		seen.refused++; /* libdw gives nothing for a function that is broken further on */
		return;
	}
	theirs = oracle(frame);
	if (is_refused(frame)) {
		seen.refused++;
		free(frame);
		return;
	}
	free(frame);
	if (memcmp(ours, &theirs, sizeof(theirs))) {
		if (seen.mismatches++ < 20)
			fprintf(stderr, "# %s 0x%lx: kind %u %d %d fp %u %d bx %u %d, libdw: kind %u %d %d fp %u %d bx %u %d\n",
				path, address, ours->kind, ours->offset, ours->more, ours->fp, ours->fp_offset, ours->bx,
				ours->bx_offset, theirs.kind, theirs.offset, theirs.more, theirs.fp, theirs.fp_offset,
				theirs.bx, theirs.bx_offset);
	}
}

/* Whether systop added the rows there by itself: arm64's linkers describe no stubs. */
static bool is_stub(const struct elf_file *f, uint64_t address)
{
	GElf_Shdr sh;

	for (size_t i = 1; MACHINE.bx == MACHINE.ra && i < f->nr_sections && elf_section_at(f, i, &sh); i++)
		if (elf_section_is(f, &sh, ".plt") && address - sh.sh_addr < sh.sh_size)
			return true;
	return false;
}

static void compare(const char *path, const struct elf_file *f, Dwarf_CFI *cfi, const struct cfi_table *t,
		    const struct elf_segments *s, uint32_t root)
{
	for (size_t page = 0; page < t->nr_pages; page++) {
		uint64_t offset = (uint64_t)t->pages[page].page * UNWIND_PAGE_BYTES, address;
		size_t nr;
		const struct unwind_row *rows = cfi_rows_of(t, page, &nr);

		for (size_t i = 0; i < nr; i++) {
			const struct cfi_rule *rule = &t->rules[rows[i].rule];

			if (rule->kind != CFI_GAP && elf_address(s, offset + rows[i].from, &address) &&
			    !(rule->kind == CFI_STOP && offset + rows[i].from == root) && !is_stub(f, address))
				compare_row(path, cfi, address, rule);
		}
	}
}

static void check_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct cfi_table t = { 0 };

	if (fd < 0)
		return;
	if (!cfi_read(fd, &t)) {
		struct elf_segments s = { .nr = 0 };
		struct elf_file f;
		GElf_Ehdr head;
		Dwarf_CFI *cfi;

		assert_int_equal(elf_file_open(&f, fd), 0);
		elf_segments_read(&f, &s);
		cfi = dwarf_getcfi_elf(f.elf);
		if (cfi && gelf_getehdr(f.elf, &head)) {
			compare(path, &f, cfi, &t, &s, cfi_root(&f, &s, head.e_entry));
			dwarf_cfi_end(cfi);
		}
		seen.files++;
		seen.broken += t.bad;
		elf_file_close(&f);
	}
	cfi_fini(&t);
	close(fd);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F && S_ISREG(st->st_mode))
		check_file(path);
	return 0;
}

static void report(void)
{
	printf("# %lu files, %lu rows, %lu of them not representable (%.3f %%), %lu functions left out, %lu rows that libdw refuses\n",
	       seen.files, seen.rows, seen.bad, 100.0 * seen.bad / (seen.rows ? seen.rows : 1), seen.broken, seen.refused);
	assert_int_equal(seen.mismatches, 0);
	assert_true(seen.refused <= seen.rows / 100000);
}

TEST(cfi, rows_are_those_of_libdw)
{
	static const char *const few[] = { "/proc/self/exe", "/bin/bash", "/bin/sh", "/usr/bin/find", "/usr/bin/perl",
					   "/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", LINKER,
					   "/lib/x86_64-linux-gnu/libm.so.6", "/lib/aarch64-linux-gnu/libm.so.6",
					   "/lib/x86_64-linux-gnu/libcrypto.so.3" };
	const char *all = getenv("SYSTOP_CFI_FILES");

	for (size_t i = 0; i < ARRAY_SIZE(few) && !all; i++)
		check_file(few[i]);
	if (all)
		nftw(all, visit, 64, FTW_PHYS);
	report();
	assert_true(seen.rows > 1000);
}

/* The rule at an offset of a file's table. */
static const struct cfi_rule *rule_at(const struct cfi_table *t, uint64_t offset)
{
	const struct cfi_rule *rule = &t->rules[0];

	for (size_t page = 0; page < t->nr_pages; page++) {
		size_t nr;
		const struct unwind_row *rows = cfi_rows_of(t, page, &nr);

		if (t->pages[page].page != offset / UNWIND_PAGE_BYTES)
			continue;
		for (size_t i = 0; i < nr && rows[i].from <= offset % UNWIND_PAGE_BYTES; i++)
			rule = &t->rules[rows[i].rule];
	}
	return rule;
}

#if defined(__x86_64__)
/* .eh_frame has no entry for the dynamic linker's first instructions. */
TEST(cfi, dynamic_linker_begins_without_a_caller)
{
	int fd = open(LINKER, O_RDONLY);
	struct elf_segments s = { .nr = 0 };
	struct cfi_table t = { 0 };
	struct elf_file f;
	GElf_Ehdr head;
	uint64_t address = 0, offset;

	assert_true(fd >= 0);
	assert_int_equal(cfi_read(fd, &t), 0);
	assert_int_equal(elf_file_open(&f, fd), 0);
	assert_non_null(gelf_getehdr(f.elf, &head));
	elf_segments_read(&f, &s);
	for (offset = s.at[0].offset; address != head.e_entry; offset++)
		assert_true(elf_address(&s, offset, &address));
	assert_int_equal(rule_at(&t, offset - 1)->kind, CFI_STOP);
	assert_int_not_equal(rule_at(&t, offset - 2)->kind, CFI_STOP);
	elf_file_close(&f);
	cfi_fini(&t);
	close(fd);
}

static void coroutine(void) { }

/* Nor is there one for the padding before the code to which a coroutine's function returns. */
TEST(cfi, coroutines_begin_without_a_caller)
{
	static char stack[16384];
	struct elf_segments s = { .nr = 0 };
	uint64_t returns_to, address = 0, offset;
	struct cfi_table t = { 0 };
	struct elf_file f;
	ucontext_t context;
	Dl_info libc;
	int fd;

	assert_int_equal(getcontext(&context), 0);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = sizeof(stack);
	makecontext(&context, coroutine, 0);
	memcpy(&returns_to, (void *)context.uc_mcontext.gregs[REG_RSP], sizeof(returns_to));
	assert_true(dladdr((void *)returns_to, &libc));
	fd = open(libc.dli_fname, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(cfi_read(fd, &t), 0);
	assert_int_equal(elf_file_open(&f, fd), 0);
	elf_segments_read(&f, &s);
	for (offset = s.at[0].offset; address != returns_to - (uintptr_t)libc.dli_fbase; offset++)
		assert_true(elf_address(&s, offset, &address));
	assert_int_equal(rule_at(&t, offset - 2)->kind, CFI_STOP); /* of the byte before */
	assert_int_not_equal(rule_at(&t, offset - 1)->kind, CFI_STOP);
	assert_int_not_equal(rule_at(&t, offset - 3)->kind, CFI_STOP);
	elf_file_close(&f);
	cfi_fini(&t);
	close(fd);
}

/* A program that calls libc, linked with @options. */
static int link_program(const char *options)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "printf 'int puts(const char *); int rand(void); int main(void) { return puts(\"\") + rand(); }' | "
		 "gcc -O0 -o %s -x c - %s 2> %s",
		 in_folder("stubs"), options, in_folder("errors"));
	if (system(line))
		fail_msg("%s", line);
	return open(in_folder("stubs"), O_RDONLY);
}

/* The rules of all bytes of the sections .plt*, and how many bytes that are. */
static size_t stub_rules(int fd, struct cfi_rule *rules, size_t room)
{
	struct cfi_table t = { 0 };
	struct elf_file f;
	GElf_Shdr sh;
	size_t nr = 0;

	assert_int_equal(cfi_read(fd, &t), 0);
	assert_int_equal(elf_file_open(&f, fd), 0);
	for (size_t i = 1; i < f.nr_sections && elf_section_at(&f, i, &sh); i++)
		if (elf_section_is(&f, &sh, ".plt") || elf_section_is(&f, &sh, ".plt.sec") || elf_section_is(&f, &sh, ".plt.got"))
			for (uint64_t at = 0; at < sh.sh_size && nr < room; at++)
				rules[nr++] = *rule_at(&t, sh.sh_offset + at);
	elf_file_close(&f);
	cfi_fini(&t);
	close(fd);
	return nr;
}

/* Stubs have the rules that GNU ld writes for them, also where a linker writes none. */
TEST(cfi, stubs_without_an_entry)
{
	FOR_EACH (how, ((const char *const[]){ "-Wl,-z,lazy", "-Wl,-z,lazy,-z,ibtplt", "-Wl,-z,now" })) {
		struct cfi_rule with[512], without[512];
		char options[128];
		size_t nr;

		snprintf(options, sizeof(options), "%s,--ld-generated-unwind-info", *how);
		nr = stub_rules(link_program(options), with, ARRAY_SIZE(with));
		snprintf(options, sizeof(options), "%s,--no-ld-generated-unwind-info", *how);
		assert_true(nr >= 16);
		assert_int_equal(stub_rules(link_program(options), without, ARRAY_SIZE(without)), nr);
		for (size_t i = 0; i < nr; i++) {
			if (memcmp(&with[i], &without[i], sizeof(with[i])))
				print_error("%s, byte %zu: kind %u %d %d, not %u %d %d\n", *how, i, without[i].kind, without[i].offset,
					    without[i].more, with[i].kind, with[i].offset, with[i].more);
			assert_memory_equal(&with[i], &without[i], sizeof(with[i]));
			assert_int_not_equal(with[i].kind, CFI_GAP);
		}
	}
}
#endif

#define ENTRIES 100
#define CIE_BYTES 21
#define FDE_BYTES 24

static uint8_t *put32(uint8_t *to, uint32_t value)
{
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

static uint8_t *put64(uint8_t *to, uint64_t value)
{
	memcpy(to, &value, sizeof(value));
	return to + sizeof(value);
}

/* As many functions as CIEs, each with its own. @nested: all CIEs extend to the last one's end, and each has the head of
 * the next one as a block. Returns how many functions are broken. */
static uint64_t broken_functions(bool nested)
{
	static const uint8_t cie[] = { 1, 0, 1, 0x78, 16, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
	static const uint8_t next[] = { DW_CFA_val_expression, 12, 13 }, none[sizeof(next)]; /* the latter are nops */
	const struct elf_segments segments = { .nr = 1, .at = { { .address = 0x1000, .size = 0x10000, .offset = 0x1000 } } };
	uint8_t bytes[ENTRIES * (CIE_BYTES + FDE_BYTES)], *at = bytes;
	const struct cfi_section section = { bytes, sizeof(bytes), 0x20000 };
	struct cfi_table t;
	uint64_t broken;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		at = put32(put32(at, (nested ? ENTRIES - i : 1) * CIE_BYTES - 4), 0);
		at = mempcpy(at, cie, sizeof(cie));
		at = mempcpy(at, nested && i + 1 < ENTRIES ? next : none, sizeof(next));
	}
	for (uint32_t i = 0; i < ENTRIES; i++) {
		at = put32(at, FDE_BYTES - 4);
		at = put32(at, at - bytes - i * CIE_BYTES);
		at = put64(put64(at, 0x1000 + 32 * i), 32);
	}
	assert_int_equal(at - bytes, sizeof(bytes));
	assert_int_equal(cfi_parse(&t, &section, &segments, &cfi_x86_64), 0);
	broken = t.bad;
	cfi_fini(&t);
	return broken;
}

TEST(cfi, overlapping_entries_are_not_read_again_and_again)
{
	assert_int_equal(broken_functions(false), 0);
	assert_within(broken_functions(true), ENTRIES - 5, ENTRIES);
}

/* An entry: the bytes of its instructions behind @head, whose length comes first. */
static uint8_t *put_entry(uint8_t *to, const uint8_t *head, size_t bytes, const uint8_t *instructions, size_t nr)
{
	to = put32(to, bytes + nr);
	return mempcpy(mempcpy(to, head, bytes), instructions, nr);
}

#define AARCH64_FROM 0x1000

/* The rules of a function of arm64 at AARCH64_FROM, by its instructions. @augmentation: three letters of its CIE */
static struct cfi_table aarch64_function(const char *augmentation, const uint8_t *instructions, size_t nr)
{
	static const uint8_t start[] = { DW_CFA_def_cfa, 31, 0 };
	const struct elf_segments segments = { .nr = 1, .at = { { .address = AARCH64_FROM, .size = 0x1000, .offset = AARCH64_FROM } } };
	/* Id, version, augmentation, 4 bytes an instruction, 8 down a word, x30, one byte of data: absolute addresses. */
	uint8_t cie[] = { 0, 0, 0, 0, 1, augmentation[0], augmentation[1], augmentation[2], 0, 4, 0x78, 30, 1, 0 };
	uint8_t bytes[128], fde[21] = { 0 }, *at;
	const struct cfi_section section = { bytes, sizeof(bytes), 0x20000 };
	struct cfi_table t;

	memset(bytes, 0, sizeof(bytes));
	at = put_entry(bytes, cie, sizeof(cie), start, sizeof(start));
	put32(fde, at + 4 - bytes);
	put64(put64(fde + 4, AARCH64_FROM), 64); /* and no augmentation data */
	put_entry(at, fde, sizeof(fde), instructions, nr);
	assert_int_equal(cfi_parse(&t, &section, &segments, &cfi_aarch64), 0);
	assert_int_equal(t.bad, 0);
	return t;
}

static void assert_rule(const struct cfi_table *t, uint32_t instruction, struct cfi_rule expected)
{
	assert_memory_equal(rule_at(t, AARCH64_FROM + 4 * instruction), &expected, sizeof(expected));
}

/* Calls of arm64 put the return address in a register, which leaf functions do not save; its signing changes no place. */
TEST(cfi, return_addresses_in_a_register)
{
	static const uint8_t function[] = { DW_CFA_AARCH64_negate_ra_state, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 48,
					    DW_CFA_offset | 29, 6, DW_CFA_offset | 30, 5, DW_CFA_advance_loc | 1,
					    DW_CFA_def_cfa_register, 29, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 31, 0,
					    DW_CFA_restore | 30, DW_CFA_restore | 29, DW_CFA_AARCH64_negate_ra_state,
					    DW_CFA_advance_loc | 1, DW_CFA_undefined, 30 };
	const struct cfi_rule leaf = { .kind = CFI_SP };
	struct cfi_rule framed = { .kind = CFI_SP, .offset = 48, .fp = CFI_AT_CFA, .fp_offset = -48, .bx = CFI_AT_CFA, .bx_offset = -40 };

	FOR_EACH (augmentation, ((const char *const[]){ "zRB", "zRG" })) {
		struct cfi_table t = aarch64_function(*augmentation, function, sizeof(function));

		framed.kind = CFI_SP;
		assert_rule(&t, 0, leaf);
		assert_rule(&t, 1, framed);
		framed.kind = CFI_FP;
		assert_rule(&t, 2, framed);
		assert_rule(&t, 3, leaf);
		assert_rule(&t, 4, (struct cfi_rule){ .kind = CFI_STOP });
		cfi_fini(&t);
	}
}

/* As the vDSO of arm64 describes the kernel's; the same function with an ordinary pair of registers is none. */
TEST(cfi, signal_frame_of_arm64)
{
	static const uint8_t pair[] = { DW_CFA_def_cfa, 29, 0, DW_CFA_offset_extended_sf, 29, 0, DW_CFA_offset_extended_sf, 30, 0x7f };
	struct cfi_table t = aarch64_function("zRS", pair, sizeof(pair));

	assert_rule(&t, 0, (struct cfi_rule){ .kind = CFI_SIGNAL });
	cfi_fini(&t);
	t = aarch64_function("zRB", pair, sizeof(pair));
	assert_rule(&t, 0, (struct cfi_rule){ .kind = CFI_FP, .fp = CFI_AT_CFA, .bx = CFI_AT_CFA, .bx_offset = 8 });
	cfi_fini(&t);
}

int main(void)
{
	RUN_TESTS(
#if defined(__x86_64__)
		  cmocka_unit_test_setup_teardown(cfi_stubs_without_an_entry, folder_new, folder_drop),
		  cmocka_unit_test(cfi_dynamic_linker_begins_without_a_caller),
		  cmocka_unit_test(cfi_coroutines_begin_without_a_caller),
#endif
		  cmocka_unit_test(cfi_return_addresses_in_a_register),
		  cmocka_unit_test(cfi_signal_frame_of_arm64),
		  cmocka_unit_test(cfi_rows_are_those_of_libdw),
		  cmocka_unit_test(cfi_overlapping_entries_are_not_read_again_and_again));
}
