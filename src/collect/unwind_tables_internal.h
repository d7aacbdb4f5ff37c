/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_UNWIND_TABLES_INTERNAL_H
#define SYSTOP_COLLECT_UNWIND_TABLES_INTERNAL_H

/* Shared by unwind_tables.c (the room for tables, and which of them make room) and unwind_tables_read.c (reading a
 * table into it). */

#include <stdbool.h>
#include <stdint.h>

#include "collect/unwind_tables.h"
#include "util/space.h"

struct unwind_tables {
	struct unwind_tables_memory mem;
	struct unwind_row *chunks[UNWIND_CHUNKS]; /* mapped */
	int chunk_fds[UNWIND_CHUNKS];
	uint32_t nr_chunks;
	struct space rows, pages, free_rules;
	uint32_t *known;     /* hash of a rule -> its index + 1 */
	uint32_t *rule_uses; /* by how many files */
	uint32_t files;      /* with a table */
	struct unwind_tables_file {
		       uint32_t held_until; /* CLOCK_MONOTONIC s: no table until then; 0: it may have one */
		       bool large;
		       uint32_t nr_rules;
		       uint16_t *rules;     /* of the file -> of all; NULL: no table */
	} *file;                     /* UNWIND_FILES */
	uint64_t evicted;
	bool wanting;        /* files may lack a table that they could have */
	bool starved;        /* there was no memory for another chunk */
	uint64_t asked_ns;   /* of the last look for wanted files */
	uint64_t refused_ns; /* CLOCK_MONOTONIC of the last failure to make room; 0: never */
	uint64_t hot_ns;     /* when tables that were needed were last dropped; 0: never */
};

/* tables_held - whether the file is to have no table for now. */
bool tables_held(const struct unwind_tables *t, uint32_t file);

/* tables_take_rows - room for a page's rows, all in one chunk. Returns the first; -ENOSPC: no room, or no memory for another
 * chunk (@t->starved). */
int64_t tables_take_rows(struct unwind_tables *t, uint32_t nr);

/* tables_take_rule - index of a rule among those of all files, for one more use, which tables_leave() ends. -ENOSPC: no room. */
int tables_take_rule(struct unwind_tables *t, const struct cfi_rule *rule);

/* tables_leave - frees the room of a table, of @nr_pages pages from @first on, which no program reads. */
void tables_leave(struct unwind_tables *t, struct unwind_tables_file *f, uint32_t first, uint32_t nr_pages);

/* tables_make_room - drops tables. Returns whether there is more room than before. */
bool tables_make_room(struct unwind_tables *t);

#endif
