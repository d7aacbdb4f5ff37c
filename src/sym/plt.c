/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf_file.h"
#include "sym/elf_relocations.h"
#include "util/vec.h"

/* Stubs of a larger section are read up to here: 65,536 of them. */
#define SECTION_MAX (1U << 20)

/* Maximum number of slots of one file, of which only those of stubs are used. */
#define SLOTS_MAX (1U << 18)

/* Maximum bytes of the names of one file's stubs, which are in memory: all slots may have the same long name. */
#define NAMES_MAX (8U << 20)

/* The longest stub, and the alignment of all. */
#define STUB_MAX 24
#define STUB_MIN 8

struct plt {
	struct elf_file file;
	uint16_t machine;           /* EM_* */
	GElf_Shdr symbols, names;   /* .dynsym, .dynstr */
	size_t symbols_section;     /* 0: there is none */
	struct slot {
		uint64_t address;
		uint32_t symbol;
	} *slots;                   /* which the dynamic linker sets to the address of a function; sorted */
	size_t nr, room;
};

/* --- Slots */

static int add_slot(void *to, uint32_t symbols, const Elf64_Rela *r)
{
	struct plt *p = to;
	uint32_t type = ELF64_R_TYPE(r->r_info), symbol = ELF64_R_SYM(r->r_info);
	bool arm = p->machine == EM_AARCH64;

	if ((type != (arm ? R_AARCH64_JUMP_SLOT : R_X86_64_JUMP_SLOT) && type != (arm ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT)) ||
	    !symbol || symbols != p->symbols_section)
		return 0;
	if (p->nr == SLOTS_MAX)
		return -E2BIG;
	return VEC_PUSH(p->slots, p->nr, p->room, ((struct slot){ r->r_offset, symbol }));
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int read_slots(struct plt *p)
{
	int err = elf_relocations(&p->file, add_slot, p);

	if (p->nr)
		qsort(p->slots, p->nr, sizeof(*p->slots), compare_slots);
	return err;
}

/* --- Stubs */

/*
 * Decodes the stub @code of x86_64 at @address: jmp *@slot(%rip). Linkers put endbr64, a bnd prefix, or (mold)
 * mov $number,%r11d before it, and a no-op or the lazy binding after it. Returns the stub's bytes; 0: it is none.
 */
static size_t decode_x86_64(const uint8_t code[STUB_MAX], uint64_t address, uint64_t *slot)
{
	size_t at = 0;
	int32_t distance;

	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		at += 4;
	if (!memcmp(code + at, "\x41\xbb", 2))
		at += 6;
	else if (code[at] == 0xf2)
		at++;
	if (memcmp(code + at, "\xff\x25", 2))
		return 0;
	memcpy(&distance, code + at + 2, sizeof(distance));
	at += 6;
	*slot = address + at + distance;
	return (at == 6 && !memcmp(code + at, "\x66\x90", 2)) || (at == 7 && code[at] == 0x90) ? STUB_MIN : 16;
}

/* Decodes the bits of an instruction: @nr of them from bit @from on. */
static uint64_t bits(uint32_t instruction, int from, int nr)
{
	return instruction >> from & ((1U << nr) - 1);
}

/*
 * The same for arm64: adrp x16, page of @slot; ldr x17, [x16, its offset there]; and then add, br. Linkers put bti c before it
 * and a no-op after it, or authenticate x17 before the branch, which makes 24 bytes.
 */
static size_t decode_aarch64(const uint8_t code[STUB_MAX], uint64_t address, uint64_t *slot)
{
	uint32_t words[STUB_MAX / 4];
	size_t at = 0;
	int64_t page;

	memcpy(words, code, sizeof(words));
	if (words[0] == 0xd503245f) /* bti c */
		at++;
	if ((words[at] & 0x9f00001f) != 0x90000010 || (words[at + 1] & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (int64_t)((bits(words[at], 5, 19) << 2 | bits(words[at], 29, 2)) << 43) >> 43; /* signed, of 21 bits */
	*slot = ((address + 4 * at) & ~0xfffULL) + page * 4096 + bits(words[at + 1], 10, 12) * 8;
	return at || words[at + 3] == 0xd71f0a11 /* braa x16, x17 */ || words[at + 3] == 0xdac10211 /* autia1716 */ ? 24 : 16;
}

/* Sets @name to that of the function, with its suffix. Returns its length; 0: it has none. */
static size_t name_of(const struct plt *p, uint32_t symbol, char name[SYMTAB_NAME_MAX])
{
	uint64_t room = SYMTAB_NAME_MAX - sizeof(PLT_SUFFIX);
	Elf64_Sym s;
	size_t len;

	if (symbol >= p->symbols.sh_size / sizeof(s) ||
	    !elf_file_read(&p->file, &s, sizeof(s), p->symbols.sh_offset + symbol * sizeof(s)) ||
	    s.st_name >= p->names.sh_size)
		return 0;
	if (room > p->names.sh_size - s.st_name)
		room = p->names.sh_size - s.st_name;
	if (!elf_file_read(&p->file, name, room, p->names.sh_offset + s.st_name))
		return 0;
	len = strnlen(name, room);
	if (len == room || !len)
		return 0;
	memcpy(name + len, PLT_SUFFIX, sizeof(PLT_SUFFIX));
	return len + strlen(PLT_SUFFIX);
}

static int add_stubs(const struct plt *p, const GElf_Shdr *sh, struct symtab *t)
{
	static uint8_t code[SECTION_MAX + STUB_MAX];
	size_t bytes = sh->sh_size < SECTION_MAX ? sh->sh_size : SECTION_MAX;
	char name[SYMTAB_NAME_MAX];
	int err = 0;

	if (!elf_file_read(&p->file, code, bytes, sh->sh_offset))
		return -EIO;
	memset(code + bytes, 0, STUB_MAX);
	for (size_t at = 0, size; !err && at < bytes && t->names_len < NAMES_MAX; at += size) {
		struct slot wanted = { 0 };
		const struct slot *found;
		size_t len;

		size = (p->machine == EM_AARCH64 ? decode_aarch64 : decode_x86_64)(code + at, sh->sh_addr + at, &wanted.address);
		found = size ? bsearch(&wanted, p->slots, p->nr, sizeof(wanted), compare_slots) : NULL;
		len = found ? name_of(p, found->symbol, name) : 0;
		if (len)
			err = symtab_add(t, sh->sh_addr + at, size, name, len, 0);
		else
			size = STUB_MIN; /* such as the first one, which binds lazily for all others */
	}
	return err;
}

/* --- All of them */

static bool is_stubs(const struct elf_file *f, const GElf_Shdr *sh)
{
	return sh->sh_type == SHT_PROGBITS && sh->sh_flags & SHF_EXECINSTR && !elf_section_check(f, sh) &&
	       (elf_section_is(f, sh, ".plt") || elf_section_is(f, sh, ".plt.sec") || elf_section_is(f, sh, ".plt.got"));
}

/* Sets @stubs to the sections of stubs, up to @max. Returns how many there are. */
static int find_sections(struct plt *p, GElf_Shdr *stubs, int max)
{
	GElf_Shdr sh;
	int nr = 0;

	for (size_t i = 1; i < p->file.nr_sections && elf_section_at(&p->file, i, &sh); i++) {
		if (nr < max && is_stubs(&p->file, &sh)) {
			stubs[nr++] = sh;
		} else if (sh.sh_type == SHT_DYNSYM && !p->symbols_section && !elf_section_check(&p->file, &sh) &&
			   elf_section_at(&p->file, sh.sh_link, &p->names) && !elf_section_check(&p->file, &p->names)) {
			p->symbols = sh;
			p->symbols_section = i;
		}
	}
	return nr;
}

static int read_file(struct plt *p, struct symtab *t)
{
	GElf_Shdr stubs[3];
	GElf_Ehdr head;
	int nr, err;

	if (!gelf_getehdr(p->file.elf, &head) || (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64) ||
	    !elf_file_is_64(&p->file))
		return 0;
	p->machine = head.e_machine;
	nr = find_sections(p, stubs, 3);
	if (!nr || !p->symbols_section)
		return 0;
	err = read_slots(p);
	for (int i = 0; p->nr && i < nr; i++) {
		int added = add_stubs(p, &stubs[i], t);

		err = err ? err : added;
	}
	return err;
}

int plt_read(int fd, struct symtab *t)
{
	struct plt p = { 0 };
	int err = elf_file_open(&p.file, fd), sorted;

	if (!err)
		err = read_file(&p, t);
	elf_file_close(&p.file);
	free(p.slots);
	symtab_trim(t);
	sorted = symtab_sort(t);
	return sorted ? sorted : err;
}
