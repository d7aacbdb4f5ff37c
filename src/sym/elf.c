/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/elf.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A symbol table in a .gnu_debugdata section is smaller than this once unpacked. */
#define UNPACKED_MAX (64U << 20)

enum rank { RANK_LOCAL, RANK_WEAK, RANK_GLOBAL };

Elf *elf_open(int fd)
{
	elf_version(EV_CURRENT);
	return elf_begin(fd, ELF_C_READ, NULL);
}

void elf_segments_read(struct Elf *elf, struct elf_segments *s)
{
	size_t nr = 0;

	elf_getphdrnum(elf, &nr);
	for (size_t i = 0; i < nr && s->nr < (int)(sizeof(s->at) / sizeof(s->at[0])); i++) {
		GElf_Phdr p;

		if (gelf_getphdr(elf, i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X)
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

static bool is_function(const GElf_Sym *s)
{
	int type = GELF_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_value &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC);
}

static enum rank rank_of(const GElf_Sym *s)
{
	switch (GELF_ST_BIND(s->st_info)) {
	case STB_GLOBAL:
		return RANK_GLOBAL;
	case STB_WEAK:
		return RANK_WEAK;
	default:
		return RANK_LOCAL;
	}
}

static int read_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, struct symtab *t)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t nr = data && sh->sh_entsize ? data->d_size / sh->sh_entsize : 0;
	char plain[4096];
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		const char *name, *version;
		GElf_Sym s;

		if (!gelf_getsym(data, i, &s) || !is_function(&s))
			continue;
		name = elf_strptr(elf, sh->sh_link, s.st_name);
		if (!name || !*name)
			continue;
		/* "memcpy@@GLIBC_2.14" is told without its version. */
		version = strchr(name + 1, '@');
		if (version) {
			snprintf(plain, sizeof(plain), "%.*s", (int)(version - name), name);
			name = plain;
		}
		err = symtab_add(t, s.st_value, s.st_size, name, rank_of(&s));
	}
	return err;
}

static void read_build_id(Elf_Scn *scn, struct elf_found *found)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t at = 0, name, desc;
	GElf_Nhdr n;

	while (data && (at = gelf_getnote(data, at, &n, &name, &desc))) {
		if (n.n_type != NT_GNU_BUILD_ID || n.n_namesz != 4 ||
		    memcmp((char *)data->d_buf + name, "GNU", 4) ||
		    n.n_descsz > sizeof(found->build_id))
			continue;
		found->build_id_bytes = n.n_descsz;
		memcpy(found->build_id, (char *)data->d_buf + desc, n.n_descsz);
	}
}

/* A name, padding to 4 bytes, a checksum. */
static void read_debuglink(Elf_Scn *scn, struct elf_found *found)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	size_t len = data && data->d_buf ? strnlen(data->d_buf, data->d_size) : 0, at = (len + 4) & ~3UL;

	if (!len || len >= sizeof(found->debuglink) || at + 4 > data->d_size)
		return;
	memcpy(found->debuglink, data->d_buf, len + 1);
	memcpy(&found->debuglink_crc, (char *)data->d_buf + at, 4);
}

uint32_t elf_checksum(int fd)
{
	static uint8_t buf[1 << 16];
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		crc = lzma_crc32(buf, n, crc);
		at += n;
	}
	return crc;
}

static int read_elf(Elf *elf, bool debug, struct symtab *t, struct elf_found *found);

/* The short form of a symbol table that distributions leave in stripped files, packed with xz. */
static int read_debugdata(Elf_Scn *scn, struct symtab *t, struct elf_found *found)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t in = 0, out = 0, room = 1 << 20;
	lzma_ret ret = LZMA_BUF_ERROR;
	uint8_t *memory = NULL;
	int err = 0;
	Elf *elf;

	while (data && data->d_buf && ret == LZMA_BUF_ERROR && room <= UNPACKED_MAX) {
		uint64_t limit = UNPACKED_MAX;

		free(memory);
		memory = malloc(room);
		in = out = 0;
		ret = memory ? lzma_stream_buffer_decode(&limit, 0, NULL, data->d_buf, &in, data->d_size,
							 memory, &out, room)
			     : LZMA_MEM_ERROR;
		room *= 4;
	}
	if (ret == LZMA_OK) {
		struct elf_found inner = { 0 };

		elf = elf_memory((char *)memory, out);
		if (elf) {
			err = read_elf(elf, true, t, &inner);
			elf_end(elf);
		}
		found->whole |= inner.whole;
	}
	free(memory);
	return err;
}

static int read_elf(Elf *elf, bool debug, struct symtab *t, struct elf_found *found)
{
	Elf_Scn *scn = NULL;
	size_t names;
	int err = 0;

	if (elf_kind(elf) != ELF_K_ELF)
		return -ENOEXEC;
	if (!debug)
		elf_segments_read(elf, &found->segments);
	if (elf_getshdrstrndx(elf, &names))
		return 0; /* no sections */
	while (!err && (scn = elf_nextscn(elf, scn))) {
		const char *name;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh))
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) {
			err = read_symbols(elf, scn, &sh, t);
			found->whole |= sh.sh_type == SHT_SYMTAB;
		} else if (sh.sh_type == SHT_NOTE) {
			read_build_id(scn, found);
		} else if (name && !strcmp(name, ".debug_line")) {
			found->lines = sh.sh_type != SHT_NOBITS;
		} else if (name && !strcmp(name, ".gnu_debuglink") && !debug) {
			read_debuglink(scn, found);
		} else if (name && !strcmp(name, ".gnu_debugdata") && !debug) {
			err = read_debugdata(scn, t, found);
		}
	}
	return err;
}

int elf_read(int fd, bool debug, struct symtab *t, struct elf_found *found)
{
	Elf *elf = elf_open(fd);
	int err;

	if (!elf)
		return -ENOEXEC;
	err = read_elf(elf, debug, t, found);
	elf_end(elf);
	symtab_sort(t);
	return err;
}
