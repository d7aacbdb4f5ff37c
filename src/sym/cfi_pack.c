/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/cfi_pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "helper/proto.h"
#include "util/file.h"

/* Larger than stdio's own buffer. */
#define BUFFER_BYTES (1 << 16)

static void write_page(FILE *to, const struct cfi_table *t, size_t page)
{
	size_t nr;
	const struct unwind_row *rows = cfi_rows_of(t, page, &nr);
	struct cfi_packed_page head = { t->pages[page].page, nr };

	fwrite(&head, sizeof(head), 1, to);
	fwrite(rows, sizeof(*rows), nr, to);
}

int cfi_pack(const struct cfi_table *t, int fd)
{
	struct cfi_packed head = { .nr_rules = t->nr_rules };
	char *buffer = malloc(BUFFER_BYTES);
	FILE *to = buffer ? file_stream(fd, "w") : NULL;
	int err = to ? 0 : -errno;

	if (t->nr_pages)
		head.nr_pages = t->pages[t->nr_pages - 1].page + 1;
	if (to) {
		setvbuf(to, buffer, _IOFBF, BUFFER_BYTES);
		fwrite(&head, sizeof(head), 1, to);
		fwrite(t->rules, sizeof(*t->rules), t->nr_rules, to);
		for (size_t i = 0; i < t->nr_pages; i++)
			write_page(to, t, i);
		err = ferror(to) ? -EIO : 0;
		if (fclose(to) && !err)
			err = -errno;
	}
	free(buffer);
	return err;
}
