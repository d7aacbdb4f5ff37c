/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of other processes that names and unwind tables come from. */
#include "fuzz.h"

#include <elf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/cfi.h"
#include "sym/cfi_pack.h"
#include "sym/elf.h"
#include "sym/kallsyms.h"
#include "sym/lines.h"
#include "sym/perfmap.h"

/* --- Unwind tables */

/* Rows of a page begin with its first byte, are in order, and name rules that there are. */
static void check_page(const struct cfi_table *t, size_t page)
{
	size_t nr;
	const struct unwind_row *rows = cfi_rows_of(t, page, &nr);

	fuzz_check(nr && nr <= UNWIND_PAGE_BYTES && !rows[0].from, "page %zu: %zu rows", page, nr);
	for (size_t i = 0; i < nr; i++) {
		fuzz_check(rows[i].rule < t->nr_rules, "rule %u of %zu", rows[i].rule, t->nr_rules);
		fuzz_check(!i || rows[i].from > rows[i - 1].from, "page %zu, row %zu: %u comes after %u", page, i,
			   rows[i].from, rows[i - 1].from);
	}
}

static void check_table(const struct cfi_table *t)
{
	for (size_t i = 0; i < t->nr_pages; i++) {
		fuzz_check(t->pages[i].page < UNWIND_PAGES && (!i || t->pages[i].page > t->pages[i - 1].page), "page %u",
			   t->pages[i].page);
		check_page(t, i);
	}
	for (size_t i = 0; i < t->nr_rules; i++)
		fuzz_check(t->rules[i].kind < CFI_KINDS, "a rule of kind %u", t->rules[i].kind);
}

void fuzz_cfi(const uint8_t *bytes, size_t size)
{
	/* The second segment is below the first one in the file. */
	static const struct elf_segments segments = {
		.at = { { 0x10000, 0x8000, 0x1000 }, { 0x1000, 0x8000, 0x100000 } }, .nr = 2,
	};
	struct cfi_section s = { bytes, size, 0x2000 };
	struct cfi_table t = { 0 };

	if (!cfi_parse(&t, &s, &segments, &cfi_x86_64))
		check_table(&t);
	cfi_fini(&t);
}

/* --- ELF files */

/* Functions are in order, and each finds itself. */
static void check_symbols(const struct symtab *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct symtab_function *f = &t->functions[i];
		const char *name = symtab_find(t, f->address);

		fuzz_check(f->name < t->names_len, "a name at %u of %zu", f->name, t->names_len);
		fuzz_check(!i || f->address >= f[-1].address, "%#lx comes after %#lx", (long)f->address,
			   (long)f[-1].address);
		fuzz_check(!name || strlen(name) < t->names_len, "a name without an end");
	}
	symtab_find(t, 0);
	symtab_find(t, UINT64_MAX);
}

static void read_symbols(int fd, bool debug)
{
	struct symtab t = { 0 };
	struct elf_found found = { 0 };

	elf_read(fd, debug, &t, &found);
	fuzz_check(found.build_id_bytes <= sizeof(found.build_id), "a build-id of %u bytes", found.build_id_bytes);
	fuzz_check(memchr(found.debuglink, 0, sizeof(found.debuglink)), "a debug link without an end");
	fuzz_check(found.segments.nr <= (int)(sizeof(found.segments.at) / sizeof(found.segments.at[0])), "%d segments",
		   found.segments.nr);
	check_symbols(&t);
	symtab_fini(&t);
}

void fuzz_elf(const uint8_t *bytes, size_t size)
{
	int fd = fuzz_fd(bytes, size), to = fuzz_fd(NULL, 0);
	struct cfi_table t = { 0 };

	read_symbols(fd, false);
	read_symbols(fd, true);
	if (!cfi_read(fd, &t)) {
		check_table(&t);
		cfi_pack(&t, to);
	}
	cfi_fini(&t);
	close(fd);
	close(to);
}

void fuzz_lines(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	uint64_t address = feed_number(&f, 4);
	int fd = fuzz_fd(f.at, f.left);
	char text[1024], tiny[8];

	lines_find(fd, address, text, sizeof(text));
	fuzz_check(strlen(text) < sizeof(text), "no end");
	lines_find(fd, address, tiny, sizeof(tiny));
	fuzz_check(!strncmp(text, tiny, strlen(tiny)), "%s begins with %s", text, tiny);
	close(fd);
}

/* --- .gnu_debugdata: a packed ELF file in an ELF file */

static const char section_names[] = "\0.gnu_debugdata\0.shstrtab";

/* An ELF file with these bytes as its section, to be freed. */
static uint8_t *wrap(const uint8_t *bytes, size_t size, size_t *whole)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Shdr sections[3];
		char names[sizeof(section_names)];
	} elf = {
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			  .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_shoff = sizeof(Elf64_Ehdr), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3, .e_shstrndx = 2 },
	};
	uint8_t *file = malloc(sizeof(elf) + size);

	fuzz_check(file, "no memory");
	elf.sections[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = sizeof(elf), .sh_size = size,
					.sh_addralign = 1 };
	elf.sections[2] = (Elf64_Shdr){ .sh_name = 16, .sh_type = SHT_STRTAB, .sh_size = sizeof(section_names),
					.sh_offset = (uint8_t *)elf.names - (uint8_t *)&elf, .sh_addralign = 1 };
	memcpy(elf.names, section_names, sizeof(section_names));
	memcpy(file, &elf, sizeof(elf));
	memcpy(file + sizeof(elf), bytes, size);
	*whole = sizeof(elf) + size;
	return file;
}

static size_t pack(const uint8_t *bytes, size_t size, uint8_t *xz, size_t room)
{
	lzma_options_lzma options;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { .id = LZMA_VLI_UNKNOWN } };
	size_t len = 0;

	lzma_lzma_preset(&options, 0);
	options.dict_size = LZMA_DICT_SIZE_MIN;
	fuzz_check(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, bytes, size, xz, &len, room) == LZMA_OK,
		   "%zu bytes are not packed", size);
	return len;
}

/* The first byte says whether the others are packed here, or are what is packed already. */
void fuzz_debugdata(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	bool packed = feed_number(&f, 1) & 1;
	size_t room = lzma_stream_buffer_bound(f.left), len = 0;
	uint8_t *xz = malloc(room), *file;
	int fd;

	fuzz_check(xz, "no memory");
	if (!packed)
		len = pack(f.at, f.left, xz, room);
	file = packed ? wrap(f.at, f.left, &len) : wrap(xz, len, &len);
	fd = fuzz_fd(file, len);
	read_symbols(fd, false);
	close(fd);
	free(file);
	free(xz);
}

/* --- Lists of names */

void fuzz_kallsyms(const uint8_t *bytes, size_t size)
{
	int fd = fuzz_fd(bytes, size);
	struct symtab t = { 0 };

	kallsyms_read(fd, &t);
	check_symbols(&t);
	symtab_fini(&t);
	close(fd);
}

void fuzz_perfmap(const uint8_t *bytes, size_t size)
{
	int fd = fuzz_fd(bytes, size);
	struct symtab t = { 0 };

	perfmap_read(fd, &t);
	check_symbols(&t);
	symtab_fini(&t);
	close(fd);
}
