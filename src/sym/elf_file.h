/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_ELF_FILE_H
#define SYSTOP_SYM_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An ELF file and its sections, read by offset: libelf reads only the headers, and nothing whose size a header could
 * inflate. A section is read only if the file has blocks for it: a sparse file uses up no memory.
 */
struct elf_file {
	Elf *elf;
	int fd;                /* -1: it is in memory */
	const uint8_t *memory;
	uint64_t size;
	uint64_t section_max;  /* bytes of one section */
	uint64_t names, names_end; /* of the section names; equal: there are none */
	size_t nr_sections;
};

/* A file with more segments is a core file, or broken. */
#define ELF_SEGMENTS_MAX 65535

/* elf_file_open - 0 or -errno; -ENOEXEC: not an ELF file of this machine's byte order. */
int elf_file_open(struct elf_file *f, int fd);

/* elf_file_of_memory - the same for @size bytes of memory, borrowed. */
int elf_file_of_memory(struct elf_file *f, const void *bytes, size_t size);

/* elf_file_close - allowed after a failure, and on zeroes. */
void elf_file_close(struct elf_file *f);

static inline bool elf_file_is_64(const struct elf_file *f)
{
	return gelf_getclass(f->elf) == ELFCLASS64;
}

/* elf_file_read - reads @bytes at offset @at. Returns false if they are not all there. */
bool elf_file_read(const struct elf_file *f, void *to, size_t bytes, uint64_t at);

/* elf_section_at - the header of section @nr. Returns false if there is none. */
bool elf_section_at(const struct elf_file *f, size_t nr, GElf_Shdr *sh);

/* elf_section_is - whether the section has this name, of up to 31 bytes. */
bool elf_section_is(const struct elf_file *f, const GElf_Shdr *sh, const char *name);

/* elf_section_check - whether a section's bytes can be read: 0, -EFBIG: the section is larger than the file's
 * blocks, or -EBADMSG: broken. */
int elf_section_check(const struct elf_file *f, const GElf_Shdr *sh);

/* elf_section_read - reads all of a section's bytes, to be freed. Returns as elf_section_check(), or another -errno. */
int elf_section_read(const struct elf_file *f, const GElf_Shdr *sh, void **bytes);

#endif
