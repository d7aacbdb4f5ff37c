/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/elf.h"

#include <errno.h>
#include <gelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "sym/elf_file.h"
#include "sym/gopclntab.h"
#include "util/clock.h"

/* Size limits of the symbol table in a .gnu_debugdata section, unpacked */
#define UNPACKED_MAX (64U << 20)
/* and packed. */
#define PACKED_MAX (16U << 20)

/* Size limit of a section of notes. */
#define NOTES_MAX 4096

/* Names of larger tables stay in the file. */
#define COPIED_MAX (4U << 20)

enum rank { RANK_LOCAL, RANK_WEAK, RANK_GLOBAL };

/* --- Segments */

void elf_segments_read(const struct elf_file *f, struct elf_segments *s)
{
	size_t nr = 0;
	GElf_Phdr p;

	s->nr = 0;
	elf_getphdrnum(f->elf, &nr);
	for (size_t i = 0; i < nr && i < ELF_SEGMENTS_MAX && s->nr < (int)(sizeof(s->at) / sizeof(s->at[0])); i++) {
		if (!gelf_getphdr(f->elf, i, &p))
			break;
		if (p.p_type == PT_LOAD && p.p_flags & PF_X)
			s->at[s->nr++] = (struct elf_segment){ p.p_offset, p.p_filesz, p.p_vaddr };
	}
}

bool elf_address(const struct elf_segments *s, uint64_t offset, uint64_t *address)
{
	for (int i = 0; i < s->nr; i++) {
		if (offset < s->at[i].offset || offset - s->at[i].offset >= s->at[i].size)
			continue;
		*address = s->at[i].address + (offset - s->at[i].offset);
		return true;
	}
	return false;
}

/* --- Identity of a file */

/* A note: sizes of name and description, a type, then name and description, both padded to 4 bytes. */
static void read_build_id(const struct elf_file *f, const GElf_Shdr *sh, struct elf_found *found)
{
	uint8_t notes[NOTES_MAX];
	uint64_t at = 0;
	GElf_Nhdr n;

	if (sh->sh_size > sizeof(notes) || elf_section_check(f, sh) ||
	    !elf_file_read(f, notes, sh->sh_size, sh->sh_offset))
		return;
	while (at + sizeof(n) <= sh->sh_size) {
		uint64_t name = at + sizeof(n), desc;

		memcpy(&n, notes + at, sizeof(n));
		desc = name + ((n.n_namesz + 3ULL) & ~3ULL);
		at = desc + ((n.n_descsz + 3ULL) & ~3ULL);
		if (desc + n.n_descsz > sh->sh_size)
			return;
		if (n.n_type != NT_GNU_BUILD_ID || n.n_namesz != 4 || memcmp(notes + name, "GNU", 4) ||
		    n.n_descsz > sizeof(found->build_id))
			continue;
		found->build_id_bytes = n.n_descsz;
		memcpy(found->build_id, notes + desc, n.n_descsz);
	}
}

/* A name padded to 4 bytes, then a checksum. */
static void read_debuglink(const struct elf_file *f, const GElf_Shdr *sh, struct elf_found *found)
{
	char link[sizeof(found->debuglink) + 8] = "";
	uint64_t bytes = sh->sh_size < sizeof(link) ? sh->sh_size : sizeof(link);
	size_t len, at;

	if (elf_section_check(f, sh) || !elf_file_read(f, link, bytes, sh->sh_offset))
		return;
	len = strnlen(link, bytes);
	at = (len + 4) & ~3UL;
	if (!len || len >= sizeof(found->debuglink) || at + 4 > bytes)
		return;
	memcpy(found->debuglink, link, len + 1);
	memcpy(&found->debuglink_crc, link + at, 4);
}

static void read_about(const struct elf_file *f, struct elf_found *found)
{
	GElf_Shdr sh;

	*found = (struct elf_found){ .whole = false };
	elf_segments_read(f, &found->segments);
	functions_read(f, &found->functions);
	for (size_t i = 1; i < f->nr_sections && elf_section_at(f, i, &sh); i++) {
		if (sh.sh_type == SHT_NOTE && !found->build_id_bytes)
			read_build_id(f, &sh, found);
		else if (sh.sh_type == SHT_PROGBITS && !*found->debuglink && elf_section_is(f, &sh, ".gnu_debuglink"))
			read_debuglink(f, &sh, found);
		else if (sh.sh_type == SHT_PROGBITS && !found->lines)
			found->lines = elf_section_is(f, &sh, ".debug_line");
		found->go |= sh.sh_type == SHT_PROGBITS && elf_section_is(f, &sh, ".go.buildinfo");
	}
}

