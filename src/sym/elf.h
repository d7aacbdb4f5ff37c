/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_ELF_H
#define SYSTOP_SYM_ELF_H

#include <stdint.h>

#include "sym/symtab.h"

/* Where the bytes of a file are in memory: its loadable, executable segments. */
struct elf_segments {
	struct elf_segment {
		uint64_t offset, size, address;
	} at[8];
	int nr;
};

/* What elf_read() found. */
struct elf_found {
	struct elf_segments segments;
	bool whole;           /* all functions: .symtab, or its short form .gnu_debugdata */
	bool lines;           /* line numbers */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
	char debuglink[128];  /* name of its file of debug information, "": none, */
	uint32_t debuglink_crc; /* and that file's checksum */
};

/*
 * elf_read - adds the functions of an ELF file to @t, by their addresses in the file's own address
 * space. Whatever the file holds: sizes and places in it are checked before they are used.
 * @debug: only its symbols count: it is the debug information of another one
 * Returns 0 or -errno.
 */
int elf_read(int fd, bool debug, struct symtab *t, struct elf_found *found);

/* elf_checksum - of a whole file, as in debuglink_crc. */
uint32_t elf_checksum(int fd);

/* elf_open - for libelf, until elf_end(). NULL: it cannot be read. */
struct Elf;
struct Elf *elf_open(int fd);

/* elf_segments_read - of an open file; the first ones, if there are too many. */
void elf_segments_read(struct Elf *elf, struct elf_segments *s);

/* elf_address - of a file offset. Returns false if that is not in executable memory. */
bool elf_address(const struct elf_segments *s, uint64_t offset, uint64_t *address);

#endif
