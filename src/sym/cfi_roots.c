/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where stacks begin, in files that do not say so: recognised by symbols and by code. */
#include "sym/cfi_roots.h"

#include <stdlib.h>
#include <string.h>

/* More symbols than any C library has: other files are not searched. */
#define SYMBOLS_MAX 8192

/* makecontext() is shorter. */
#define CODE_BYTES 1024

/* The offset in the file of @address; 0: none. */
static uint32_t offset_of(const struct elf_segments *segments, uint64_t address)
{
	for (int i = 0; i < segments->nr; i++) {
		const struct elf_segment *s = &segments->at[i];
		uint64_t offset = s->offset + (address - s->address);

		if (address - s->address < s->size && offset <= UINT32_MAX)
			return offset;
	}
	return 0;
}

/* A dynamic linker's entry passes on the stack pointer, as it points to the arguments: the entry of another library may be the
 * address of any code. */
static uint32_t linker_entry(const struct elf_file *f, const struct elf_segments *segments, uint64_t address)
{
	static const uint8_t pass_stack[] = { 0x48, 0x89, 0xe7 }; /* mov %rsp, %rdi */
	uint32_t offset = offset_of(segments, address);
	uint8_t code[8];

	return offset && elf_file_read(f, code, sizeof(code), offset) && memmem(code, sizeof(code), pass_stack, sizeof(pass_stack))
		       ? offset
		       : 0;
}

static bool find_symbols(const struct elf_file *f, GElf_Shdr *symbols)
{
	for (size_t i = 1; i < f->nr_sections && elf_section_at(f, i, symbols); i++)
		if (symbols->sh_type == SHT_DYNSYM)
			return symbols->sh_size <= SYMBOLS_MAX * sizeof(Elf64_Sym);
	return false;
}

/* The address of the function makecontext() that the file exports; 0: it exports none. */
static uint64_t find_makecontext(const struct elf_file *f)
{
	static const char name[] = "makecontext";
	void *symbols = NULL, *names = NULL;
	GElf_Shdr of_symbols, of_names;
	uint64_t found = 0;

	if (!find_symbols(f, &of_symbols) || !elf_section_at(f, of_symbols.sh_link, &of_names) ||
	    elf_section_read(f, &of_names, &names))
		return 0;
	if (memmem(names, of_names.sh_size, name, sizeof(name)) && !elf_section_read(f, &of_symbols, &symbols))
		for (size_t i = 0; !found && i < of_symbols.sh_size / sizeof(Elf64_Sym); i++) {
			const Elf64_Sym *s = (const Elf64_Sym *)symbols + i;

			if (s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == STT_FUNC &&
			    s->st_name + sizeof(name) <= of_names.sh_size && !memcmp((char *)names + s->st_name, name, sizeof(name)))
				found = s->st_value;
		}
	free(symbols);
	free(names);
	return found;
}

/* Whether glibc's function that follows a coroutine begins with @code. */
static bool follows_coroutine(const uint8_t *code)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t next_stack[] = { 0x48, 0x89, 0xdc, 0x48 }; /* mov %rbx, %rsp; mov (%rsp), %rdi */

	return !memcmp(code + (memcmp(code, endbr64, sizeof(endbr64)) ? 0 : sizeof(endbr64)), next_stack, sizeof(next_stack));
}

/* makecontext() loads the address of that function, relative to its own code. */
static uint32_t coroutine_end(const struct elf_file *f, const struct elf_segments *segments)
{
	uint64_t address = find_makecontext(f);
	uint32_t at = address ? offset_of(segments, address) : 0, end;
	uint8_t code[CODE_BYTES], target[8];
	int32_t distance;

	if (!at || !elf_file_read(f, code, sizeof(code), at))
		return 0;
	for (size_t i = 0; i + 7 <= sizeof(code); i++) {
		if ((code[i] & 0xfb) != 0x48 || code[i + 1] != 0x8d || (code[i + 2] & 0xc7) != 0x05) /* lea distance(%rip), .. */
			continue;
		memcpy(&distance, code + i + 3, sizeof(distance));
		end = offset_of(segments, address + i + 7 + (int64_t)distance);
		if (end && elf_file_read(f, target, sizeof(target), end) && follows_coroutine(target))
			return end - 1;
	}
	return 0;
}

uint32_t cfi_root(const struct elf_file *f, const struct elf_segments *segments, uint64_t entry)
{
	uint32_t root = linker_entry(f, segments, entry);

	return root ? root : coroutine_end(f, segments);
}
