/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_READER_H
#define SYSTOP_SYM_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Bytes of a foreign file, of which any may be wrong: read once, from the first to the last. A read
 * behind the end gives 0, goes to the end and is told by @failed, which stays: one look at it is enough
 * after many reads. Numbers are of this machine's byte order: files of others are not read.
 *
 * What is read for each instruction is in this header: out of line it takes several times as long.
 */
struct reader {
	const uint8_t *at, *end;
	const uint8_t *start; /* of the section, */
	uint64_t address;     /* which is there */
	bool failed;
};

/* read_unsigned - a number of 1, 2, 4 or 8 @bytes. */
static inline uint64_t read_unsigned(struct reader *r, int bytes)
{
	uint64_t v = 0;

	if (r->end - r->at < bytes) {
		r->failed = true;
		r->at = r->end;
		return 0;
	}
	memcpy(&v, r->at, bytes);
	r->at += bytes;
	return v;
}

/* read_leb - seven bits a byte, the lowest first, until a byte below 0x80, which is @last; what is above 64
 * bits is lost. @bits: how many were there, up to 70. */
static inline uint64_t read_leb(struct reader *r, uint8_t *last, int *bits)
{
	uint64_t v = 0;

	*bits = 0;
	do {
		*last = read_unsigned(r, 1);
		if (*bits < 64) {
			v |= (uint64_t)(*last & 0x7f) << *bits;
			*bits += 7;
		}
	} while (*last & 0x80);
	return v;
}

/* read_uleb, read_sleb - a number of any length (ULEB128, SLEB128). */
static inline uint64_t read_uleb(struct reader *r)
{
	uint8_t last;
	int bits;

	return read_leb(r, &last, &bits);
}

static inline int64_t read_sleb(struct reader *r)
{
	uint8_t last;
	int bits;
	uint64_t v = read_leb(r, &last, &bits);

	return last & 0x40 && bits < 64 ? v | ~0ULL << bits : v;
}

/* read_skip - over so many bytes. */
static inline void read_skip(struct reader *r, uint64_t bytes)
{
	if ((uint64_t)(r->end - r->at) < bytes) {
		r->failed = true;
		r->at = r->end;
	} else {
		r->at += bytes;
	}
}

/* read_block - so many bytes as a number at the reader says, which goes on behind them. */
struct reader read_block(struct reader *r);

/* read_pointer - an address by its DW_EH_PE encoding; one that is not known, or that needs memory, fails. */
uint64_t read_pointer(struct reader *r, uint8_t encoding);

#endif
