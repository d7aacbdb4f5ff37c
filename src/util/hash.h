/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_HASH_H
#define SYSTOP_UTIL_HASH_H

#include <stdint.h>
#include <string.h>

/* hash_text - a 64-bit hash of a text for struct map, never 0 (FNV-1a). @seed: 0, or another text's hash. */
uint64_t hash_text(uint64_t seed, const char *text);

/* hash_add - extends a hash by a value, in this order; never 0. */
static inline uint64_t hash_add(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

/* hash_16 - a 64-bit hash of 16 bytes. */
static inline uint64_t hash_16(const void *bytes)
{
	uint64_t words[2], h;

	memcpy(words, bytes, sizeof(words));
	h = (words[0] ^ words[1] * 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
	return h ^ h >> 31;
}

#endif