int elf_about(int fd, struct elf_found *found)
{
	struct elf_file f;
	int err = elf_file_open(&f, fd);

	if (!err)
		read_about(&f, found);
	elf_file_close(&f);
	return err;
}

int elf_checksum(int fd, struct elf_progress *p)
{
	static uint8_t buf[1 << 18];
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), p->done)) > 0) {
		p->crc = crc32(p->crc, buf, n);
		p->done += n;
		if (p->until && clock_ns(CLOCK_MONOTONIC) > p->until)
			return -EAGAIN;
	}
	return n ? -errno : 0;
}

/* --- Symbols */

static enum rank rank_of(unsigned char info)
{
	switch (GELF_ST_BIND(info)) {
	case STB_GLOBAL:
		return RANK_GLOBAL;
	case STB_WEAK:
		return RANK_WEAK;
	default:
		return RANK_LOCAL;
	}
}

/* A symbol of either class, in 64-bit form. */
static GElf_Sym symbol_at(const void *block, size_t nr, bool is_64)
{
	const Elf32_Sym *s = (const Elf32_Sym *)block + nr;

	if (is_64)
		return ((const Elf64_Sym *)block)[nr];
	return (GElf_Sym){ s->st_name, s->st_info, s->st_other, s->st_shndx, s->st_value, s->st_size };
}

int elf_names_find(const struct elf_file *f, uint64_t offset, uint64_t bytes, struct symtab *t, struct elf_names *n)
{
	char *room;

	*n = (struct elf_names){ offset, bytes, f->fd >= 0 && bytes > COPIED_MAX };
	if (n->in_file || !n->bytes)
		return 0;
	room = symtab_add_names(t, n->bytes, &n->at);
	if (!room)
		return -ENOMEM;
	memset(room, 0, n->bytes);
	return elf_file_read(f, room, n->bytes, offset) ? 0 : -EIO;
}

static int add_symbol(const GElf_Sym *s, const struct elf_names *n, struct symtab *t)
{
	int type = GELF_ST_TYPE(s->st_info);

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s->st_shndx == SHN_UNDEF || !s->st_value || !s->st_name ||
	    s->st_name >= n->bytes)
		return 0;
	return symtab_add_at(t, s->st_value, s->st_size, n->at + s->st_name, n->in_file, rank_of(s->st_info));
}

/* Prepares for reading a section of symbols: 0 or -errno. */
static int begin_symbols(const struct elf_file *f, const GElf_Shdr *sh, size_t nr, struct symtab *t,
			 struct elf_progress *p)
{
	GElf_Shdr names;
	int err = elf_section_check(f, sh);

	if (!err && (!elf_section_at(f, sh->sh_link, &names) || names.sh_type != SHT_STRTAB))
		err = -EBADMSG;
	if (!err)
		err = elf_section_check(f, &names);
	if (!err)
		err = symtab_reserve(t, nr);
	return err ? err : elf_names_find(f, names.sh_offset, names.sh_size, t, &p->names);
}

/* Reads block by block until the time is up. */
static int read_symbols(const struct elf_file *f, const GElf_Shdr *sh, struct symtab *t, struct elf_progress *p)
{
	static _Alignas(Elf64_Sym) uint8_t block[1536 * sizeof(Elf64_Sym)];
	size_t bytes = elf_file_is_64(f) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t end = sh->sh_size - sh->sh_size % bytes;
	int err = p->done ? 0 : begin_symbols(f, sh, end / bytes, t, p);

	while (!err && p->done < end) {
		size_t part = end - p->done < sizeof(block) ? end - p->done : sizeof(block);

		if (!elf_file_read(f, block, part, sh->sh_offset + p->done))
			return -EIO;
		for (size_t i = 0; !err && i < part / bytes; i++) {
			GElf_Sym s = symbol_at(block, i, bytes == sizeof(Elf64_Sym));

			err = add_symbol(&s, &p->names, t);
		}
		p->done += part;
		if (!err && p->until && clock_ns(CLOCK_MONOTONIC) > p->until)
			return -EAGAIN;
	}
	return err;
}

/* First guess of the unpacked size of a symbol table: UNPACKED_PART times its packed size plus UNPACKED_MIN. */
#define UNPACKED_PART 4
#define UNPACKED_MIN 4096

