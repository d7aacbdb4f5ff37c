/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_H
#define SYSTOP_SYM_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "unwind.h"
#include "sym/elf.h"

/* From this offset in the file on, up to the next row, the rule holds. */
struct cfi_row {
	uint64_t offset;
	uint32_t rule; /* in cfi_table.rules */
};

/* What a file's .eh_frame says. Initialise with zeroes. */
struct cfi_table {
	struct cfi_row *rows;   /* by offset; each run of code ends with a row of kind CFI_GAP */
	size_t nr, room;
	struct cfi_rule *rules; /* each once; 0 is CFI_GAP */
	size_t nr_rules, rules_room;
	uint32_t *known;        /* hash of a rule -> its place + 1 */
	size_t known_room;
	uint64_t bad;           /* functions whose information is broken: left out */
};

/* A section's bytes, and the address of the first one. */
struct cfi_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
};

/* Which registers have the parts that the unwinder follows, by their DWARF numbers. */
struct cfi_machine {
	uint16_t elf;            /* e_machine */
	uint8_t sp, fp, ra;
	int16_t bx;              /* -1: there is none */
	int16_t arg;             /* that of a function's first argument: -1: not followed */
};

extern const struct cfi_machine cfi_x86_64;

/*
 * cfi_parse - the rows of an .eh_frame section. Whatever its bytes are: every read is checked.
 * @segments: where the file's code is in memory
 * @pointer_bytes: of the machine: 8
 * Returns 0 or -ENOMEM.
 */
int cfi_parse(struct cfi_table *t, const struct cfi_section *s, const struct elf_segments *segments,
	      const struct cfi_machine *m);

/* cfi_read - of an open ELF file. 0 or -errno; -ENOENT: it has no such section. */
int cfi_read(int fd, struct cfi_table *t);

void cfi_fini(struct cfi_table *t);

#endif
