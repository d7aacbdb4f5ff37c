/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/cfi_pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "helper/proto.h"
#include "unwind.h"
#include "util/stream.h"
#include "util/vec.h"

/* A page that is being filled. */
struct packing {
	FILE *to;
	struct unwind_row *rows;
	size_t nr, room;
	int err;
};

static void add(struct packing *p, uint32_t from, uint32_t rule)
{
	struct unwind_row row = { from, rule };

	if (p->nr && p->rows[p->nr - 1].from == from)
		p->rows[p->nr - 1] = row;
	else if (!p->err)
		p->err = VEC_PUSH(p->rows, p->nr, p->room, row);
}

static void write_page(struct packing *p, uint32_t page)
{
	struct cfi_packed_page head = { page, p->nr };

	if (p->err)
		return;
	fwrite(&head, sizeof(head), 1, p->to);
	fwrite(p->rows, sizeof(*p->rows), p->nr, p->to);
}

/* Rule 0 is CFI_GAP: pages of nothing else are left out. */
static uint64_t pack_pages(struct packing *p, const struct cfi_table *t, bool write)
{
	uint32_t carried = 0;
	uint64_t pages = 0;
	size_t i = 0;

	while (i < t->nr) {
		/* A rule that goes on leaves no page out. */
		uint64_t page = carried ? pages : t->rows[i].offset >> UNWIND_PAGE_SHIFT;

		if (page >= UNWIND_PAGES)
			return page + 1; /* too large, whatever it is */
		p->nr = 0;
		add(p, 0, carried);
		for (; i < t->nr && t->rows[i].offset >> UNWIND_PAGE_SHIFT == page; i++) {
			carried = t->rows[i].rule;
			add(p, t->rows[i].offset & ((1 << UNWIND_PAGE_SHIFT) - 1), carried);
		}
		if (write)
			write_page(p, page);
		pages = page + 1;
	}
	return pages;
}

int cfi_pack(const struct cfi_table *t, int fd)
{
	struct cfi_packed head = { .nr_rules = t->nr_rules };
	struct packing p = { 0 };
	uint64_t pages = pack_pages(&p, t, false);

	head.nr_pages = pages;
	if (t->nr_rules > UNWIND_RULES || pages > UNWIND_PAGES)
		p.err = -E2BIG;
	p.to = p.err ? NULL : stream_of(fd, "w");
	if (!p.to && !p.err)
		p.err = -errno;
	if (!p.err) {
		fwrite(&head, sizeof(head), 1, p.to);
		fwrite(t->rules, sizeof(*t->rules), t->nr_rules, p.to);
		pack_pages(&p, t, true);
	}
	if (p.to && fclose(p.to) && !p.err)
		p.err = -errno;
	free(p.rows);
	return p.err;
}
