/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/cpulist.h"

#include <ctype.h>
#include <stdlib.h>

bool cpulist_next(const char **at, int *first, int *last)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*first = *last = strtol(*at, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*last = strtol(end + 1, &end, 10);
	*at = end + (*end == ',');
	return true;
}
