/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_SPACE_H
#define SYSTOP_UTIL_SPACE_H

#include <stddef.h>
#include <stdint.h>

/* Free numbers, of which ranges are taken and given back. Initialise with zeroes; space_fini() frees it. */
struct space {
	struct space_range {
		uint32_t first, nr;
	} *ranges; /* free ranges, ascending, never adjacent */
	size_t nr, room;
	uint32_t left; /* free numbers in total */
};

/* space_give - frees @nr numbers from @first on, none of which may be free. 0 or -ENOMEM: they are not freed. */
int space_give(struct space *s, uint32_t first, uint32_t nr);

/* space_take - takes @nr consecutive numbers, the lowest that lie between the same two multiples of @block. Returns the first,
 * or -ENOSPC: there are none, or no memory. */
int64_t space_take(struct space *s, uint32_t nr, uint32_t block);

void space_fini(struct space *s);

#endif
