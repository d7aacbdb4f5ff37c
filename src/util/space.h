/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_SPACE_H
#define SYSTOP_UTIL_SPACE_H

#include <stddef.h>
#include <stdint.h>

/* Numbers that are free, of which ranges are taken and given back. Initialise with zeroes; space_fini() frees it. */
struct space {
	struct space_range {
		uint32_t first, nr;
	} *ranges; /* free ones, ascending, with something between any two */
	size_t nr, room;
	uint32_t left; /* how many numbers are free */
};

/* space_give - @nr numbers from @first on are free; none of them was. 0 or -ENOMEM: they are not. */
int space_give(struct space *s, uint32_t first, uint32_t nr);

/* space_take - @nr numbers on end, the lowest there are, that are between the same two multiples of @block: the first.
 * -ENOSPC: there are none. */
int64_t space_take(struct space *s, uint32_t nr, uint32_t block);

void space_fini(struct space *s);

#endif
