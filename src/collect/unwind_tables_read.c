/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a table from the symbols helper's output, which is checked: it derives from a foreign file. */
#include "collect/unwind_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/unwind_tables_internal.h"
#include "helper/proto.h"
#include "util/clock.h"
#include "util/file.h"

#define ROWS_OF_PAGE_MAX (1 << UNWIND_PAGE_SHIFT)

/* Bytes per read: much more than stdio's default. */
#define BUFFER_BYTES (1 << 16)

struct input {
	FILE *from;
	char *buffer;
	struct cfi_packed head;
	struct unwind_tables_file *file;
	uint64_t rows;
};

static bool read_exactly(struct input *in, void *to, size_t bytes)
{
	return fread(to, 1, bytes, in->from) == bytes;
}

static int read_rules(struct unwind_tables *t, struct input *in)
{
	if (!read_exactly(in, &in->head, sizeof(in->head)) || in->head.nr_rules > CFI_RULES_MAX ||
	    in->head.nr_pages > CFI_PAGES_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < in->head.nr_rules; i++) {
		struct cfi_rule rule;
		int at;

		if (!read_exactly(in, &rule, sizeof(rule)) || rule.kind >= CFI_KINDS)
			return -EINVAL;
		at = tables_take_rule(t, &rule);
		if (at < 0)
			return at;
		in->file->rules[in->file->nr_rules++] = at;
	}
	return 0;
}

/* No file refers to the page until its rows are valid: they may be read in place. */
static int read_page(struct unwind_tables *t, struct input *in, const struct cfi_packed_page *head, uint32_t base)
{
	struct unwind_row *rows;
	int64_t first;

	if (head->page >= in->head.nr_pages || !head->nr || head->nr > ROWS_OF_PAGE_MAX ||
	    t->mem.pages[base + head->page].nr)
		return -EINVAL;
	first = tables_take_rows(t, head->nr);
	if (first < 0)
		return first;
	t->mem.pages[base + head->page] = (struct unwind_page){ first, head->nr };
	in->rows += head->nr;
	rows = &t->chunks[first / UNWIND_CHUNK_ROWS][first % UNWIND_CHUNK_ROWS];
	if (!read_exactly(in, rows, head->nr * sizeof(*rows)))
		return -EINVAL;
	for (uint32_t i = 0; i < head->nr; i++) {
		if (rows[i].rule >= in->head.nr_rules)
			return -EINVAL;
		rows[i].rule = in->file->rules[rows[i].rule];
	}
	return 0;
}

static int read_pages(struct unwind_tables *t, struct input *in, uint32_t base)
{
	struct cfi_packed_page head;
	int err = 0;

	memset(&t->mem.pages[base], 0, in->head.nr_pages * sizeof(*t->mem.pages));
	while (!err && read_exactly(in, &head, sizeof(head)))
		err = in->rows > CFI_ROWS_MAX ? -EINVAL : read_page(t, in, &head, base);
	return err;
}

static int read_table(struct unwind_tables *t, struct input *in, uint32_t file)
{
	int err = read_rules(t, in);
	int64_t base = err ? err : !in->head.nr_pages ? 0 : space_take(&t->pages, in->head.nr_pages, UNWIND_PAGES);

	if (base >= 0)
		err = read_pages(t, in, base);
	else
		err = base;
	in->file->large = in->head.nr_rules > CFI_RULES_MAX / 2 || in->head.nr_pages > CFI_PAGES_MAX / 2 ||
			  in->rows > CFI_ROWS_MAX / 2;
	if (err || !in->head.nr_pages) {
		tables_leave(t, in->file, base, base < 0 ? 0 : in->head.nr_pages);
		return err;
	}
	t->files++;
	t->mem.files[file].first = base;
	__atomic_store_n(&t->mem.files[file].nr, in->head.nr_pages, __ATOMIC_RELEASE);
	return 0;
}

/* Starts from the beginning: if there was not enough room before, all of it was given back. */
static int try_read(struct unwind_tables *t, uint32_t file, int fd, char *buffer)
{
	struct input in = { .from = file_stream(fd, "r"), .buffer = buffer, .file = &t->file[file] };
	int err = -ENOMEM;

	t->starved = false;
	in.file->rules = in.from ? malloc(CFI_RULES_MAX * sizeof(*in.file->rules)) : NULL;
	if (in.file->rules) {
		setvbuf(in.from, in.buffer, _IOFBF, BUFFER_BYTES);
		err = read_table(t, &in, file);
	}
	if (in.file->rules && in.file->nr_rules) { /* the unused part of the maximum */
		uint16_t *less = realloc(in.file->rules, in.file->nr_rules * sizeof(*less));

		in.file->rules = less ? less : in.file->rules;
	}
	if (in.from)
		fclose(in.from);
	return err;
}

int unwind_tables_read(struct unwind_tables *t, uint32_t file, int fd)
{
	char *buffer;
	int err;

	if (!file || file >= UNWIND_FILES)
		return -EINVAL;
	if (tables_held(t, file))
		return -ENOSPC;
	if (t->file[file].rules)
		return 0;
	buffer = malloc(BUFFER_BYTES);
	err = buffer ? try_read(t, file, fd, buffer) : -ENOMEM;
	while (err == -ENOSPC && t->files && tables_make_room(t))
		err = try_read(t, file, fd, buffer);
	free(buffer);
	if (err == -ENOSPC && !t->files && !t->starved)
		return -E2BIG;
	if (err != -ENOSPC && err != -ENOMEM)
		return err;
	/* No fault of the file: it may have its table later. */
	t->refused_ns = clock_ns(CLOCK_MONOTONIC);
	t->wanting = true;
	return -ENOSPC;
}
