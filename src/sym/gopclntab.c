/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/gopclntab.h"

#include <errno.h>
#include <string.h>

#include "sym/elf.h"
#include "sym/elf_file.h"
#include "sym/elf_relocations.h"
#include "util/clock.h"

/* A header has up to 8 words after the first 8 bytes. */
#define HEADER_BYTES (8 + 8 * 8)

/* GNU ld puts the table of a position independent program into .data.rel.ro, together with other read-only data: it is
 * searched up to here, at this alignment. */
#define SEARCH_MAX (64U << 20)
#define SEARCH_STEP 8

/* Where .go.module (Go 1.26) has the address of the first function: after a pointer, six slices, a pointer, and the
 * lowest and highest address of a function. */
#define MODULE_TEXT (8 + 6 * 24 + 8 + 2 * 8)

/* Functions between two reads of the clock */
#define CLOCK_FUNCTIONS 256

/* Bytes of a table, which is read in small parts, so that functions in random order cost little. */
struct window {
	uint8_t bytes[1 << 13];
	uint64_t from, to;            /* places in the table; equal: nothing is read */
};

/* Where the table may be, by the file's sections. */
struct places {
	GElf_Shdr table, rel_ro, module;
	bool is_go, has_table, has_rel_ro, has_module;
};

static uint64_t number(const uint8_t *at, uint64_t bytes)
{
	uint64_t n = 0;

	memcpy(&n, at, bytes); /* the file has this machine's byte order, which is checked */
	return n;
}

/* --- Places and headers */

static void find_places(const struct elf_file *f, struct places *p)
{
	GElf_Shdr sh;

	*p = (struct places){ .is_go = false };
	for (size_t i = 1; i < f->nr_sections && elf_section_at(f, i, &sh); i++) {
		if (sh.sh_type != SHT_PROGBITS || elf_section_check(f, &sh))
			continue;
		if (!p->has_table &&
		    (elf_section_is(f, &sh, ".gopclntab") || elf_section_is(f, &sh, ".data.rel.ro.gopclntab"))) {
			p->has_table = true;
			p->table = sh;
		} else if (!p->has_rel_ro && elf_section_is(f, &sh, ".data.rel.ro")) {
			p->has_rel_ro = true;
			p->rel_ro = sh;
		} else if (!p->has_module && elf_section_is(f, &sh, ".go.module")) {
			p->has_module = true;
			p->module = sh;
		} else if (!p->is_go) {
			p->is_go = elf_section_is(f, &sh, ".go.buildinfo");
		}
	}
}

/* Sets what depends on the version from the words of a header. */
static bool take_words(struct gopclntab *t, const uint8_t *words)
{
	uint64_t field[8];

	for (int i = 0; i < 8; i++)
		field[i] = number(words + i * t->word, t->word);
	t->nr = field[0];
	t->entry_bytes = t->word;
	switch (t->magic) {
	case GO_1_2:
		t->names_bytes = t->bytes;
		t->functions = 8 + t->word;
		return true;
	case GO_1_16:
		t->names = field[2];
		t->names_bytes = field[3] - field[2];
		t->pcs = field[5];
		t->functions = t->more_base = field[6];
		return true;
	case GO_1_18:
	case GO_1_20:
		t->text = field[2];
		t->names = field[3];
		t->names_bytes = field[4] - field[3];
		t->pcs = field[6];
		t->functions = t->more_base = field[7];
		t->entry_bytes = 4;
		return true;
	default:
		return false;
	}
}

/* Two zeroes, the size of an instruction, and of a pointer. */
static bool is_header(const uint8_t *bytes)
{
	uint32_t magic = number(bytes, 4);

	return (magic == GO_1_2 || magic == GO_1_16 || magic == GO_1_18 || magic == GO_1_20) && !bytes[4] && !bytes[5] &&
	       (bytes[6] == 1 || bytes[6] == 2 || bytes[6] == 4) && (bytes[7] == 4 || bytes[7] == 8);
}

/* Reads the header at a place of a section: 0, -ENOENT: there is none, or -EBADMSG. */
static int read_header(const struct elf_file *f, const GElf_Shdr *sh, uint64_t at, struct gopclntab *t)
{
	uint8_t header[HEADER_BYTES];

	if (sh->sh_size - at < HEADER_BYTES || !elf_file_read(f, header, sizeof(header), sh->sh_offset + at) ||
	    !is_header(header))
		return -ENOENT;
	*t = (struct gopclntab){ .offset = sh->sh_offset + at, .bytes = sh->sh_size - at, .address = sh->sh_addr + at,
			     .magic = number(header, 4), .word = header[7], .quantum = header[6] };
	if (!take_words(t, header + 8) || t->names > t->bytes || t->pcs > t->bytes || t->names_bytes > t->bytes - t->names ||
	    t->functions > t->bytes || t->bytes - t->functions < t->entry_bytes ||
	    t->nr > (t->bytes - t->functions - t->entry_bytes) / (2 * t->entry_bytes))
		return -EBADMSG;
	return 0;
}

