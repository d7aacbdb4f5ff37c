/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_H
#define SYSTOP_SYM_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "unwind.h"
#include "sym/elf.h"

#define UNWIND_PAGE_BYTES (1U << UNWIND_PAGE_SHIFT)

/* What a file's .eh_frame says, as the unwinder has it. */
struct cfi_table {
	struct unwind_row *rows;  /* page by page; rules are places in `rules` */
	size_t nr;
	struct cfi_page {
		uint32_t page;
		uint32_t first;   /* row: holds what goes on from the page before */
	} *pages;                 /* those that have code, ascending */
	size_t nr_pages;
	struct cfi_rule *rules;   /* each once; 0 is CFI_GAP */
	size_t nr_rules;
	uint64_t bad;             /* functions whose information is broken: left out */
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
 * cfi_parse - the table of an .eh_frame section. Whatever its bytes are: every read is checked.
 * @segments: where the file's code is in memory
 * Returns 0, -ENOMEM, or -E2BIG: there are more rules or rows than one file may have (helper/proto.h), or code too far
 * back in the file.
 */
int cfi_parse(struct cfi_table *t, const struct cfi_section *s, const struct elf_segments *segments,
	      const struct cfi_machine *m);

/* cfi_read - of an open ELF file. 0 or -errno; -ENOENT: it has no such section, -EFBIG: there is less of it than it says. */
int cfi_read(int fd, struct cfi_table *t);

/* cfi_rows_of - the first row of a page, of which there are @nr. */
static inline const struct unwind_row *cfi_rows_of(const struct cfi_table *t, size_t page, size_t *nr)
{
	size_t end = page + 1 < t->nr_pages ? t->pages[page + 1].first : t->nr;

	*nr = end - t->pages[page].first;
	return &t->rows[t->pages[page].first];
}

void cfi_fini(struct cfi_table *t);

#endif
