/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries of .eh_frame: CIEs, which hold what functions have in common, and FDEs, one per function. */
#include "sym/cfi_entries.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/vec.h"

/* Reads "zPLR" and its data. False: the format of what follows is unknown. */
static bool read_augmentation(struct reader *r, const char *text, struct cie *c)
{
	struct reader data;

	if (!*text)
		return true;
	if (*text++ != 'z')
		return false;
	c->augmented = true;
	data = read_block(r);
	for (; *text; text++) {
		switch (*text) {
		case 'R':
			c->encoding = read_byte(&data);
			break;
		case 'L':
			read_byte(&data);
			break;
		case 'P':
			/* The personality does not matter: its pointer is skipped. */
			read_pointer(&data, read_byte(&data) & 0x0f);
			break;
		case 'S':
			c->signal = true;
			break;
		case 'B': /* arm64: with which key return addresses are signed, */
		case 'G': /* and that the function tags its memory */
			break;
		default:
			return false;
		}
	}
	return !data.failed;
}

/* Reads what precedes a CIE's instructions. */
static bool read_head(struct reader *r, struct cie *c)
{
	uint8_t version = read_byte(r);
	const char *text = (const char *)r->at;
	const uint8_t *end = memchr(r->at, '\0', r->end - r->at);

	c->encoding = DW_EH_PE_absptr;
	if (!end || (version != 1 && version != 3))
		return false;
	r->at = end + 1;
	c->code_align = read_uleb(r);
	c->data_align = read_sleb(r);
	c->ra = version == 1 ? read_byte(r) : read_uleb(r);
	return read_augmentation(r, text, c) && !r->failed;
}

static bool read_cie(const struct cfi_machine *m, struct reader r, struct cie *c)
{
	*c = (struct cie){
		.sp = m->sp,
		.fp = m->fp,
		.bx = m->bx < 0 ? NO_REGISTER : (uint64_t)m->bx,
		.arg = m->arg < 0 ? NO_REGISTER : (uint64_t)m->arg,
	};
	return read_head(&r, c) && c->ra == m->ra && cfi_start(c, r);
}

bool cfi_encoding(struct reader *cie, uint8_t *encoding)
{
	struct cie c = { 0 };
	bool known = read_head(cie, &c);

	*encoding = c.encoding;
	return known;
}

/* Reads the entry at an offset in the section: sets @id to 0 for a CIE, for an FDE to the distance back to its CIE. */
static inline bool read_entry(const struct cfi_section *s, size_t at, struct reader *body, uint64_t *id)
{
	struct reader r = { s->bytes + at, s->bytes + s->size, s->address - (uintptr_t)s->bytes, false };
	uint64_t length = read_unsigned(&r, 4);

	if (length == 0xffffffff)
		length = read_unsigned(&r, 8);
	if (!length || r.failed || length > (uint64_t)(r.end - r.at))
		return false;
	r.end = r.at + length;
	*id = read_unsigned(&r, 4);
	*body = r;
	return !r.failed;
}

/* Reads the CIE at an offset in the section. Returns its index in cies, -EINVAL: not a readable CIE, or -ENOMEM. */
static int64_t add_cie(struct cfi_entries *e, size_t at)
{
	struct reader body;
	struct cie c;
	uint64_t id;
	bool found = read_entry(e->s, at, &body, &id) && !id;

	if (found)
		e->cie_bytes += body.end - body.at;
	if (!found || e->cie_bytes > e->s->size || !read_cie(e->m, body, &c))
		return map_put(&e->cie_at, at + 1, (void *)1) ? -ENOMEM : -EINVAL;
	if (VEC_PUSH(e->cies, e->nr_cies, e->cies_room, c) || map_put(&e->cie_at, at + 1, (void *)(e->nr_cies + 1)))
		return -ENOMEM;
	return e->nr_cies - 1;
}

static int64_t find_cie(struct cfi_entries *e, size_t at)
{
	uintptr_t known = (uintptr_t)map_get(&e->cie_at, at + 1);

	if (!known)
		return add_cie(e, at);
	return known == 1 ? -EINVAL : (int64_t)known - 2;
}

/* As find_cie(), from an FDE's @id. */
static inline int64_t cie_of(struct cfi_entries *e, const struct reader *body, uint64_t id)
{
	uint64_t id_at = body->at - 4 - e->s->bytes, at = id_at - id;
	struct cfi_recent_cie *r = &e->recent[at / 4 % (sizeof(e->recent) / sizeof(e->recent[0]))];

	if (id > id_at)
		return -EINVAL;
	if (r->at != at + 1) {
		int64_t cie = find_cie(e, at);

		if (cie < 0)
			return cie;
		*r = (struct cfi_recent_cie){ at + 1, cie };
	}
	return r->cie;
}

