/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/cfi_stubs.h"

#include <stdbool.h>
#include <string.h>

#include "sym/cfi.h"
#include "sym/cfi_run.h"
#include "sym/elf_file.h"

/* Entries of .plt, which begin at multiples of this. */
#define ENTRY_BYTES 16

/* Size of pushq GOT+8(%rip), with which the way to the resolver begins. */
#define PUSH_BYTES 6

/* Size of the way to the resolver on arm64. */
#define LINK_HEAD_BYTES 32

/* The beginnings of an entry of .plt, by linker and its options. */
static const struct kind {
	const char *begin;
	uint8_t bytes, push; /* where the instruction that pushes the number is, 0: none */
	uint8_t pushed;
} kinds[] = {
	{ "\xff\x25", 2, 6, 11 },                 /* jmpq *GOT(%rip); pushq $number */
	{ "\xf3\x0f\x1e\xfa\x68", 5, 4, 9 },      /* endbr64; pushq $number */
	{ "\xf3\x0f\x1e\xfa\x41\xbb", 6, 0, 0 },  /* endbr64; movl $number, %r11d */
};

static const struct kind *kind_of(const uint8_t *entry)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!memcmp(entry, kinds[i].begin, kinds[i].bytes) && (!kinds[i].push || entry[kinds[i].push] == 0x68))
			return &kinds[i];
	return NULL;
}

/* What lazy binding uses: a head of one or two entries, and then entries of one kind. */
static bool read_lazy(const struct elf_file *f, struct cfi_stub *stub)
{
	uint8_t code[3 * ENTRY_BYTES] = { 0 };
	size_t size = stub->to - stub->from;

	if (!elf_file_read(f, code, size < sizeof(code) ? size : sizeof(code), stub->from))
		return false;
	for (stub->head = ENTRY_BYTES; stub->head < sizeof(code) && stub->head < size; stub->head += ENTRY_BYTES) {
		const struct kind *kind = kind_of(code + stub->head);

		if (!kind)
			continue;
		stub->pushed = kind->pushed;
		stub->pushes = stub->head == ENTRY_BYTES && code[0] == 0xff && code[1] == 0x35;
		return true;
	}
	return false;
}

/* The same for arm64, where entries push nothing. */
static bool read_link(const struct elf_file *f, struct cfi_stub *stub)
{
	static const uint8_t push[] = { 0xf0, 0x7b, 0xbf, 0xa9 }; /* stp x16, x30, [sp, #-16]! */
	uint8_t code[2 * sizeof(push)]; /* the first instruction may be bti c */

	stub->head = LINK_HEAD_BYTES;
	if (stub->to - stub->from < LINK_HEAD_BYTES || !elf_file_read(f, code, sizeof(code), stub->from))
		return false;
	for (size_t at = 0; at < sizeof(code) && !stub->pushes_link; at += sizeof(push))
		if (!memcmp(code + at, push, sizeof(push)))
			stub->pushes_link = at + sizeof(push);
	return stub->pushes_link;
}

static bool is_at_once(const struct elf_file *f, const GElf_Shdr *sh)
{
	return elf_section_is(f, sh, ".plt.sec") || elf_section_is(f, sh, ".plt.got") || elf_section_is(f, sh, ".iplt");
}

static void insert(struct cfi_stubs *s, const struct cfi_stub *stub)
{
	int at = s->nr++;

	for (; at && s->at[at - 1].from > stub->from; at--)
		s->at[at] = s->at[at - 1];
	s->at[at] = *stub;
}

static bool is_known(const struct elf_file *f, const struct cfi_machine *m, const GElf_Shdr *sh, struct cfi_stub *stub)
{
	if (m == &cfi_aarch64)
		return elf_section_is(f, sh, ".plt") && read_link(f, stub);
	return is_at_once(f, sh) || (elf_section_is(f, sh, ".plt") && sh->sh_addr % ENTRY_BYTES == 0 && read_lazy(f, stub));
}

void cfi_stubs_find(const struct elf_file *f, const struct cfi_machine *m, struct cfi_stubs *s)
{
	GElf_Shdr sh;

	for (size_t i = 1; i < f->nr_sections && s->nr < CFI_STUBS_MAX && elf_section_at(f, i, &sh); i++) {
		struct cfi_stub stub = { .from = sh.sh_offset, .to = sh.sh_offset + sh.sh_size, .address = sh.sh_addr };

		if (sh.sh_type != SHT_PROGBITS || !(sh.sh_flags & SHF_EXECINSTR) || !sh.sh_size || sh.sh_size > UINT32_MAX ||
		    sh.sh_offset > UINT32_MAX - sh.sh_size)
			continue;
		if (is_known(f, m, &sh, &stub))
			insert(s, &stub);
	}
}

static int add_link(const struct cfi_stub *s, struct cfi_rows *rows)
{
	int err = cfi_rows_add(rows, s->from, cfi_state_of(CFI_SP, 0, false));

	if (!err)
		err = cfi_rows_add(rows, s->from + s->pushes_link, cfi_state_of_link(16));
	return err ? err : cfi_rows_add(rows, s->from + s->head, cfi_state_of(CFI_SP, 0, false));
}

int cfi_stubs_add(const struct cfi_stub *s, struct cfi_rows *rows)
{
	int err = 0;

	if (s->pushes_link)
		return add_link(s, rows);
	if (s->head && !s->pushes)
		err = cfi_rows_add_gap(rows, s->from);
	if (s->pushes)
		err = cfi_rows_add(rows, s->from, cfi_state_of(CFI_SP, 16, false));
	if (s->pushes && !err)
		err = cfi_rows_add(rows, s->from + PUSH_BYTES, cfi_state_of(CFI_SP, 24, false));
	if (err)
		return err;
	return cfi_rows_add(rows, s->from + s->head, s->pushed ? cfi_state_of_plt(s->pushed) : cfi_state_of(CFI_SP, 8, false));
}
