/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of other processes, from which names and unwind tables are read. */
#include "fuzz.h"

#include <elf.h>
#include <errno.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc/mounts.h"
#include "sym/cfi.h"
#include "sym/cfi_pack.h"
#include "sym/elf.h"
#include "sym/kallsyms.h"
#include "sym/lines.h"
#include "sym/perfmap.h"
#include "sym/plt.h"

/* --- Unwind tables */

/* Rows of a page begin with its first byte, are sorted, and name rules that exist. */
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
	static const struct cfi_machine *const machines[] = { &cfi_x86_64, &cfi_aarch64 };
	struct cfi_section s = { bytes, size, 0x2000 };

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct cfi_table t = { 0 };

		if (!cfi_parse(&t, &s, &segments, machines[i]))
			check_table(&t);
		cfi_fini(&t);
	}
}

/* --- ELF files */

/* Functions are sorted, and a look-up of each one finds it. */
static void check_symbols(const struct symtab *t)
{
	char buf[SYMTAB_NAME_MAX];

	fuzz_check(t->nr_sorted == t->nr, "%zu of %zu are in order", t->nr_sorted, t->nr);
	for (size_t i = 0; i < t->nr; i++) {
		const struct symtab_function *f = &t->functions[i];
		const char *name = symtab_find(t, f->address, 0, buf);

		fuzz_check(f->in_file || f->name < t->names_len, "a name at %lu of %zu", (long)f->name, t->names_len);
		fuzz_check(!i || f->address >= f[-1].address, "%#lx comes after %#lx", (long)f->address,
			   (long)f[-1].address);
		fuzz_check(!name || strnlen(name, sizeof(buf)) < sizeof(buf), "a name without an end");
	}
	symtab_find(t, 0, 0, buf);
	symtab_find(t, UINT64_MAX, 0, buf);
}

/* A function that is found holds the address. */
static void check_functions(const struct functions *t, int fd)
{
	struct function_range r;

	for (int i = 0; i < 32; i++) {
		uint64_t address = t->segment.address + (t->segment.size >> 5) * i + i;

		if (functions_find(t, fd, address, &r))
			fuzz_check(address >= r.from && address < r.to, "%#lx is not in %#lx to %#lx", (long)address,
				   (long)r.from, (long)r.to);
	}
}

static void read_symbols(int fd, bool debug)
{
	struct symtab t = { 0 };
	struct elf_found found = { 0 };
	struct elf_progress p = { .until = 1 };

	while (elf_read(fd, debug, &t, &found, &p) == -EAGAIN)
		;
	fuzz_check(found.build_id_bytes <= sizeof(found.build_id), "a build-id of %u bytes", found.build_id_bytes);
	fuzz_check(memchr(found.debuglink, 0, sizeof(found.debuglink)), "a debug link without an end");
	fuzz_check(found.segments.nr <= (int)(sizeof(found.segments.at) / sizeof(found.segments.at[0])), "%d segments",
		   found.segments.nr);
	check_symbols(&t);
	check_functions(&found.functions, fd);
	symtab_fini(&t);
}

void fuzz_elf(const uint8_t *bytes, size_t size)
{
	int fd = fuzz_fd_again(bytes, size), to;
	struct symtab stubs = { 0 };
	struct cfi_table t = { 0 };

	read_symbols(fd, false);
	read_symbols(fd, true);
	plt_read(fd, &stubs);
	check_symbols(&stubs);
	symtab_fini(&stubs);
	if (!cfi_read(fd, &t)) {
		check_table(&t);
		to = fuzz_fd(NULL, 0);
		cfi_pack(&t, to);
		close(to);
	}
	cfi_fini(&t);
	close(fd);
}

