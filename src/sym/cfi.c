/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of a file: the rows of its functions, from .eh_frame and from the table that Go programs keep, of stubs without
 * an entry there, and the gaps between them. */
#include "sym/cfi.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/cfi_entries.h"
#include "sym/cfi_roots.h"
#include "sym/cfi_rows.h"
#include "sym/cfi_run.h"
#include "sym/cfi_stubs.h"
#include "sym/elf_file.h"
#include "sym/functions.h"
#include "sym/gopcsp.h"

/* Fewer bytes between two functions are padding, which never runs: the first one's rule stays. */
#define PADDING_MAX 16

const struct cfi_machine cfi_x86_64 = { .elf = EM_X86_64, .sp = 7, .fp = 6, .ra = 16, .bx = 3, .arg = 5 };
const struct cfi_machine cfi_aarch64 = { .elf = EM_AARCH64, .sp = 31, .fp = 29, .ra = 30, .bx = 30, .arg = -1 };

#if defined(__aarch64__)
static const struct cfi_machine *const native = &cfi_aarch64;
#else
static const struct cfi_machine *const native = &cfi_x86_64;
#endif

/* --- Sections */

/* What a table is made of. */
struct sources {
	const struct elf_segments *segments;
	const struct cfi_machine *machine;
	struct gopcsp *go;
	const struct cfi_stubs *stubs;
	uint32_t root; /* cfi_root() */
};

/* The next function of .eh_frame, of Go's, and the next stubs. */
struct next {
	struct cfi_entries *e;
	size_t at;
	struct gopcsp *g;
	bool has_function, has_go;
	struct cfi_function function;
	struct gopcsp_function go;
	const struct cfi_stub *stub, *stubs_end;
};

static void next_function(struct next *n)
{
	n->has_function = false;
	while (!n->has_function && n->at < n->e->nr)
		n->has_function = cfi_entries_get(n->e, &n->e->at[n->at++], &n->function);
}

static void next_go(struct next *n)
{
	n->has_go = gopcsp_next(n->g, &n->go);
}

/* Adds the next function's rows, or a gap if it is broken. */
static int add_next(struct cfi_rows *rows, struct next *n, bool is_go)
{
	struct cfi_end before = rows->end;
	int err = is_go ? gopcsp_add(n->g, &n->go, rows) : cfi_run(&n->function, rows);

	if (err != -EINVAL)
		return err;
	n->e->bad++;
	rows->end = before;
	return cfi_rows_add_gap(rows, is_go ? n->go.from : n->function.from);
}

/* Adds the gap of @bytes between two functions, unless it is padding; the code at @root in it has no caller. */
static int add_gap(struct cfi_rows *rows, uint32_t from, uint32_t to, uint64_t bytes, uint32_t root)
{
	int err = bytes < PADDING_MAX || from == to ? 0 : cfi_rows_add_gap(rows, from);

	if (err || root < from || root >= to)
		return err;
	return cfi_rows_add(rows, root, cfi_state_of(CFI_STOP, 8, false));
}

/* Adds the stubs in the gap from offset *@at in the file, whose address is *@address, up to @to, and moves both behind the last
 * stub. Returns 0 or -errno. */
static int add_stubs(struct cfi_rows *rows, struct next *n, uint32_t *at, uint64_t *address, uint32_t to, uint32_t root)
{
	int err = 0;

	for (; !err && n->stub < n->stubs_end && n->stub->from < to; n->stub++) {
		if (n->stub->from < *at || n->stub->to > to) /* .eh_frame describes them */
			continue;
		if (*at)
			err = add_gap(rows, *at, n->stub->from, n->stub->address - *address, root);
		if (!err)
			err = cfi_stubs_add(n->stub, rows);
		*at = n->stub->to;
		*address = n->stub->address + (n->stub->to - n->stub->from);
	}
	return err;
}

static int add_functions(struct cfi_rows *rows, struct cfi_entries *e, const struct sources *of)
{
	struct next n = { .e = e, .g = of->go, .stub = of->stubs->at,
			  .stubs_end = of->stubs->at + of->stubs->nr };
	uint64_t address = 0; /* end of the last function */
	uint32_t end = 0;     /* its offset in the file */
	int err = 0;

	next_function(&n);
	next_go(&n);
	while (!err && (n.has_function || n.has_go)) {
		bool is_go = n.has_go && (!n.has_function || n.go.from < n.function.from);
		uint32_t from = is_go ? n.go.from : n.function.from, to = is_go ? n.go.to : n.function.to;
		uint64_t at = is_go ? n.go.address : n.function.address;

		if (from < end) { /* two functions in one place: the first counts */
			e->bad++;
		} else {
			err = add_stubs(rows, &n, &end, &address, from, of->root);
			if (!err && end)
				err = add_gap(rows, end, from, at - address, of->root);
			if (!err)
				err = add_next(rows, &n, is_go);
			end = to;
			address = at + (to - from);
		}
		if (is_go)
			next_go(&n);
		else
			next_function(&n);
	}
	if (!err)
		err = add_stubs(rows, &n, &end, &address, UINT32_MAX, of->root);
	return err ? err : cfi_rows_add_gap(rows, end);
}

static int parse(struct cfi_table *t, const struct cfi_section *s, const struct sources *from)
{
	struct cfi_entries e = { .s = s, .segments = from->segments, .m = from->machine };
	struct cfi_rows rows = { 0 };
	int err = cfi_entries_read(&e);

	if (!err)
		err = cfi_rows_begin(&rows, s->size + from->go->table.nr);
	if (!err)
		err = add_functions(&rows, &e, from);
	*t = cfi_rows_take(&rows);
	t->bad = e.bad;
	cfi_entries_fini(&e);
	return err;
}

int cfi_parse(struct cfi_table *t, const struct cfi_section *s, const struct elf_segments *segments,
	      const struct cfi_machine *m)
{
	static const struct cfi_stubs no_stubs;
	struct gopcsp no_go = { .bytes = NULL };

	return parse(t, s, &(struct sources){ .segments = segments, .machine = m, .go = &no_go, .stubs = &no_stubs });
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

/* Go's functions have no entries in .eh_frame, which a Go program has only for its C functions. Their table is read for
 * x86_64 only: on arm64 they keep frame pointers, which are followed. */
static int parse_file(const struct elf_file *f, struct cfi_table *t)
{
	struct cfi_section s = { .bytes = (const uint8_t *)"", .size = 0 };
	struct gopcsp go = { .bytes = NULL };
	struct cfi_stubs stubs = { 0 };
	struct elf_segments segments;
	void *bytes = NULL;
	GElf_Ehdr head;
	GElf_Shdr sh;
	int err;

	if (!gelf_getehdr(f->elf, &head) || !elf_file_is_64(f) || head.e_machine != native->elf)
		return -ENOEXEC;
	elf_segments_read(f, &segments);
	err = native == &cfi_x86_64 ? gopcsp_open(&go, f, &segments) : 0;
	if (err) /* C's functions are read nevertheless */
		gopcsp_close(&go);
	if (err != -ENOMEM && (find_section(f, &sh) || find_in_segments(f, &sh)))
		err = elf_section_read(f, &sh, &bytes);
	if (bytes)
		s = (struct cfi_section){ bytes, sh.sh_size, sh.sh_addr };
	cfi_stubs_find(f, native, &stubs);
	if (!err)
		err = parse(t, &s, &(struct sources){ &segments, native, &go, &stubs, cfi_root(f, &segments, head.e_entry) });
	gopcsp_close(&go);
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