/* Unpacks into growing memory. Returns the unpacked size; 0: it cannot be unpacked, or is too large. */
static size_t unpack(const uint8_t *packed, size_t bytes, uint8_t **memory)
{
	lzma_stream s = LZMA_STREAM_INIT;
	size_t room = 0;
	lzma_ret ret = lzma_stream_decoder(&s, UNPACKED_MAX, 0);

	*memory = NULL;
	s.next_in = packed;
	s.avail_in = bytes;
	while (ret == LZMA_OK && room < UNPACKED_MAX) {
		size_t more = room ? room : UNPACKED_PART * bytes + UNPACKED_MIN;
		uint8_t *grown = realloc(*memory, room + more);

		if (!grown)
			break;
		*memory = grown;
		s.next_out = grown + room;
		s.avail_out = more;
		room += more;
		ret = lzma_code(&s, LZMA_FINISH);
	}
	lzma_end(&s);
	return ret == LZMA_STREAM_END ? s.total_out : 0;
}

static int read_sections(const struct elf_file *f, bool debug, struct symtab *t, struct elf_found *found,
			 struct elf_progress *p);

/* Reads the short symbol table that distributions leave in stripped files, packed with xz. */
static int read_debugdata(const struct elf_file *f, const GElf_Shdr *sh, struct symtab *t, struct elf_found *found)
{
	struct elf_progress all = { 0 };
	struct elf_file inner = { 0 };
	uint8_t *memory = NULL;
	void *packed = NULL;
	size_t bytes;
	int err = sh->sh_size > PACKED_MAX ? -EFBIG : elf_section_read(f, sh, &packed);

	if (!err) {
		bytes = unpack(packed, sh->sh_size, &memory);
		err = bytes ? elf_file_of_memory(&inner, memory, bytes) : -EBADMSG;
	}
	free(packed);
	if (!err)
		err = read_sections(&inner, true, t, found, &all);
	elf_file_close(&inner);
	free(memory);
	return err;
}

/* Reads a section if it has symbols and is the first of its kind. */
static int read_section(const struct elf_file *f, const GElf_Shdr *sh, bool debug, struct symtab *t,
			struct elf_found *found, struct elf_progress *p)
{
	bool *read = sh->sh_type == SHT_SYMTAB	 ? &p->symtab
		     : sh->sh_type == SHT_DYNSYM ? &p->dynsym
		     : sh->sh_type == SHT_PROGBITS && !debug && !p->debugdata &&
				       elf_section_is(f, sh, ".gnu_debugdata")
			     ? &p->debugdata
			     : NULL;
	int err;

	if (!read || *read)
		return 0;
	err = read == &p->debugdata ? read_debugdata(f, sh, t, found) : read_symbols(f, sh, t, p);
	if (err == -EAGAIN)
		return err;
	*read = true;
	found->whole |= !err && sh->sh_type == SHT_SYMTAB;
	return err;
}

static int read_go(const struct elf_file *f, struct symtab *t, struct elf_found *found, struct elf_progress *p)
{
	int err = gopclntab_read(f, t, p);

	if (err == -EAGAIN)
		return err;
	found->whole = !err;
	if (err && err != -ENOENT && !p->err)
		p->err = err;
	return p->err;
}

/* An error in one section costs only that section's symbols. */
static int read_sections(const struct elf_file *f, bool debug, struct symtab *t, struct elf_found *found,
			 struct elf_progress *p)
{
	GElf_Shdr sh;

	for (; p->section < f->nr_sections && elf_section_at(f, p->section, &sh); p->section++) {
		int err = read_section(f, &sh, debug, t, found, p);

		if (err == -EAGAIN)
			return err;
		p->done = 0;
		if (err && !p->err)
			p->err = err;
	}
	return debug || found->whole ? p->err : read_go(f, t, found, p);
}

int elf_read(int fd, bool debug, struct symtab *t, struct elf_found *found, struct elf_progress *p)
{
	struct elf_file f;
	int err = elf_file_open(&f, fd), sorted;

	if (!err && !p->section)
		read_about(&f, found);
	t->fd = fd;
	t->versions = true;
	if (!err)
		err = read_sections(&f, debug, t, found, p);
	elf_file_close(&f);
	if (err == -EAGAIN)
		return err;
	symtab_trim(t);
	sorted = symtab_sort(t);
	return sorted ? sorted : err;
}
