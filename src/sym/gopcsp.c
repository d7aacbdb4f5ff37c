/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/gopcsp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/cfi_rows.h"
#include "sym/cfi_run.h"
#include "sym/elf.h"
#include "sym/elf_file.h"

/* Bytes of one file's table: more than the largest programs have. */
#define TABLE_MAX (256UL << 20)

/* Offsets in the table's record of a function, of what is read: its name, the place of its stack pointer's movements, and
 * its flags. */
#define MORE_NAME 4
#define MORE_PCSP 16
#define MORE_FLAGS_1_18 37
#define MORE_FLAGS_1_20 41
#define MORE_BYTES 44

enum {
	TOP_FRAME = 1, /* the outermost function of a stack */
	SP_WRITE = 2,  /* it moves the stack pointer to another stack */
};

/* Movements of the stack pointer per function: real programs have 4 on average. As the table may name the same ones for
 * any number of functions, its size alone is no bound. */
#define STEPS_PER_FUNCTION 64

static uint64_t number(const struct gopcsp *g, uint64_t at, size_t bytes)
{
	uint64_t n = 0;

	memcpy(&n, g->bytes + at, bytes);
	return n;
}

int gopcsp_open(struct gopcsp *g, const struct elf_file *f, const struct elf_segments *segments)
{
	struct gopclntab *t = &g->table;
	int err = gopclntab_find(f, t);

	if (err)
		return err;
	if (t->magic != GO_1_18 && t->magic != GO_1_20)
		return -ENOENT;
	if (t->bytes > TABLE_MAX)
		return -E2BIG;
	g->bytes = malloc(t->bytes);
	if (!g->bytes)
		return -ENOMEM;
	if (!elf_file_read(f, g->bytes, t->bytes, t->offset))
		return -EIO;
	g->segments = segments;
	g->steps = t->bytes + STEPS_PER_FUNCTION * t->nr;
	return 0;
}

void gopcsp_close(struct gopcsp *g)
{
	free(g->bytes);
	*g = (struct gopcsp){ .bytes = NULL };
}

/* --- Functions */

/* Cuts @to off at the end of the segment. False: the function is in none, or too far back in the file. */
static bool in_file(const struct gopcsp *g, uint64_t from, uint64_t to, struct gopcsp_function *f)
{
	for (int i = 0; i < g->segments->nr; i++) {
		const struct elf_segment *s = &g->segments->at[i];
		uint64_t at = from - s->address, bytes = to - from;

		if (from < s->address || at >= s->size)
			continue;
		if (bytes > s->size - at)
			bytes = s->size - at;
		if (s->offset > UINT32_MAX || at > UINT32_MAX || s->offset + at + bytes > UINT32_MAX)
			return false;
		f->from = s->offset + at;
		f->to = f->from + bytes;
		f->address = from;
		return true;
	}
	return false;
}

bool gopcsp_next(struct gopcsp *g, struct gopcsp_function *f)
{
	const struct gopclntab *t = &g->table;
	uint64_t bytes = t->entry_bytes;

	while (g->bytes && g->next < t->nr) {
		uint64_t at = t->functions + g->next++ * 2 * bytes; /* they and their end are in the table */
		uint64_t from = t->text + number(g, at, bytes), to = t->text + number(g, at + 2 * bytes, bytes);
		uint64_t place = number(g, at + bytes, bytes);

		f->more = t->more_base + place;
		if (place <= t->bytes && f->more <= t->bytes && t->bytes - f->more >= MORE_BYTES && from < to &&
		    in_file(g, from, to, f))
			return true;
	}
	return false;
}

/* --- Rows */

