/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_H
#define SYSTOP_SYM_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "unwind.h"
#include "sym/elf.h"

#define UNWIND_PAGE_BYTES (1U << UNWIND_PAGE_SHIFT)

/* A file's unwind information, in the unwinder's form. */
struct cfi_table {
	struct unwind_row *rows;  /* page by page; `rule` is an index in `rules` */
	size_t nr;
	struct cfi_page {
		uint32_t page;
		uint32_t first;   /* first row: continues the page before */
	} *pages;                 /* those with code, ascending */
	size_t nr_pages;
	struct cfi_rule *rules;   /* each one once; 0 is CFI_GAP */
	size_t nr_rules;
	uint64_t bad;             /* functions whose information is broken: left out */
};

/* A section's bytes, and the address of the first one. */
struct cfi_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
};

/* DWARF numbers of the registers that the unwinder follows. */
struct cfi_machine {
	uint16_t elf;            /* e_machine */
	uint8_t sp, fp, ra;
	int16_t bx;              /* one more that rules can refer to: RBX; arm64: x30, in which a call puts the return address,
				  * the same as ra */
	int16_t arg;             /* register of a function's first argument; -1: not followed */
};

extern const struct cfi_machine cfi_x86_64, cfi_aarch64;

/*
 * cfi_parse - makes the table of an .eh_frame section. The bytes may be arbitrary: every read is checked.
 * @segments: where the file's code is in memory
 * Returns 0, -ENOMEM, or -E2BIG: more rules or rows than one file may have (helper/proto.h), or code too far back in
 * the file.
 */
int cfi_parse(struct cfi_table *t, const struct cfi_section *s, const struct elf_segments *segments,
	      const struct cfi_machine *m);

/* cfi_read - the same for an open ELF file of this machine, with Go's functions (sym/gopcsp.h). Returns 0 or -errno; -ENOENT: it
 * has neither, -EFBIG: the file is shorter than it claims. */
int cfi_read(int fd, struct cfi_table *t);

/* cfi_rows_of - the first row of a page; sets @nr to the number of its rows. */
static inline const struct unwind_row *cfi_rows_of(const struct cfi_table *t, size_t page, size_t *nr)
{
	size_t end = page + 1 < t->nr_pages ? t->pages[page + 1].first : t->nr;

	*nr = end - t->pages[page].first;
	return &t->rows[t->pages[page].first];
}

void cfi_fini(struct cfi_table *t);

#endif
