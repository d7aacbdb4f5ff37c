/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_SCENE_H
#define SYSTOP_TESTS_SCENE_H

#include "model/model.h"
#include "tui/host.h"

/*
 * A small host that never changes, for tests that draw: three refreshes of a second, with cgroups, a
 * CPU limit, kernel threads, D state, a thread that died, names in wide characters and a hostile one.
 */
#define SCENE_TICKS 3
#define SCENE_NOW_NS 1000000000000ULL /* CLOCK_MONOTONIC of its last refresh */

struct scene {
	struct model *model;
	const struct tick *ticks[SCENE_TICKS];
};

void scene_make(struct scene *s);
void scene_free(struct scene *s);

/* What the screen asks of such a host. */
extern const struct host scene_host;

#endif
