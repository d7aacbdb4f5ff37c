/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions .eh_frame describes, in the order of their addresses, and the rows of each. */
#include "sym/cfi.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "sym/cfi_run.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/vec.h"

/* Fewer bytes between two functions are padding, which nobody runs: the rule of the first holds. */
#define PADDING_MAX 16

const struct cfi_machine cfi_x86_64 = { .elf = EM_X86_64, .sp = 7, .fp = 6, .ra = 16, .bx = 3, .arg = 5 };

/* A function that is described. */
struct fde {
	uint64_t from, to;   /* addresses */
	uint32_t cie;        /* in parsing.cies */
	struct reader instructions;
};

struct parsing {
	struct cfi_table *t;
	const struct cfi_section *s;
	const struct elf_segments *segments;
	const struct cfi_machine *m;
	struct cie *cies;
	size_t nr_cies, cies_room;
	struct map cie_at;   /* place in the section + 1 -> place in cies + 1 */
	struct fde *fdes;
	size_t nr_fdes, fdes_room;
	int err;
};

/* --- Rows */

static int grow_known(struct cfi_table *t)
{
	size_t room = t->known_room ? 2 * t->known_room : 256;
	uint32_t *known = calloc(room, sizeof(*known));

	if (!known)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rules; i++) {
		size_t at = hash_16(&t->rules[i]) & (room - 1);

		while (known[at])
			at = (at + 1) & (room - 1);
		known[at] = i + 1;
	}
	free(t->known);
	t->known = known;
	t->known_room = room;
	return 0;
}

/* The place of a rule, -ENOMEM. */
static int64_t intern(struct cfi_table *t, const struct cfi_rule *rule)
{
	size_t at;

	if (2 * t->nr_rules >= t->known_room && grow_known(t))
		return -ENOMEM;
	at = hash_16(rule) & (t->known_room - 1);
	while (t->known[at] && memcmp(&t->rules[t->known[at] - 1], rule, sizeof(*rule)))
		at = (at + 1) & (t->known_room - 1);
	if (!t->known[at]) {
		if (VEC_PUSH(t->rules, t->nr_rules, t->rules_room, *rule))
			return -ENOMEM;
		t->known[at] = t->nr_rules;
	}
	return t->known[at] - 1;
}

/* Where in the file an address is, UINT64_MAX: nowhere. */
static uint64_t file_offset(const struct elf_segments *s, uint64_t address)
{
	for (int i = 0; i < s->nr; i++)
		if (address >= s->at[i].address && address - s->at[i].address < s->at[i].size)
			return s->at[i].offset + (address - s->at[i].address);
	return UINT64_MAX;
}

/* A row at an offset. One at the same place takes the place of that before; an equal one is no row. */
static int add_row(struct cfi_table *t, uint64_t offset, const struct cfi_rule *rule)
{
	int64_t at = intern(t, rule);
	struct cfi_row *last = t->nr ? &t->rows[t->nr - 1] : NULL;

	if (at < 0)
		return at;
	if (last && last->rule == at)
		return 0;
	if (last && last->offset == offset) {
		last->rule = at;
		return 0;
	}
	return VEC_PUSH(t->rows, t->nr, t->room, ((struct cfi_row){ offset, at }));
}

static bool emit(void *arg, uint64_t address, const struct cfi_rule *rule)
{
	struct parsing *p = arg;
	uint64_t offset = file_offset(p->segments, address);

	if (offset == UINT64_MAX)
		return false;
	p->err = add_row(p->t, offset, rule);
	return !p->err;
}

/* --- Entries */

/* "zPLR" and what it says. False: it is not known what comes behind. */
static bool read_augmentation(struct reader *r, const char *text, struct cie *c)
{
	struct reader data;
	uint64_t size;

	if (!*text)
		return true;
	if (*text++ != 'z')
		return false;
	c->augmented = true;
	size = read_uleb(r);
	data = *r;
	read_skip(r, size);
	data.end = r->at;
	for (; *text; text++) {
		switch (*text) {
		case 'R':
			c->encoding = read_unsigned(&data, 1);
			break;
		case 'L':
			read_unsigned(&data, 1);
			break;
		case 'P':
			/* Where the personality is does not matter: the pointer is only read over. */
			read_pointer(&data, read_unsigned(&data, 1) & 0x0f);
			break;
		case 'S':
			c->signal = true;
			break;
		default:
			return false;
		}
	}
	return !data.failed;
}

static bool read_cie(struct reader r, struct cie *c)
{
	uint8_t version = read_unsigned(&r, 1);
	const char *text = (const char *)r.at;
	const uint8_t *end = memchr(r.at, '\0', r.end - r.at);

	*c = (struct cie){ .encoding = DW_EH_PE_absptr };
	if (!end || (version != 1 && version != 3))
		return false;
	r.at = end + 1;
	c->code_align = read_uleb(&r);
	c->data_align = read_sleb(&r);
	c->ra = version == 1 ? read_unsigned(&r, 1) : read_uleb(&r);
	if (!read_augmentation(&r, text, c) || r.failed)
		return false;
	c->initial = r;
	return true;
}

