/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_SCENE_H
#define SYSTOP_TESTS_SCENE_H

#include "model/model.h"
#include "model/topology.h"
#include "tui/screen/host.h"

/*
 * A small fixed host for tests that draw: three refreshes of a second, with cgroups, a CPU limit, kernel threads, D
 * state, a thread that died, names in wide characters and a hostile one.
 */
#define SCENE_TICKS 3
#define SCENE_THREADS 15
#define SCENE_NOW_NS 1000000000000ULL /* CLOCK_MONOTONIC of its last refresh */

struct scene {
	struct model *model;
	struct life *lives[SCENE_THREADS]; /* NULL: it died */
	const struct tick *ticks[SCENE_TICKS];
	struct life *compiler; /* of the refresh being built; NULL: none */
	int made; /* number of refreshes */
	bool early; /* names of functions are not known yet */
	bool timers_unseen; /* as under Hyper-V */
	struct topology topology;
};

/* scene_make - with 4 CPUs, or @nr_cpus for a large host.
 * scene_make_untimed - timer interrupts are not seen.
 * scene_next - adds a refresh, like the last one except for a compiler that lives and dies in it; held for the
 * caller: tick_put() it before scene_free(). */
void scene_make(struct scene *s, int nr_cpus);
void scene_make_untimed(struct scene *s);
const struct tick *scene_next(struct scene *s);
void scene_free(struct scene *s);

/* Parts of that.
 * scene_topology - on the small host SMT siblings are neighbours; the large one has two sockets, and siblings far
 * apart.
 * scene_cpus - CPU values of refresh @nr: the first four CPUs differ in everything. */
void scene_topology(struct scene *s, int nr_cpus);
void scene_cpus(struct scene *s, int nr);

/* Of one refresh: interrupts; the waits of api-server and api-worker with their wakers; their durations. */
void scene_interrupts(struct scene *s, int nr);
void scene_waits(struct scene *s, const struct life *server, const struct life *worker, const struct cgroup *limited);
void scene_compiler(struct scene *s, const struct life *compiler, const struct life *worker);
void scene_latencies(struct scene *s, int nr);

/* scene_check - ends the program on an error (out of memory). */
void scene_check(int err);

/* The screen's host functions for this scene; arg is the scene. */
extern const struct host scene_host;

/* scene_cmdline - gives a process its command line, if it has one. */
struct model;
struct process;
void scene_cmdline(struct model *m, struct process *p);

#endif
