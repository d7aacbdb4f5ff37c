/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_UNWIND_TABLES_H
#define SYSTOP_COLLECT_UNWIND_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind.h"

struct cpu_area;
struct health;
struct unwind_tables;

/*
 * The unwinder's tables in the memory that the programs read, filled from the symbols helper's output for each file. When that
 * memory is full, the least recently used tables make room, and are made again when their file is next seen; if all are needed,
 * the largest go first, and for longer.
 */

struct unwind_tables_memory {
	struct unwind_file *files; /* UNWIND_FILES */
	struct unwind_page *pages; /* UNWIND_PAGES */
	struct cfi_rule *rules;    /* UNWIND_RULES */
	struct cpu_area *const *areas; /* one per possible CPU; NULL: it was never online */
	int nr_cpus;
	int chunks_fd;             /* the map of chunks; -1: no program reads them */
	uint32_t max_chunks;       /* maximum number of chunks, 1 MiB each */
	const uint32_t *seconds;   /* the time, as in struct unwind_file */
};

/* unwind_tables_new - @mem is borrowed. NULL: no memory. */
struct unwind_tables *unwind_tables_new(const struct unwind_tables_memory *mem);
void unwind_tables_free(struct unwind_tables *t);

/* unwind_tables_read - reads the table of a file that cfi_pack() wrote to @fd. 0, or -errno: the file then has none;
 * -ENOSPC: all others are needed, or there is no memory, for now; -E2BIG: it cannot fit. */
int unwind_tables_read(struct unwind_tables *t, uint32_t file, int fd);

/* unwind_tables_wanted - the next file from @from on that was seen without a table since its table was dropped; 0:
 * none. */
uint32_t unwind_tables_wanted(struct unwind_tables *t, uint32_t from);

/* unwind_tables_forget - drops the tables of these files and all knowledge about them. False: no memory to do it. */
bool unwind_tables_forget(struct unwind_tables *t, const uint32_t *files, size_t nr);

void unwind_tables_health(const struct unwind_tables *t, struct health *h);

#endif