/* An entry's contents at a place in the section: sets its identity, or how far back its CIE is. */
static bool read_entry(const struct cfi_section *s, size_t at, struct reader *body, uint64_t *id, size_t *next)
{
	struct reader r = { s->bytes + at, s->bytes + s->size, s->bytes, s->address, false };
	uint64_t length = read_unsigned(&r, 4);

	if (length == 0xffffffff)
		length = read_unsigned(&r, 8);
	if (!length || r.failed || length > (uint64_t)(r.end - r.at))
		return false;
	r.end = r.at + length;
	*next = r.end - s->bytes;
	*body = r;
	*id = read_unsigned(body, 4);
	return !body->failed;
}

/* The CIE at a place, -1: there is none that can be read. */
static int64_t find_cie(struct parsing *p, size_t at)
{
	uintptr_t known = (uintptr_t)map_get(&p->cie_at, at + 1);
	struct reader body;
	struct cie c;
	uint64_t id;
	size_t next;

	if (known)
		return (int64_t)known - 2;
	if (!read_entry(p->s, at, &body, &id, &next) || id || !read_cie(body, &c)) {
		p->err = map_put(&p->cie_at, at + 1, (void *)1);
		return -1;
	}
	p->err = VEC_PUSH(p->cies, p->nr_cies, p->cies_room, c);
	if (!p->err)
		p->err = map_put(&p->cie_at, at + 1, (void *)(p->nr_cies + 1));
	return p->err ? -1 : (int64_t)p->nr_cies - 1;
}

static void read_fde(struct parsing *p, struct reader body, uint64_t id)
{
	size_t id_at = body.at - 4 - p->s->bytes;
	int64_t cie = id <= id_at ? find_cie(p, id_at - id) : -1;
	const struct cie *c;
	struct fde f;

	if (cie < 0) {
		p->t->bad++;
		return;
	}
	c = &p->cies[cie];
	f.cie = cie;
	f.from = read_pointer(&body, c->encoding);
	f.to = f.from + read_pointer(&body, c->encoding & 0x0f);
	if (c->augmented)
		read_skip(&body, read_uleb(&body));
	f.instructions = body;
	if (body.failed || c->ra != p->m->ra) {
		p->t->bad++;
		return;
	}
	/* What the linker threw away is left with a size or an address of 0. */
	if (f.to > f.from && f.from)
		p->err = VEC_PUSH(p->fdes, p->nr_fdes, p->fdes_room, f);
}

static int by_address(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static bool is_sorted(const struct parsing *p)
{
	for (size_t i = 1; i < p->nr_fdes; i++)
		if (p->fdes[i].from < p->fdes[i - 1].from)
			return false;
	return true;
}

/* A gap from an address on. */
static void add_gap(struct parsing *p, uint64_t address)
{
	static const struct cfi_rule gap = { .kind = CFI_GAP };
	/* The end of the last function of a segment is in none: the byte before it is. */
	uint64_t offset = file_offset(p->segments, address - 1);

	if (offset != UINT64_MAX)
		p->err = add_row(p->t, offset + 1, &gap);
}

static void run_all(struct parsing *p)
{
	uint64_t end = 0;

	for (size_t i = 0; i < p->nr_fdes && !p->err; i++) {
		const struct fde *f = &p->fdes[i];

		if (f->from < end) { /* two for one place: the first counts */
			p->t->bad++;
			continue;
		}
		if (end && f->from - end >= PADDING_MAX)
			add_gap(p, end);
		end = f->to;
		if (!p->err && !cfi_run(&p->cies[f->cie], p->m, f->instructions, f->from, f->to, emit, p)) {
			p->t->bad++;
			if (!p->err)
				add_gap(p, f->from);
		}
	}
	if (end && !p->err)
		add_gap(p, end);
}

/* Segments that are not in the order of their addresses give rows that are not in that of offsets. */
static int by_offset(const void *a, const void *b)
{
	const struct cfi_row *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

int cfi_parse(struct cfi_table *t, const struct cfi_section *s, const struct elf_segments *segments,
	      const struct cfi_machine *m)
{
	static const struct cfi_rule gap = { .kind = CFI_GAP };
	struct parsing p = { .t = t, .s = s, .segments = segments, .m = m };
	size_t next;

	p.err = intern(t, &gap) < 0 ? -ENOMEM : 0;
	for (size_t at = 0; at < s->size && !p.err; at = next) {
		struct reader body;
		uint64_t id;

		if (!read_entry(s, at, &body, &id, &next))
			break;
		if (id)
			read_fde(&p, body, id);
	}
	if (!is_sorted(&p))
		qsort(p.fdes, p.nr_fdes, sizeof(*p.fdes), by_address);
	if (!p.err)
		run_all(&p);
	if (segments->nr > 1 && t->nr)
		qsort(t->rows, t->nr, sizeof(*t->rows), by_offset);
	map_fini(&p.cie_at);
	free(p.cies);
	free(p.fdes);
	return p.err;
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
	free(t->rules);
	free(t->known);
	*t = (struct cfi_table){ 0 };
}
