/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/limits.h"

#include <stdlib.h>

#include "model/model.h"
#include "proc/cgroup.h"

struct limits {
	struct model *model;
	struct cgroups *shown, *of; /* the hierarchy with the limits, if it is not the shown one; otherwise NULL */
};

struct limits *limits_new(struct model *model, struct cgroups *cgroups)
{
	struct limits *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->model = model;
	l->shown = cgroups;
	l->of = cgroups_limits(cgroups);
	return l;
}

void limits_free(struct limits *l)
{
	free(l);
}

void limits_first(struct limits *l)
{
	struct cgroups *with = l->of ? l->of : l->shown;
	struct cgroup_limit limit;
	size_t nr;
	struct cgroup *const *list = cgroups_list(with, &nr);

	for (size_t i = 0; i < nr; i++)
		cgroups_limit(with, list[i], &limit);
}

/* Time for reading what cgroups are charged for, per second of the interval: about 50 of them, more in turns. */
#define CHARGE_NS 1000000

/* Reads the cgroups of a hierarchy; if it is not the shown one, only those that a limit applies to. */
static int tick_cgroups(struct limits *l, struct cgroups *of)
{
	size_t nr;
	struct cgroup *const *list = cgroups_list(of, &nr);
	int err = 0;

	for (size_t i = nr; i--;) { /* parents last */
		if (list[i]->throttled)
			cgroups_suspect(of, list[i]);
		list[i]->throttled = false;
		if (list[i]->acted && list[i]->parent)
			list[i]->parent->acted = true;
	}
	for (size_t i = 0; !err && i < nr; i++) {
		struct cgroup_limit limit;
		struct levels levels;

		if (list[i]->aside && !cgroups_below_limit(list[i]))
			continue;
		cgroups_limit(of, list[i], &limit);
		list[i]->acted = false;
		cgroups_charges(list[i], &levels);
		err = model_cgroup(l->model, list[i], &limit, &levels);
	}
	return err;
}

int limits_tick(struct limits *l, uint64_t interval)
{
	uint64_t seconds = interval / 1000000000ULL;
	int err;

	cgroups_charge(l->shown, CHARGE_NS * (seconds ? seconds : 1));
	err = tick_cgroups(l, l->shown);

	return !err && l->of ? tick_cgroups(l, l->of) : err;
}
