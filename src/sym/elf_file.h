/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_ELF_FILE_H
#define SYSTOP_SYM_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An ELF file and its sections, read by place: libelf reads the headers, and nothing that a header could make as large
 * as it likes. A section is read if the file has the blocks for it: a sparse file costs nobody else's memory.
 */
struct elf_file {
	Elf *elf;
	int fd;                /* -1: it is in memory */
	const uint8_t *memory;
	uint64_t size;
	uint64_t section_max;  /* bytes of one section */
	uint64_t names, names_end; /* where the names of sections are; no place: they have none */
	size_t nr_sections;
};

/* elf_file_open - 0 or -errno; -ENOEXEC: it is no ELF file of this machine's byte order. */
int elf_file_open(struct elf_file *f, int fd);

/* elf_file_of_memory - the same of @size bytes, borrowed. */
int elf_file_of_memory(struct elf_file *f, const void *bytes, size_t size);

/* elf_file_close - also after a failure, or when it is all zeroes. */
void elf_file_close(struct elf_file *f);

static inline bool elf_file_is_64(const struct elf_file *f)
{
	return gelf_getclass(f->elf) == ELFCLASS64;
}

/* elf_file_read - so many bytes at a place. Returns whether they are there. */
bool elf_file_read(const struct elf_file *f, void *to, size_t bytes, uint64_t at);

/* elf_section_at - the header of section @nr. Returns false if there is none. */
bool elf_section_at(const struct elf_file *f, size_t nr, GElf_Shdr *sh);

/* elf_section_is - whether that is its name, of up to 31 bytes. */
bool elf_section_is(const struct elf_file *f, const GElf_Shdr *sh, const char *name);

/* elf_section_check - whether its bytes can be read: 0, -EFBIG: it is larger than what there is of the file, or
 * -EBADMSG: it is broken. */
int elf_section_check(const struct elf_file *f, const GElf_Shdr *sh);

/* elf_section_read - all its bytes, to be freed. 0 or -errno; as elf_section_check(). */
int elf_section_read(const struct elf_file *f, const GElf_Shdr *sh, void **bytes);

#endif
