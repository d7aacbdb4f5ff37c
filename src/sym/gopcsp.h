/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_GOPCSP_H
#define SYSTOP_SYM_GOPCSP_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/gopclntab.h"

struct cfi_rows;
struct elf_segments;

/*
 * Unwind information of Go's functions, which have none in .eh_frame: the table by which their runtime walks stacks
 * (.gopclntab, of Go 1.18 and later) records how far the stack pointer has moved at each instruction. Initialise with
 * zeroes. The file may hold anything: every place is checked, and the work is bounded by the size of the table.
 */
struct gopcsp {
	struct gopclntab table;
	uint8_t *bytes;                     /* of the table */
	const struct elf_segments *segments; /* borrowed */
	uint64_t next;                      /* index of the next function */
	uint64_t steps;                     /* number of movements that may still be read */
};

/* A function, as offsets in the file. */
struct gopcsp_function {
	uint32_t from, to;
	uint64_t address;  /* of `from`, */
	uint64_t more;     /* and where the table describes it */
};

/* gopcsp_open - 0, -ENOENT: it is no Go program of these versions, or another -errno. */
int gopcsp_open(struct gopcsp *g, const struct elf_file *f, const struct elf_segments *segments);

/* gopcsp_next - the next function, by ascending offset. False: there is none. */
bool gopcsp_next(struct gopcsp *g, struct gopcsp_function *f);

/* gopcsp_add - adds its rows. Returns 0 or -errno; -EINVAL: its part of the table is broken. */
int gopcsp_add(struct gopcsp *g, const struct gopcsp_function *f, struct cfi_rows *rows);

void gopcsp_close(struct gopcsp *g);

#endif
