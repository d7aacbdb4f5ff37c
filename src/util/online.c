/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/online.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"

struct online {
	int nr_cpus, count;
	char list[4096]; /* the kernel's list at the last reading */
	bool cpus[];
};

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

bool online_follow(struct online *o)
{
	char list[sizeof(o->list)];
	const char *at = list;
	int first, last;

	file_line(list, sizeof(list), ONLINE_FILES "online");
	if (!*list || !strcmp(list, o->list))
		return false;
	memcpy(o->list, list, sizeof(list));
	memset(o->cpus, 0, o->nr_cpus * sizeof(*o->cpus));
	o->count = 0;
	while (cpulist_next(&at, &first, &last))
		for (int cpu = first; cpu <= last && cpu < o->nr_cpus; cpu++) {
			o->count += !o->cpus[cpu];
			o->cpus[cpu] = true;
		}
	return true;
}

struct online *online_new(int nr_cpus)
{
	struct online *o = calloc(1, sizeof(*o) + nr_cpus * sizeof(*o->cpus));

	if (!o)
		return NULL;
	o->nr_cpus = o->count = nr_cpus;
	memset(o->cpus, true, nr_cpus);
	online_follow(o);
	return o;
}

void online_free(struct online *o)
{
	free(o);
}

bool online_is(const struct online *o, int cpu)
{
	return cpu >= 0 && cpu < o->nr_cpus && o->cpus[cpu];
}

int online_count(const struct online *o)
{
	return o->count;
}

int online_possible(const struct online *o)
{
	return o->nr_cpus;
}
