/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_FUNCTIONS_H
#define SYSTOP_SYM_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "helper/proto.h"

struct elf_file;

/*
 * Where the functions of a file begin and end, with or without symbols: by its unwind information, through the sorted
 * table in .eh_frame_hdr, which the file's segments lead to. The table stays in the file. The file may hold anything:
 * an entry of its table counts only if the function's own entry (FDE) confirms it.
 */
struct functions {
	uint64_t table;          /* offset in the file */
	uint64_t nr;             /* 0: none */
	uint64_t address;        /* of .eh_frame_hdr, */
	struct elf_segment segment; /* and the segment that holds it */
	uint64_t eh_frame;       /* address of .eh_frame, 0: unknown */
};

/* A function, or a part of one that was moved elsewhere (.cold): addresses in the file's own address space. */
struct function_range {
	uint64_t from, to;
};

/* functions_read - finds the table of an open file. None: t->nr is 0. */
void functions_read(const struct elf_file *f, struct functions *t);

/* functions_find - the function of that file, opened again as @fd, that holds @address. False: none does, as in code
 * without unwind information. Cost: a dozen reads. */
bool functions_find(const struct functions *t, int fd, uint64_t address, struct function_range *r);

#endif
