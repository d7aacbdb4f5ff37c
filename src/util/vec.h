/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_VEC_H
#define SYSTOP_UTIL_VEC_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * vec_grow - makes room for one more element in a growing array.
 * @items: the array or NULL; @nr, @room: elements used and allocated; @size: of one element
 * Returns the array, possibly moved, or NULL when out of memory (@items stays valid then).
 */
void *vec_grow(void *items, size_t nr, size_t *room, size_t size);

/* VEC_PUSH - appends @value to the array @items of @nr elements. Evaluates to 0 or -ENOMEM. */
#define VEC_PUSH(items, nr, room, value)                                                                      \
	({                                                                                                     \
		void *grown_ = (nr) < (room) ? (items) : vec_grow(items, nr, &(room), sizeof(*(items)));       \
		if (grown_) {                                                                                  \
			(items) = grown_;                                                                      \
			(items)[(nr)++] = (value);                                                             \
		}                                                                                              \
		grown_ ? 0 : -ENOMEM;                                                                          \
	})

/* VEC_SORT - sorts the array @items of @nr elements, NULL if there are none. */
#define VEC_SORT(items, nr, compare)                                        \
	do {                                                                \
		if (nr)                                                     \
			qsort(items, nr, sizeof(*(items)), compare);        \
	} while (0)

/* cmp_int - the order of two numbers for qsort(): negative, 0 or positive. */
#define cmp_int(a, b) (((a) > (b)) - ((a) < (b)))

/* vec_ample - whether an array has much more room than @nr elements need: that of a peak, which should be freed. */
static inline bool vec_ample(size_t room, size_t nr)
{
	return room > 4096 && room / 8 > nr;
}

#endif
