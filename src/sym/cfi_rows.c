/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/cfi_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "helper/proto.h"
#include "sym/cfi_run.h"
#include "util/hash.h"
#include "util/vec.h"

/* --- Rules */

static int grow_known(struct cfi_rows *r)
{
	size_t room = r->known_room ? 2 * r->known_room : 256;
	uint32_t *known = calloc(room, sizeof(*known));

	if (!known)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_rules; i++) {
		size_t at = hash_16(&r->rules[i]) & (room - 1);

		while (known[at])
			at = (at + 1) & (room - 1);
		known[at] = i + 1;
	}
	free(r->known);
	r->known = known;
	r->known_room = room;
	return 0;
}

/* The index of a rule, added if new; -ENOMEM, -E2BIG. */
static int64_t intern(struct cfi_rows *r, const struct cfi_rule *rule)
{
	size_t at;

	if (2 * r->nr_rules >= r->known_room && grow_known(r))
		return -ENOMEM;
	at = hash_16(rule) & (r->known_room - 1);
	while (r->known[at] && memcmp(&r->rules[r->known[at] - 1], rule, sizeof(*rule)))
		at = (at + 1) & (r->known_room - 1);
	if (!r->known[at]) {
		if (r->nr_rules == CFI_RULES_MAX)
			return -E2BIG;
		if (VEC_PUSH(r->rules, r->nr_rules, r->rules_room, *rule))
			return -ENOMEM;
		r->known[at] = r->nr_rules;
	}
	return r->known[at] - 1;
}

/* --- Rows */

/* Opens pages up to @page; the first row of each continues the last rule. After a gap only @page itself is opened. */
static int open_page(struct cfi_rows *r, uint32_t page)
{
	if (page >= CFI_PAGES_MAX)
		return -E2BIG;
	for (uint32_t i = r->end.rule ? r->end.offset / UNWIND_PAGE_BYTES : page; i <= page; i++)
		if (VEC_PUSH(r->pages, r->end.pages, r->pages_room, ((struct cfi_page){ i, r->end.rows })) ||
		    VEC_PUSH(r->rows, r->end.rows, r->rows_room, ((struct unwind_row){ 0, r->end.rule })))
			return -ENOMEM;
	r->end.offset = (page + 1ULL) * UNWIND_PAGE_BYTES;
	return 0;
}

static int add_row(struct cfi_rows *r, uint32_t offset, uint16_t rule)
{
	struct unwind_row row = { offset % UNWIND_PAGE_BYTES, rule };

	if (rule == r->end.rule)
		return 0;
	if (r->end.rows >= CFI_ROWS_MAX)
		return -E2BIG;
	if (offset >= r->end.offset) {
		int err = open_page(r, offset / UNWIND_PAGE_BYTES);

		if (err)
			return err;
		r->end.rows -= !row.from; /* replaces the row that continues the last rule */
	}
	r->end.rule = rule;
	return VEC_PUSH(r->rows, r->end.rows, r->rows_room, row);
}

int cfi_rows_add_slow(struct cfi_rows *r, uint32_t offset, struct cfi_state s)
{
	struct cfi_rule rule = cfi_rule_of(s);
	int64_t at = intern(r, &rule);

	if (at < 0)
		return at;
	*cfi_recent(r, s) = (struct cfi_recent){ s, at };
	return add_row(r, offset, at);
}

int cfi_rows_add_gap(struct cfi_rows *r, uint32_t offset)
{
	return add_row(r, offset, 0);
}

int cfi_rows_begin(struct cfi_rows *r, size_t bytes)
{
	static const struct cfi_rule gap = { .kind = CFI_GAP };

	/* Room for all possible rows: a row takes at least two bytes of the section. Untouched memory costs nothing.
	 * And malloc() keeps up to twice the largest piece ever freed: after this one it holds all that a file
	 * takes, and the next file needs no new pages. */
	r->rows_room = bytes / 2 < CFI_ROWS_MAX ? bytes / 2 + 1 : CFI_ROWS_MAX;
	r->rows = malloc(r->rows_room * sizeof(*r->rows));
	return r->rows ? intern(r, &gap) : -ENOMEM;
}

struct cfi_table cfi_rows_take(struct cfi_rows *r)
{
	free(r->known);
	return (struct cfi_table){
		.rows = r->rows,
		.nr = r->end.rows,
		.pages = r->pages,
		.nr_pages = r->end.pages,
		.rules = r->rules,
		.nr_rules = r->nr_rules,
	};
}