static int search(const struct elf_file *f, const GElf_Shdr *sh, struct gopclntab *t)
{
	static uint8_t block[1 << 16];
	uint64_t end = sh->sh_size < SEARCH_MAX ? sh->sh_size : SEARCH_MAX;

	for (uint64_t done = 0; done < end; done += sizeof(block)) {
		size_t part = end - done < sizeof(block) ? end - done : sizeof(block);

		if (!elf_file_read(f, block, part, sh->sh_offset + done))
			return -EIO;
		for (size_t at = 0; at + SEARCH_STEP <= part; at += SEARCH_STEP)
			if (is_header(block + at) && !read_header(f, sh, done + at, t))
				return 0;
	}
	return -ENOENT;
}

/* --- The address of the first function */

struct pointer {
	uint64_t address, value;
};

static int relocate(void *to, uint32_t symbols, const Elf64_Rela *r)
{
	struct pointer *p = to;

	(void)symbols;
	if (r->r_offset != p->address || ELF64_R_TYPE(r->r_info) != R_X86_64_RELATIVE)
		return 0;
	p->value = r->r_addend;
	return 1;
}

/* The value of a pointer; if it is 0, a linker may have left it to a relocation. */
static uint64_t pointer_value(const struct elf_file *f, uint64_t address, uint64_t value)
{
	struct pointer p = { address, value };

	if (!value)
		elf_relocations(f, relocate, &p);
	return p.value;
}

/* Go 1.18 to 1.25 have it in the header, later ones in .go.module. */
static void find_text(const struct elf_file *f, const struct places *p, struct gopclntab *t)
{
	uint8_t text[8];

	if (t->magic != GO_1_18 && t->magic != GO_1_20)
		return;
	if (!p->has_module)
		t->text = pointer_value(f, t->address + 8 + 2 * t->word, t->text);
	else if (!t->text && t->word == sizeof(text) && p->module.sh_size >= MODULE_TEXT + sizeof(text) &&
		 elf_file_read(f, text, sizeof(text), p->module.sh_offset + MODULE_TEXT))
		t->text = pointer_value(f, p->module.sh_addr + MODULE_TEXT, number(text, sizeof(text)));
}

int gopclntab_find(const struct elf_file *f, struct gopclntab *t)
{
	struct places p;
	int err;

	find_places(f, &p);
	if (p.has_table)
		err = read_header(f, &p.table, 0, t);
	else
		err = p.is_go && p.has_rel_ro ? search(f, &p.rel_ro, t) : -ENOENT;
	if (!err)
		find_text(f, &p, t);
	return err ? err : !t->text && t->entry_bytes != t->word ? -EBADMSG : 0;
}

/* --- Functions */

/* A table that is being read. */
struct reading {
	const struct elf_file *file;
	struct gopclntab table;
	struct window functions, more;
};

/* A few @bytes at a place. NULL: they are not all there. */
static const uint8_t *peek(const struct reading *r, struct window *w, uint64_t at, uint64_t bytes)
{
	const struct gopclntab *t = &r->table;
	uint64_t part;

	if (at > t->bytes || bytes > t->bytes - at)
		return NULL;
	if (at < w->from || at + bytes > w->to) {
		part = t->bytes - at < sizeof(w->bytes) ? t->bytes - at : sizeof(w->bytes);
		w->from = w->to = at;
		if (!elf_file_read(r->file, w->bytes, part, t->offset + at))
			return NULL;
		w->to += part;
	}
	return w->bytes + (at - w->from);
}

/* The rest of a function's record begins with its entry again, and the place of its name. */
static int add_function(struct reading *r, uint64_t i, const struct elf_names *n, struct symtab *to)
{
	const struct gopclntab *t = &r->table;
	uint64_t bytes = t->entry_bytes, entry, next, place;
	const uint8_t *pair = peek(r, &r->functions, t->functions + i * 2 * bytes, 3 * bytes), *name;

	if (!pair)
		return -EBADMSG;
	entry = number(pair, bytes);
	place = number(pair + bytes, bytes);
	next = number(pair + 2 * bytes, bytes);
	name = place <= t->bytes ? peek(r, &r->more, t->more_base + place + bytes, 4) : NULL;
	if (!name)
		return -EBADMSG;
	place = number(name, 4);
	if (next <= entry || place >= n->bytes)
		return 0;
	return symtab_add_at(to, t->text + entry, next - entry, n->at + place, n->in_file, 0);
}

static int begin(const struct reading *r, struct symtab *to, struct elf_progress *p)
{
	const struct gopclntab *t = &r->table;
	int err = symtab_reserve(to, t->nr);

	return err ? err : elf_names_find(r->file, t->offset + t->names, t->names_bytes, to, &p->names);
}

int gopclntab_read(const struct elf_file *f, struct symtab *t, struct elf_progress *p)
{
	static struct reading r;
	int err;

	r.file = f;
	r.functions.to = r.functions.from;
	r.more.to = r.more.from;
	err = gopclntab_find(f, &r.table);
	if (!err && !p->done)
		err = begin(&r, t, p);
	while (!err && p->done < r.table.nr) {
		err = add_function(&r, p->done++, &p->names, t);
		if (!err && p->until && p->done % CLOCK_FUNCTIONS == 0 && clock_ns(CLOCK_MONOTONIC) > p->until)
			return -EAGAIN;
	}
	return err;
}