void fuzz_lines(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	uint64_t address = feed_number(&f, 4);
	int fd = fuzz_fd_again(f.at, f.left);
	char text[1024], tiny[8];

	lines_find(fd, address, text, sizeof(text));
	fuzz_check(strlen(text) < sizeof(text), "no end");
	fuzz_outcome(text);
	lines_find(fd, address, tiny, sizeof(tiny));
	fuzz_check(!strncmp(text, tiny, strlen(tiny)), "%s begins with %s", text, tiny);
	close(fd);
}

/* --- .gnu_debugdata: a packed ELF file in an ELF file */

static const char section_names[] = "\0.gnu_debugdata\0.shstrtab";

/* An ELF file with these bytes as its section; the caller frees it. */
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

/* Packs like xz, but without compressing: the unpacker is under test. Returns the number of bytes. */
static size_t pack(const uint8_t *bytes, size_t size, uint8_t *xz, size_t room)
{
	lzma_options_lzma options = { .dict_size = LZMA_DICT_SIZE_MIN };
	lzma_filter filters[LZMA_FILTERS_MAX + 1] = { { LZMA_FILTER_LZMA2, &options }, { .id = LZMA_VLI_UNKNOWN } };
	lzma_block block = { .check = LZMA_CHECK_CRC32, .filters = filters };
	lzma_stream_flags flags = { .check = LZMA_CHECK_CRC32 };
	lzma_index *index = lzma_index_init(NULL);
	size_t len = LZMA_STREAM_HEADER_SIZE;
	bool packed = index && lzma_stream_header_encode(&flags, xz) == LZMA_OK;

	if (size)
		packed = packed && lzma_block_uncomp_encode(&block, bytes, size, xz, &len, room) == LZMA_OK &&
			 lzma_index_append(index, NULL, lzma_block_unpadded_size(&block), size) == LZMA_OK;
	flags.backward_size = lzma_index_size(index);
	packed = packed && lzma_index_buffer_encode(index, xz, &len, room) == LZMA_OK &&
		 lzma_stream_footer_encode(&flags, xz + len) == LZMA_OK;
	fuzz_check(packed, "%zu bytes are not packed", size);
	lzma_index_end(index, NULL);
	return len + LZMA_STREAM_HEADER_SIZE;
}

/* The first byte says whether the others are to be packed here, or are packed already. */
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
	fd = fuzz_fd_again(file, len);
	read_symbols(fd, false);
	close(fd);
	free(file);
	free(xz);
}

/* --- Mounts: whoever mounts names the paths */

void fuzz_mounts(const uint8_t *bytes, size_t size)
{
	static const char *const controllers[] = { NULL, "cpu", "name=systemd" };
	FILE *f = fmemopen((void *)bytes, size, "r");
	struct cgroup_mounts m;

	fuzz_check(f && !cgroup_mounts_read(&m, f), "no memory");
	fclose(f);
	for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++) {
		const struct cgroup_mount *found = cgroup_mount_find(&m, controllers[i]);

		fuzz_check(!found || (found->path && found->root && !found->controllers == !controllers[i]), "half a mount");
	}
	cgroup_mounts_fini(&m);
}

/* --- Lists of names */

void fuzz_kallsyms(const uint8_t *bytes, size_t size)
{
	int fd = fuzz_fd_again(bytes, size);
	struct symtab t = { 0 };

	kallsyms_read(fd, &t);
	check_symbols(&t);
	symtab_fini(&t);
	close(fd);
}

/* Read in turns, also after more was written. */
void fuzz_perfmap(const uint8_t *bytes, size_t size)
{
	int fd = fuzz_fd_again(bytes, size / 2);
	struct perfmap m = { 0 };

	while (perfmap_read(&m, fd, 1) == -EAGAIN)
		;
	fuzz_check(pwrite(fd, bytes + size / 2, size - size / 2, size / 2) == (ssize_t)(size - size / 2), "it is not written");
	while (perfmap_read(&m, fd, 1) == -EAGAIN)
		;
	check_symbols(&m.symtab);
	symtab_fini(&m.symtab);
	close(fd);
}
