/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/hash.h"

#include <sys/random.h>

uint64_t hash_secret = 0x9e3779b97f4a7c15ULL;

/* Before main(), as a changed secret loses what is in the tables. */
__attribute__((constructor)) static void draw_secret(void)
{
	getrandom(&hash_secret, sizeof(hash_secret), GRND_INSECURE); /* does not wait, even early at boot */
	hash_secret |= 1;
}

uint64_t hash_text(uint64_t seed, const char *text)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ seed;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
	return h ? h : 1;
}
