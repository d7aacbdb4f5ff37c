/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_ELF_H
#define SYSTOP_SYM_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/symtab.h"

struct elf_file;

/* Where the bytes of a file are in memory: its loadable, executable segments. */
struct elf_segments {
	struct elf_segment {
		uint64_t offset, size, address;
	} at[8];
	int nr;
};

/* What a file says of itself, but for its symbols. */
struct elf_found {
	struct elf_segments segments;
	bool whole;           /* elf_read(): all functions: .symtab, or its short form .gnu_debugdata */
	bool lines;           /* line numbers */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
	char debuglink[128];  /* name of its file of debug information, "": none, */
	uint32_t debuglink_crc; /* and that file's checksum */
};

/* How far a large file is read: it goes on there. Initialise with zeroes. */
struct elf_progress {
	uint64_t until;   /* CLOCK_MONOTONIC ns; 0: any time */
	size_t section;   /* those before it are read, */
	uint64_t done;    /* and so many bytes of it; */
	struct elf_names {
		uint64_t at, bytes;
		bool in_file; /* or among the table's own ones */
	} names;          /* where its names are */
	bool symtab, dynsym, debugdata; /* was read: there is one of each */
	int err;          /* what was wrong first */
	uint32_t crc;     /* elf_checksum(): of those bytes */
};

/* elf_about - what a file says of itself. 0 or -errno. Whatever the file holds, here and below: sizes and places in it
 * are checked before they are used. */
int elf_about(int fd, struct elf_found *found);

/*
 * elf_read - adds the functions of an ELF file to @t, by their addresses in the file's own address space. Their names
 * stay in the file.
 * @debug: it is the debug information of another one
 * Returns 0, -EAGAIN: its time is over, ask again, or -errno, with what could be read: -EFBIG: there is less of the file
 * than it says, -E2BIG: there are more functions than SYMTAB_MAX, -EBADMSG: it is broken.
 */
int elf_read(int fd, bool debug, struct symtab *t, struct elf_found *found, struct elf_progress *p);

/* elf_checksum - of a whole file, as in debuglink_crc: in @p. Returns 0, -EAGAIN or -errno. */
int elf_checksum(int fd, struct elf_progress *p);

/* elf_segments_read - of an open file; the first ones, if there are too many. */
void elf_segments_read(const struct elf_file *f, struct elf_segments *s);

/* elf_address - of a file offset. Returns false if that is not in executable memory. */
bool elf_address(const struct elf_segments *s, uint64_t offset, uint64_t *address);

#endif
