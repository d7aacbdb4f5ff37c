/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_GOPCLNTAB_H
#define SYSTOP_SYM_GOPCLNTAB_H

#include <stdint.h>

struct elf_file;
struct elf_progress;
struct symtab;

/* Magic numbers of the first Go with each format */
#define GO_1_2 0xfffffffb
#define GO_1_16 0xfffffffa
#define GO_1_18 0xfffffff0
#define GO_1_20 0xfffffff1

/* The table of a Go program's functions, from which its runtime makes stack traces. Places count from its beginning,
 * and are within it, except for those stored in the table itself. */
struct gopclntab {
	uint64_t offset, bytes;       /* in the file */
	uint64_t address;
	uint32_t magic;
	uint64_t word;                /* bytes of a pointer */
	uint64_t quantum;             /* bytes of the smallest instruction */
	uint64_t nr;                  /* functions */
	uint64_t names, names_bytes;
	uint64_t pcs;                 /* values that hold for ranges of code; 0 before Go 1.16 */
	uint64_t functions;           /* by address: pairs of entry and place of more, of entry_bytes each, then an end */
	uint64_t entry_bytes;
	uint64_t more_base;           /* what the places of more count from */
	uint64_t text;                /* what entries count from */
};

/* gopclntab_find - 0, -ENOENT: there is none of a known version, or another -errno. */
int gopclntab_find(const struct elf_file *f, struct gopclntab *t);

/*
 * gopclntab_read - adds the functions of a Go program to @t, from its table, which stripping leaves. Knows the tables of Go
 * 1.2, 1.16, 1.18 and 1.20 and later.
 * Returns 0, -EAGAIN: its time is up, call again, -ENOENT: there is none of these tables, or -errno, with what could be read:
 * -EBADMSG: broken.
 */
int gopclntab_read(const struct elf_file *f, struct symtab *t, struct elf_progress *p);

#endif
