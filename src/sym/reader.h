/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_READER_H
#define SYSTOP_SYM_READER_H

#include <dwarf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Bytes of a foreign file, any of which may be wrong: read once, from first to last. A read beyond the end yields 0,
 * moves to the end and sets @failed for good: one check is enough after many reads. Numbers have this machine's byte
 * order: other files are not read.
 *
 * What each instruction needs is inline here: out of line it takes several times as long.
 */
struct reader {
	const uint8_t *at, *end;
	uint64_t shift; /* difference between a byte's address and the pointer to it */
	bool failed;
};

static inline uint8_t read_byte(struct reader *r)
{
	if (r->at == r->end) {
		r->failed = true;
		return 0;
	}
	return *r->at++;
}

/* read_unsigned - a number of 2, 4 or 8 @bytes. */
static inline uint64_t read_unsigned(struct reader *r, size_t bytes)
{
	uint64_t v = 0;

	if ((size_t)(r->end - r->at) < bytes) {
		r->failed = true;
		r->at = r->end;
		return 0;
	}
	memcpy(&v, r->at, bytes);
	r->at += bytes;
	return v;
}

/* read_leb - the rest of a number with seven bits per byte, lowest first, after its first byte @byte, up to a byte
 * below 0x80. Bits above 64 are lost. @bits: how many there were, up to 70. */
uint64_t read_leb(struct reader *r, uint8_t byte, int *bits);

/* read_uleb - a number of any length (ULEB128). Most have one byte. */
static inline uint64_t read_uleb(struct reader *r)
{
	uint8_t byte = read_byte(r);
	struct reader rest;
	uint64_t v;
	int bits;

	if (byte < 0x80)
		return byte;
	/* A copy: a reader whose address is not taken stays in registers. */
	rest = *r;
	v = read_leb(&rest, byte, &bits);
	*r = rest;
	return v;
}

/* read_sleb - the same, signed (SLEB128). */
int64_t read_sleb(struct reader *r);

/* read_skip - skips @bytes. */
static inline void read_skip(struct reader *r, uint64_t bytes)
{
	if ((uint64_t)(r->end - r->at) < bytes) {
		r->failed = true;
		r->at = r->end;
	} else {
		r->at += bytes;
	}
}

/* read_block - a reader of the block that follows, whose size comes first; skips it. */
static inline struct reader read_block(struct reader *r)
{
	struct reader block = *r;
	uint64_t size = read_uleb(r);

	block.at = r->at;
	read_skip(r, size);
	block.end = r->at;
	return block;
}

/* read_address - address of the next byte. */
static inline uint64_t read_address(const struct reader *r)
{
	return (uintptr_t)r->at + r->shift;
}

/* read_any_pointer - an address in a DW_EH_PE encoding; fails if the encoding is unknown or needs memory. */
uint64_t read_any_pointer(struct reader *r, uint8_t encoding);

/* read_pointer - the same, with shortcuts for the most frequent encodings. */
static inline uint64_t read_pointer(struct reader *r, uint8_t encoding)
{
	uint64_t address = read_address(r), v;
	struct reader rest;

	if (encoding == (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
		return address + (int32_t)read_unsigned(r, 4);
	if (encoding == DW_EH_PE_sdata4)
		return (int32_t)read_unsigned(r, 4);
	rest = *r;
	v = read_any_pointer(&rest, encoding);
	*r = rest;
	return v;
}

#endif
