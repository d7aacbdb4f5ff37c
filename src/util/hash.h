/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_HASH_H
#define SYSTOP_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* hash_init - chooses the key of hash_text() and hash_bytes(); until then, their hashes are the same in every run. */
void hash_init(void);

/* hash_text, hash_bytes - a 64-bit hash for struct map, never 0, that can stand for the text: nobody can construct another text
 * with the same hash, as the key is secret. @seed: 0, or another text's hash. */
uint64_t hash_text(uint64_t seed, const char *text);
uint64_t hash_bytes(uint64_t seed, const void *data, size_t len);

/* hash_keyed - SipHash-2-4: without the key, nobody can guess a text by hashing candidates. */
uint64_t hash_keyed(const uint64_t key[static 2], const void *data, size_t len);

/* hash_add - extends a hash by a value; the order of values matters. Never 0. */
static inline uint64_t hash_add(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

/* Odd, and random in each run. */
extern uint64_t hash_secret;

/* hash_key - where a key belongs in a hash table; different keys have different hashes. Processes choose addresses, and
 * what their files hold: without the secret they cannot choose keys that end up in one place. */
static inline uint64_t hash_key(uint64_t key)
{
	uint64_t h = key * hash_secret;

	h = (h ^ h >> 32) * hash_secret;
	return h ^ h >> 32;
}

/* hash_16 - as hash_key(), of 16 bytes; few of them share a hash. */
static inline uint64_t hash_16(const void *bytes)
{
	uint64_t words[2];

	memcpy(words, bytes, sizeof(words));
	return hash_key(hash_key(words[0]) ^ words[1]);
}

#endif
