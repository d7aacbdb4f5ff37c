/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/vec.h"

#include <stdlib.h>

void *vec_grow(void *items, size_t nr, size_t *room, size_t size)
{
	size_t want = *room ? *room * 2 : 64;
	void *grown;

	if (nr < *room)
		return items;
	grown = reallocarray(items, want, size);
	if (grown)
		*room = want;
	return grown;
}
