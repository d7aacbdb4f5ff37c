/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/vec.h"

/* Index at which a range from @first on belongs. */
static size_t place_of(const struct space *s, uint32_t first)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->ranges[middle].first < first)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void remove_range(struct space *s, size_t at)
{
	memmove(&s->ranges[at], &s->ranges[at + 1], (--s->nr - at) * sizeof(*s->ranges));
}

static int insert_range(struct space *s, size_t at, struct space_range r)
{
	if (VEC_PUSH(s->ranges, s->nr, s->room, r))
		return -ENOMEM;
	memmove(&s->ranges[at + 1], &s->ranges[at], (s->nr - 1 - at) * sizeof(*s->ranges));
	s->ranges[at] = r;
	return 0;
}

int space_give(struct space *s, uint32_t first, uint32_t nr)
{
	size_t at = place_of(s, first);
	struct space_range *before = at ? &s->ranges[at - 1] : NULL, *after = at < s->nr ? &s->ranges[at] : NULL;

	if (!nr)
		return 0;
	if (after && first + nr != after->first)
		after = NULL;
	if (before && before->first + before->nr == first) {
		before->nr += nr;
		if (after) {
			before->nr += after->nr;
			remove_range(s, at);
		}
	} else if (after) {
		after->first = first;
		after->nr += nr;
	} else if (insert_range(s, at, (struct space_range){ first, nr })) {
		return -ENOMEM;
	}
	s->left += nr;
	return 0;
}

int64_t space_take(struct space *s, uint32_t nr, uint32_t block)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct space_range r = s->ranges[i];
		uint64_t end = (uint64_t)r.first + r.nr, first = r.first;

		if (first / block != (first + nr - 1) / block)
			first = (first / block + 1) * block;
		if (first + nr > end)
			continue;
		if (first > r.first && first + nr < end) {
			if (insert_range(s, i + 1, (struct space_range){ first + nr, end - first - nr }))
				return -ENOSPC;
			s->ranges[i].nr = first - r.first;
		} else if (first > r.first) {
			s->ranges[i].nr = first - r.first;
		} else if (nr == r.nr) {
			remove_range(s, i);
		} else {
			s->ranges[i] = (struct space_range){ first + nr, r.nr - nr };
		}
		s->left -= nr;
		return first;
	}
	return -ENOSPC;
}

void space_fini(struct space *s)
{
	free(s->ranges);
	*s = (struct space){ 0 };
}