/* Reads an FDE's CIE and address. Returns 0, -EINVAL or -ENOMEM. */
static inline int begin_fde(struct cfi_entries *e, struct reader *body, uint64_t id, struct cfi_function *f)
{
	int64_t cie = cie_of(e, body, id);

	if (cie < 0)
		return cie;
	f->cie = &e->cies[cie];
	f->address = read_pointer(body, f->cie->encoding);
	return body->failed ? -EINVAL : 0;
}

/* The segment that holds an address, NULL: none. Most often it is that of the last address. */
static inline const struct elf_segment *find_segment(struct cfi_entries *e, uint64_t address)
{
	const struct elf_segment *s = e->segment;

	for (int i = 0; address - s->address >= s->size; i++) {
		if (i == e->segments->nr)
			return NULL;
		s = &e->segments->at[i];
	}
	return e->segment = s;
}

static int add_entry(struct cfi_entries *e, uint32_t offset, uint32_t at)
{
	uint32_t last = e->nr ? e->at[e->nr - 1].offset : offset;

	e->unsorted |= offset < last;
	e->differing |= offset ^ last;
	return VEC_PUSH(e->at, e->nr, e->room, ((struct cfi_entry){ offset, at }));
}

static int add_fde(struct cfi_entries *e, size_t at, struct reader body, uint64_t id)
{
	struct cfi_function f = { .address = 0 };
	int err = begin_fde(e, &body, id, &f);
	const struct elf_segment *s = err ? NULL : find_segment(e, f.address);
	uint64_t offset;

	if (err == -ENOMEM)
		return err;
	/* Functions that the linker dropped keep an address of 0. */
	if (!err && !f.address)
		return 0;
	if (!s) {
		e->bad++;
		return 0;
	}
	offset = f.address - s->address + s->offset;
	return offset > UINT32_MAX ? -E2BIG : add_entry(e, offset, at);
}

/* Radix sort, this many bits of the offset at a time, the lowest first. */
#define SORT_BITS 11
#define SORT_DIGITS (1 << SORT_BITS)

static uint32_t digit(uint32_t offset, int shift)
{
	return offset >> shift & (SORT_DIGITS - 1);
}

static void sort_by_digit(const struct cfi_entry *from, struct cfi_entry *to, size_t nr, int shift)
{
	uint32_t first[SORT_DIGITS] = { 0 }, at = 0;

	for (size_t i = 0; i < nr; i++)
		first[digit(from[i].offset, shift)]++;
	for (size_t i = 0; i < SORT_DIGITS; i++) {
		uint32_t count = first[i];

		first[i] = at;
		at += count;
	}
	for (size_t i = 0; i < nr; i++)
		to[first[digit(from[i].offset, shift)]++] = from[i];
}

/* In linear time, whatever their order. */
static int sort(struct cfi_entries *e)
{
	struct cfi_entry *spare = malloc(e->nr * sizeof(*spare));

	if (!spare)
		return -ENOMEM;
	for (int shift = 0; shift < 32; shift += SORT_BITS) {
		struct cfi_entry *from = e->at;

		if (!digit(e->differing, shift))
			continue;
		sort_by_digit(from, spare, e->nr, shift);
		e->at = spare;
		spare = from;
	}
	free(spare);
	return 0;
}

int cfi_entries_read(struct cfi_entries *e)
{
	struct reader body;
	uint64_t id;

	if (e->s->size > UINT32_MAX)
		return -E2BIG;
	e->segment = &e->segments->at[0];
	for (size_t at = 0; read_entry(e->s, at, &body, &id); at = body.end - e->s->bytes) {
		int err = id ? add_fde(e, at, body, id) : 0;

		if (err)
			return err;
	}
	return e->unsorted ? sort(e) : 0;
}

static inline uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool cfi_entries_get(struct cfi_entries *e, const struct cfi_entry *entry, struct cfi_function *f)
{
	const struct elf_segment *s;
	struct reader body;
	uint64_t id, bytes;

	/* These succeeded when the entry was found. */
	if (!read_entry(e->s, entry->at, &body, &id) || begin_fde(e, &body, id, f))
		return false;
	s = find_segment(e, f->address);
	if (!s)
		return false;
	bytes = read_pointer(&body, f->cie->encoding & 0x0f);
	if (f->cie->augmented)
		read_skip(&body, read_uleb(&body));
	if (body.failed) {
		e->bad++;
		return false;
	}
	bytes = min(bytes, s->size - (f->address - s->address));
	f->from = entry->offset;
	f->to = min(f->from + bytes, UINT32_MAX);
	f->instructions = body;
	return f->to > f->from;
}

void cfi_entries_fini(struct cfi_entries *e)
{
	map_fini(&e->cie_at);
	free(e->cies);
	free(e->at);
}
