/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes at all as an .eh_frame section: scripts/fuzz builds and runs it with libFuzzer. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "sym/cfi.h"

/* Rows of a page begin with its first byte, are in order, and name rules that there are. */
static void check_page(const struct cfi_table *t, size_t page)
{
	size_t nr;
	const struct unwind_row *rows = cfi_rows_of(t, page, &nr);

	if (!nr || nr > UNWIND_PAGE_BYTES || rows[0].from)
		abort();
	for (size_t i = 0; i < nr; i++)
		if (rows[i].rule >= t->nr_rules || (i && rows[i].from <= rows[i - 1].from))
			abort();
}

static void check(const struct cfi_table *t)
{
	for (size_t i = 0; i < t->nr_pages; i++) {
		if (t->pages[i].page >= UNWIND_PAGES || (i && t->pages[i].page <= t->pages[i - 1].page))
			abort();
		check_page(t, i);
	}
	for (size_t i = 0; i < t->nr_rules; i++)
		if (t->rules[i].kind >= CFI_KINDS)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	/* The second segment is below the first one in the file. */
	static const struct elf_segments segments = {
		.at = { { 0x10000, 0x8000, 0x1000 }, { 0x1000, 0x8000, 0x100000 } }, .nr = 2,
	};
	struct cfi_section s = { bytes, size, 0x2000 };
	struct cfi_table t = { 0 };

	if (!cfi_parse(&t, &s, &segments, &cfi_x86_64))
		check(&t);
	cfi_fini(&t);
	return 0;
}