/* Reads a number of 7 bits a byte. False: it is not all there, or too large. */
static bool read_number(const struct gopcsp *g, uint64_t *at, uint32_t *to)
{
	*to = 0;
	for (int shift = 0; shift < 32 && *at < g->table.bytes; shift += 7) {
		uint8_t byte = g->bytes[(*at)++];

		*to |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* One row: the stack pointer has moved by @moved. In Go's frames the caller's frame pointer is next to the return
 * address. */
static int add_row(struct cfi_rows *rows, uint32_t offset, int64_t moved)
{
	if (moved < 0 || moved % 8)
		return cfi_rows_add_gap(rows, offset);
	return cfi_rows_add(rows, offset, cfi_state_of(CFI_SP, moved + 8, moved));
}

/* Adds a row for each movement of the stack pointer. The table has pairs of how much the value changes and for how many
 * instructions it then holds. The value starts at -1; a change of 0, except in the first pair, marks the end. */
static int add_moves(struct gopcsp *g, const struct gopcsp_function *f, uint64_t at, struct cfi_rows *rows)
{
	uint32_t change, length, offset = f->from;
	int64_t moved = -1;
	bool first = true;
	int err = 0;

	for (; offset < f->to && !err; first = false) {
		if (!g->steps || !read_number(g, &at, &change))
			return -EINVAL;
		g->steps--;
		if (!change && !first)
			return 0; /* the last one holds up to the next function: what follows never runs */
		if (!read_number(g, &at, &length))
			return -EINVAL;
		moved += change & 1 ? -(int64_t)(change >> 1) - 1 : (int64_t)(change >> 1);
		if (!length)
			continue;
		err = add_row(rows, offset, moved);
		if (length * g->table.quantum >= f->to - offset)
			break;
		offset += length * g->table.quantum;
	}
	return err;
}

static bool is_named(const struct gopcsp *g, const struct gopcsp_function *f, const char *name)
{
	const struct gopclntab *t = &g->table;
	uint64_t at = number(g, f->more + MORE_NAME, 4), bytes = strlen(name) + 1;

	return at < t->names_bytes && bytes <= t->names_bytes - at && !memcmp(g->bytes + t->names + at, name, bytes);
}

/* Whether signal handlers return through this function to the code that the signal interrupted. */
static bool is_signal_return(const struct gopcsp *g, const struct gopcsp_function *f)
{
	return is_named(g, f, "runtime.sigreturn") || is_named(g, f, "runtime.sigreturn__sigaction");
}

/* Whether it is the signal handler: though marked as outermost, it returns to runtime.sigreturn. */
static bool is_signal_handler(const struct gopcsp *g, const struct gopcsp_function *f)
{
	return is_named(g, f, "runtime.sigtramp");
}

/* Whether it calls, on the system's stack, a function that never returns: that one is the outermost function there. */
static bool leaves_stack(const struct gopcsp *g, const struct gopcsp_function *f)
{
	return is_named(g, f, "runtime.mcall") || is_named(g, f, "runtime.morestack");
}

static uint64_t last_row(const struct cfi_rows *rows)
{
	return rows->end.rows ? rows->end.offset - UNWIND_PAGE_BYTES + rows->rows[rows->end.rows - 1].from : 0;
}

int gopcsp_add(struct gopcsp *g, const struct gopcsp_function *f, struct cfi_rows *rows)
{
	uint8_t flags = g->bytes[f->more + (g->table.magic == GO_1_18 ? MORE_FLAGS_1_18 : MORE_FLAGS_1_20)];
	uint64_t moves = number(g, f->more + MORE_PCSP, 4);

	/* A frame is looked up by the byte in front of its return address, which is here the start of the function. */
	if (is_signal_return(g, f))
		return cfi_rows_add(rows, f->from - (last_row(rows) + 1 < f->from), cfi_state_of(CFI_SIGNAL, 8, false));
	if (flags & TOP_FRAME ? !is_signal_handler(g, f) : flags & SP_WRITE && leaves_stack(g, f))
		return cfi_rows_add(rows, f->from, cfi_state_of(CFI_STOP, 8, false));
	/* While it calls C, the clock or a part of the runtime on the system's stack, the frame pointer is still its own, or,
	 * if it needs no frame, that of its caller: then the caller is left out. */
	if (flags & SP_WRITE)
		return cfi_rows_add(rows, f->from, cfi_state_of(CFI_FP_AWAY, 16, true));
	if (!moves || moves >= g->table.bytes - g->table.pcs)
		return cfi_rows_add_gap(rows, f->from);
	return add_moves(g, f, g->table.pcs + moves, rows);
}
