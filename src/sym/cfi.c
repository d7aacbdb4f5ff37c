/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of a file: the rows of its functions, and the gaps between them. */
#include "sym/cfi.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/cfi_entries.h"
#include "sym/cfi_rows.h"
#include "sym/cfi_run.h"
#include "sym/elf_file.h"
#include "sym/functions.h"

/* Fewer bytes between two functions are padding, which never runs: the first one's rule stays. */
#define PADDING_MAX 16

const struct cfi_machine cfi_x86_64 = { .elf = EM_X86_64, .sp = 7, .fp = 6, .ra = 16, .bx = 3, .arg = 5 };

/* --- Sections */

/* Adds a function's rows, or a gap if it is broken. */
static int add_function(struct cfi_rows *rows, const struct cfi_function *f, uint64_t *bad)
{
	struct cfi_end before = rows->end;
	int err = cfi_run(f, rows);

	if (err != -EINVAL)
		return err;
	(*bad)++;
	rows->end = before;
	return cfi_rows_add_gap(rows, f->from);
}

static int add_functions(struct cfi_rows *rows, struct cfi_entries *e)
{
	uint64_t address = 0; /* end of the last function */
	uint32_t end = 0;     /* its offset in the file */
	struct cfi_function f;
	int err = 0;

	for (size_t i = 0; i < e->nr && !err; i++) {
		if (!cfi_entries_get(e, &e->at[i], &f))
			continue;
		if (f.from < end) { /* two functions in one place: the first counts */
			e->bad++;
			continue;
		}
		if (end && f.address - address >= PADDING_MAX)
			err = cfi_rows_add_gap(rows, end);
		if (!err)
			err = add_function(rows, &f, &e->bad);
		end = f.to;
		address = f.address + (f.to - f.from);
	}
	return err ? err : cfi_rows_add_gap(rows, end);
}

int cfi_parse(struct cfi_table *t, const struct cfi_section *s, const struct elf_segments *segments,
	      const struct cfi_machine *m)
{
	struct cfi_entries e = { .s = s, .segments = segments, .m = m };
	struct cfi_rows rows = { 0 };
	int err = cfi_entries_read(&e);

	if (!err)
		err = cfi_rows_begin(&rows, s->size);
	if (!err)
		err = add_functions(&rows, &e);
	*t = cfi_rows_take(&rows);
	t->bad = e.bad;
	cfi_entries_fini(&e);
	return err;
}

/* --- Files */

static bool find_section(const struct elf_file *f, GElf_Shdr *sh)
{
	for (size_t i = 1; i < f->nr_sections && elf_section_at(f, i, sh); i++)
		if (sh->sh_type != SHT_NOBITS && elf_section_is(f, sh, ".eh_frame"))
			return true;
	return false;
}

/* A file without section headers: the segments lead to .eh_frame, which a zero ends. */
static bool find_in_segments(const struct elf_file *f, GElf_Shdr *sh)
{
	struct functions t;

	functions_read(f, &t);
	if (t.eh_frame < t.segment.address || t.eh_frame - t.segment.address >= t.segment.size)
		return false;
	*sh = (GElf_Shdr){
		.sh_type = SHT_PROGBITS,
		.sh_addr = t.eh_frame,
		.sh_offset = t.eh_frame - t.segment.address + t.segment.offset,
		.sh_size = t.segment.size - (t.eh_frame - t.segment.address),
	};
	return true;
}

static int parse_file(const struct elf_file *f, struct cfi_table *t)
{
	struct elf_segments segments;
	struct cfi_section s;
	GElf_Ehdr head;
	GElf_Shdr sh;
	void *bytes;
	int err;

	if (!gelf_getehdr(f->elf, &head) || !elf_file_is_64(f) || head.e_machine != cfi_x86_64.elf)
		return -ENOEXEC;
	if (!find_section(f, &sh) && !find_in_segments(f, &sh))
		return -ENOENT;
	err = elf_section_read(f, &sh, &bytes);
	if (err)
		return err;
	elf_segments_read(f, &segments);
	s = (struct cfi_section){ bytes, sh.sh_size, sh.sh_addr };
	err = cfi_parse(t, &s, &segments, &cfi_x86_64);
	free(bytes);
	return err;
}

int cfi_read(int fd, struct cfi_table *t)
{
	struct elf_file f;
	int err = elf_file_open(&f, fd);

	if (!err)
		err = parse_file(&f, t);
	elf_file_close(&f);
	return err;
}

void cfi_fini(struct cfi_table *t)
{
	free(t->rows);
	free(t->pages);
	free(t->rules);
	*t = (struct cfi_table){ 0 };
}
