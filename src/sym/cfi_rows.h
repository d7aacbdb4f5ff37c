/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_ROWS_H
#define SYSTOP_SYM_CFI_ROWS_H

#include "sym/cfi.h"

/* Where a caller's registers are at some instruction: all that a rule is made of, packed by cfi_run.c. All zeroes:
 * no state. */
struct cfi_state {
	uint64_t cfa, saved;
};

#define CFI_RECENT_BITS 8

/* A table being built. Initialise with zeroes. */
struct cfi_rows {
	struct unwind_row *rows;
	size_t rows_room;
	struct cfi_page *pages;
	size_t pages_room;
	/* How far the table goes; restoring an older value removes rows. */
	struct cfi_end {
		size_t rows, pages;
		uint64_t offset; /* end of the last page */
		uint32_t rule;   /* of the last row */
	} end;
	struct cfi_rule *rules;
	size_t nr_rules, rules_room;
	uint32_t *known;         /* hash of a rule -> its index + 1 */
	size_t known_room;
	/* Cache of rules by their states: a few states make up most rows. */
	struct cfi_recent {
		struct cfi_state state;
		uint32_t rule;
	} recent[1 << CFI_RECENT_BITS];
};

/* cfi_rows_begin - starts with CFI_GAP as rule 0. @bytes: size of the section, plus one for each of Go's functions. Returns 0
 * or -ENOMEM. */
int cfi_rows_begin(struct cfi_rows *r, size_t bytes);

/* cfi_rows_add_gap - adds a gap; returns as cfi_rows_add(). */
int cfi_rows_add_gap(struct cfi_rows *r, uint32_t offset);

/* cfi_rows_add_slow - cfi_rows_add() for any row. */
int cfi_rows_add_slow(struct cfi_rows *r, uint32_t offset, struct cfi_state s);

/* cfi_rows_take - passes the finished table to the caller and frees the rest. */
struct cfi_table cfi_rows_take(struct cfi_rows *r);

static inline struct cfi_recent *cfi_recent(struct cfi_rows *r, struct cfi_state s)
{
	return &r->recent[(s.cfa + s.saved) * 0x9e3779b97f4a7c15ULL >> (64 - CFI_RECENT_BITS)];
}

/* cfi_rows_add - appends a row, unless its rule is the last row's. Returns 0, -ENOMEM, or -E2BIG: there are more
 * rows than one file may have. */
static inline int cfi_rows_add(struct cfi_rows *r, uint32_t offset, struct cfi_state s)
{
	const struct cfi_recent *recent = cfi_recent(r, s);

	if (recent->state.cfa != s.cfa || recent->state.saved != s.saved)
		return cfi_rows_add_slow(r, offset, s);
	if (recent->rule == r->end.rule)
		return 0;
	if (offset >= r->end.offset || r->end.rows == r->rows_room)
		return cfi_rows_add_slow(r, offset, s);
	r->end.rule = recent->rule;
	r->rows[r->end.rows++] = (struct unwind_row){ offset % UNWIND_PAGE_BYTES, recent->rule };
	return 0;
}

#endif
