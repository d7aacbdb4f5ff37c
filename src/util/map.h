/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_MAP_H
#define SYSTOP_UTIL_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Hash map from non-zero 64-bit keys to pointers. Initialise with zeroes. */
struct map {
	struct map_entry {
		uint64_t key; /* 0: empty */
		void *value;
	} *entries;
	size_t room; /* a power of two, or 0 */
	size_t nr;
};

/* map_get - the value of @key, NULL if there is none. */
void *map_get(const struct map *m, uint64_t key);

/* map_put - sets the value of @key. Returns 0 or -ENOMEM. */
int map_put(struct map *m, uint64_t key, void *value);

/* map_del - removes @key if it exists. */
void map_del(struct map *m, uint64_t key);

/* map_fini - frees the map's memory; the map is empty then, and can be used again. map_free - the same, and frees all values
 * with free(). */
void map_fini(struct map *m);
void map_free(struct map *m);

/* MAP_EACH - sets @v to each value that is not NULL. The loop must not add or remove any. */
#define MAP_EACH(m, v)                                    \
	for (size_t i_ = 0; i_ < (m)->room; i_++)         \
		if (((v) = (m)->entries[i_].value))

#endif
