/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_SCENE_H
#define SYSTOP_TESTS_SCENE_H

#include "model/model.h"
#include "model/topology.h"
#include "tui/screen/host.h"

/*
 * A small host that never changes, for tests that draw: three refreshes of a second, with cgroups, a
 * CPU limit, kernel threads, D state, a thread that died, names in wide characters and a hostile one.
 */
#define SCENE_TICKS 3
#define SCENE_THREADS 15
#define SCENE_NOW_NS 1000000000000ULL /* CLOCK_MONOTONIC of its last refresh */

struct scene {
	struct model *model;
	struct life *lives[SCENE_THREADS]; /* NULL: it died */
	const struct tick *ticks[SCENE_TICKS];
	struct life *compiler; /* of the refresh being made; NULL: there is none */
	int made; /* refreshes */
	bool early; /* names of functions are not known yet */
	bool timers_unseen; /* as under Hyper-V */
	struct topology topology;
};

/* scene_make - with 4 CPUs, or @nr_cpus of a large host. scene_make_untimed - where timer interrupts are not seen. scene_next - a refresh after these, like the last one, but
 * for a compiler that lives and dies in it; held for the caller: tick_put() it before scene_free(). */
void scene_make(struct scene *s, int nr_cpus);
void scene_make_untimed(struct scene *s);
const struct tick *scene_next(struct scene *s);
void scene_free(struct scene *s);

/* Parts of that. scene_topology - SMT siblings are neighbours on the small host; the large one has two sockets, and
 * they are far from each other. scene_cpus - what they did in refresh @nr: the first four differ in everything. */
void scene_topology(struct scene *s, int nr_cpus);
void scene_cpus(struct scene *s, int nr);

/* Of one refresh: interrupts; what api-server and api-worker waited for, and who woke them; how long that took. */
void scene_interrupts(struct scene *s, int nr);
void scene_waits(struct scene *s, const struct life *server, const struct life *worker, const struct cgroup *limited);
void scene_compiler(struct scene *s, const struct life *compiler, const struct life *worker);
void scene_latencies(struct scene *s, int nr);

/* scene_check - ends the program if there is no memory. */
void scene_check(int err);

/* What the screen asks of such a host; its arg is to be the scene. */
extern const struct host scene_host;

#endif
