/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/hash.h"

uint64_t hash_text(uint64_t seed, const char *text)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ seed;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
	return h ? h : 1;
}
