/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_ELF_H
#define SYSTOP_SYM_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/functions.h"
#include "sym/symtab.h"

/* What a file says about itself, apart from its symbols. */
struct elf_found {
	struct elf_segments segments;
	struct functions functions;
	bool whole;           /* elf_read(): has all functions: in .symtab, its short form .gnu_debugdata, or .gopclntab */
	bool lines;           /* line numbers */
	bool go;              /* it is a Go program */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
	char debuglink[128];  /* name of its debug information file, "": none */
	uint32_t debuglink_crc; /* checksum of that file */
};

/* How far a large file has been read; reading resumes there. Initialise with zeroes. */
struct elf_progress {
	uint64_t until;   /* CLOCK_MONOTONIC ns at which to stop; 0: never */
	size_t section;   /* sections before it are read */
	uint64_t done;    /* bytes of it that are read */
	struct elf_names {
		uint64_t at, bytes;
		bool in_file; /* or in the table's own names */
	} names;          /* where its names are */
	bool symtab, dynsym, debugdata; /* already read: only the first of each kind counts */
	int err;          /* the first error */
	uint32_t crc;     /* elf_checksum(): of the bytes read so far */
};

/* elf_about - reads what a file says about itself. 0 or -errno. Here and below the file may hold anything: its sizes
 * and offsets are checked before use. */
int elf_about(int fd, struct elf_found *found);

/*
 * elf_read - adds the functions of an ELF file to @t, by their addresses in the file's own address space. The names of large
 * tables stay in the file, whose descriptor @t borrows.
 * @debug: it is another file's debug information
 * Returns 0, -EAGAIN: its time is up, call again, or -errno, with what could be read: -EFBIG: the file is shorter than it
 * claims, -E2BIG: more functions than SYMTAB_MAX, -EBADMSG: broken.
 */
int elf_read(int fd, bool debug, struct symtab *t, struct elf_found *found, struct elf_progress *p);

/* elf_names_find - prepares for adding names, which are @bytes at @offset of the file: those of a small table are copied
 * to @t, and those of a file in memory always. 0 or -errno. */
int elf_names_find(const struct elf_file *f, uint64_t offset, uint64_t bytes, struct symtab *t, struct elf_names *n);

/* elf_checksum - sets p->crc to the checksum of a whole file, as in debuglink_crc. Returns 0, -EAGAIN or -errno. */
int elf_checksum(int fd, struct elf_progress *p);

/* elf_segments_read - the executable segments of an open file: the first SYMBOLS_SEGMENTS if there are more. */
void elf_segments_read(const struct elf_file *f, struct elf_segments *s);

/* elf_address - the address of a file offset. Returns false if it is not in executable memory. */
bool elf_address(const struct elf_segments *s, uint64_t offset, uint64_t *address);

#endif
