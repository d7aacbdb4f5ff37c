/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_CFI_ROWS_H
#define SYSTOP_SYM_CFI_ROWS_H

#include "sym/cfi.h"

/* Where a caller's registers are at some instruction: all that its rule is made of, as cfi_run.c has it.
 * All zeroes: of none. */
struct cfi_state {
	uint64_t cfa, saved;
};

#define CFI_RECENT_BITS 8

/* A table that is being made. Initialise with zeroes. */
struct cfi_rows {
	struct unwind_row *rows;
	size_t rows_room;
	struct cfi_page *pages;
	size_t pages_room;
	/* How far it is; to set it back takes rows away again. */
	struct cfi_end {
		size_t rows, pages;
		uint64_t offset; /* behind the last page */
		uint32_t rule;   /* of the last row */
	} end;
	struct cfi_rule *rules;
	size_t nr_rules, rules_room;
	uint32_t *known;         /* hash of a rule -> its place + 1 */
	size_t known_room;
	/* Rules of late, by their states: few states are most. */
	struct cfi_recent {
		struct cfi_state state;
		uint32_t rule;
	} recent[1 << CFI_RECENT_BITS];
};

/* cfi_rows_begin - with CFI_GAP as rule 0. @bytes: of the section. Returns 0 or -ENOMEM. */
int cfi_rows_begin(struct cfi_rows *r, size_t bytes);

/* cfi_rows_add_gap - as cfi_rows_add(), a gap. */
int cfi_rows_add_gap(struct cfi_rows *r, uint32_t offset);

/* cfi_rows_add_slow - as cfi_rows_add(), whatever the row is. */
int cfi_rows_add_slow(struct cfi_rows *r, uint32_t offset, struct cfi_state s);

/* cfi_rows_take - what was made is the caller's. The rest is free. */
struct cfi_table cfi_rows_take(struct cfi_rows *r);

static inline struct cfi_recent *cfi_recent(struct cfi_rows *r, struct cfi_state s)
{
	return &r->recent[(s.cfa + s.saved) * 0x9e3779b97f4a7c15ULL >> (64 - CFI_RECENT_BITS)];
}

/* cfi_rows_add - a row behind all others; one of the rule of the last is none. Returns 0, -ENOMEM, or -E2BIG:
 * there are more than one file may have. */
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
