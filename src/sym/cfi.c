/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of a file: the rows of its functions, and gaps between them. */
#include "sym/cfi.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "sym/cfi_entries.h"
#include "sym/cfi_rows.h"
#include "sym/cfi_run.h"

/* Fewer bytes between two functions are padding, which nobody runs: the rule of the first holds. */
#define PADDING_MAX 16

const struct cfi_machine cfi_x86_64 = { .elf = EM_X86_64, .sp = 7, .fp = 6, .ra = 16, .bx = 3, .arg = 5 };

/* --- Sections */

/* A gap, if it is broken. */
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
	uint64_t address = 0; /* of the end of the last one, */
	uint32_t end = 0;     /* which is there in the file */
	struct cfi_function f;
	int err = 0;

	for (size_t i = 0; i < e->nr && !err; i++) {
		if (!cfi_entries_get(e, &e->at[i], &f))
			continue;
		if (f.from < end) { /* two for one place: the first counts */
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

static int parse_elf(Elf *elf, struct cfi_table *t)
{
	struct elf_segments segments = { .nr = 0 };
	Elf_Scn *scn = NULL;
	GElf_Ehdr head;
	size_t names;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &head) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_machine != cfi_x86_64.elf || elf_getshdrstrndx(elf, &names))
		return -ENOEXEC;
	elf_segments_read(elf, &segments);
	while ((scn = elf_nextscn(elf, scn))) {
		struct cfi_section s;
		const char *name;
		Elf_Data *data;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (!name || strcmp(name, ".eh_frame"))
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			return -EIO;
		s = (struct cfi_section){ data->d_buf, data->d_size, sh.sh_addr };
		return cfi_parse(t, &s, &segments, &cfi_x86_64);
	}
	return -ENOENT;
}

int cfi_read(int fd, struct cfi_table *t)
{
	Elf *elf = elf_open(fd);
	int err;

	if (!elf)
		return -ENOEXEC;
	err = parse_elf(elf, t);
	elf_end(elf);
	return err;
}

void cfi_fini(struct cfi_table *t)
{
	free(t->rows);
	free(t->pages);
	free(t->rules);
	*t = (struct cfi_table){ 0 };
}
