/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/belongs.h"

#include <stddef.h>

#include "owner/containers.h"
#include "proc/cgroup.h"

static uint64_t changes(const struct cgroups *c)
{
	return cgroups_changes(c) + (cgroups_limits(c) ? cgroups_changes(cgroups_limits(c)) : 0);
}

static void update(struct containers *c, struct cgroups *cgroups)
{
	size_t nr;
	struct cgroup *const *list = cgroups_list(cgroups, &nr);

	containers_update(c, list, nr);
}

void belongs_update(struct belongs *b, struct containers *c, struct cgroups *cgroups)
{
	uint64_t generation = containers_generation(c); /* names that arrive meanwhile are given the next time */

	if (b->changes == changes(cgroups) && b->generation == generation)
		return;
	b->changes = changes(cgroups);
	b->generation = generation;
	update(c, cgroups);
	if (cgroups_limits(cgroups))
		update(c, cgroups_limits(cgroups));
}
