/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/hash.h"

#include <stdbool.h>
#include <sys/random.h>

uint64_t hash_secret = 0x9e3779b97f4a7c15ULL;
static uint64_t text_key[2];

/* GRND_INSECURE: does not wait, even early at boot. */
static void draw(void *to, size_t size)
{
	getrandom(to, size, GRND_INSECURE);
}

/* Runs before main(): entries of a table cannot be found any more once the secret changes. */
__attribute__((constructor)) static void draw_secret(void)
{
	draw(&hash_secret, sizeof(hash_secret));
	hash_secret |= 1;
}

void hash_init(void)
{
	draw(text_key, sizeof(text_key));
}

static uint64_t turn(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void mix(uint64_t v[4], int rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[1] = turn(v[1], 13) ^ v[0];
		v[0] = turn(v[0], 32);
		v[2] += v[3];
		v[3] = turn(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = turn(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = turn(v[1], 17) ^ v[2];
		v[2] = turn(v[2], 32);
	}
}

uint64_t hash_keyed(const uint64_t key[static 2], const void *data, size_t len)
{
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL, key[0] ^ 0x6c7967656e657261ULL,
			  key[1] ^ 0x7465646279746573ULL };
	const uint8_t *bytes = data;
	size_t at = 0;
	bool last;

	do {
		uint64_t word = 0;

		for (size_t i = 0; i < 8 && at + i < len; i++)
			word |= (uint64_t)bytes[at + i] << 8 * i;
		last = at + 8 > len;
		if (last)
			word |= (uint64_t)len << 56;
		v[3] ^= word;
		mix(v, 2);
		v[0] ^= word;
		at += 8;
	} while (!last);
	v[2] ^= 0xff;
	mix(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hash_bytes(uint64_t seed, const void *data, size_t len)
{
	uint64_t h = hash_keyed((uint64_t[]){ text_key[0] ^ seed, text_key[1] }, data, len);

	return h ? h : 1;
}

uint64_t hash_text(uint64_t seed, const char *text)
{
	return hash_bytes(seed, text, strlen(text));
}
