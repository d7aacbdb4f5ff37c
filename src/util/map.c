/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/map.h"

#include <errno.h>
#include <stdlib.h>

#include "util/hash.h"

/* Open addressing with linear probing, at most half full. */
static size_t map_slot(const struct map *m, uint64_t key)
{
	/* The lower bits: with the upper ones, inserting another map's entries in the order of its slots would fill a small map
	 * from one end. */
	return hash_key(key) & (m->room - 1);
}

static struct map_entry *map_find(const struct map *m, uint64_t key)
{
	size_t i = map_slot(m, key);

	while (m->entries[i].key && m->entries[i].key != key)
		i = (i + 1) & (m->room - 1);
	return &m->entries[i];
}

void *map_get(const struct map *m, uint64_t key)
{
	return m->room ? map_find(m, key)->value : NULL;
}

static int map_grow(struct map *m)
{
	struct map grown = { .room = m->room ? m->room * 2 : 64, .nr = m->nr };

	grown.entries = calloc(grown.room, sizeof(*grown.entries));
	if (!grown.entries)
		return -ENOMEM;
	for (size_t i = 0; i < m->room; i++)
		if (m->entries[i].key)
			*map_find(&grown, m->entries[i].key) = m->entries[i];
	free(m->entries);
	*m = grown;
	return 0;
}

int map_put(struct map *m, uint64_t key, void *value)
{
	struct map_entry *e;

	if (2 * (m->nr + 1) > m->room && map_grow(m))
		return -ENOMEM;
	e = map_find(m, key);
	if (!e->key)
		m->nr++;
	e->key = key;
	e->value = value;
	return 0;
}

void map_del(struct map *m, uint64_t key)
{
	struct map_entry *e;
	size_t hole, i;

	if (!m->room)
		return;
	e = map_find(m, key);
	if (!e->key)
		return;
	m->nr--;
	/* Moves later entries that belong before the hole into it, so that no search stops there. */
	hole = e - m->entries;
	for (i = (hole + 1) & (m->room - 1); m->entries[i].key; i = (i + 1) & (m->room - 1)) {
		size_t home = map_slot(m, m->entries[i].key);

		if (((i - home) & (m->room - 1)) >= ((i - hole) & (m->room - 1))) {
			m->entries[hole] = m->entries[i];
			hole = i;
		}
	}
	m->entries[hole] = (struct map_entry){ 0 };
}

void map_fini(struct map *m)
{
	free(m->entries);
	*m = (struct map){ 0 };
}

void map_free(struct map *m)
{
	for (size_t i = 0; i < m->room; i++)
		free(m->entries[i].value);
	map_fini(m);
}
