/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_SCREEN_HOST_H
#define SYSTOP_TUI_SCREEN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "query/source.h"

struct health;
struct sample_set;
struct settings;
struct topology;

/* What the screen asks of the rest, as it opens no files itself; texts come fit for a terminal. */
struct host {
	const char *name, *kernel, *version;
	uint64_t wait_ns;  /* of waits so long and longer it is known who ran instead */
	const char *scope; /* what -c, -p, -u and the command say: "all" */
	struct source source; /* of names, and of what was recorded */
	void *arg;           /* of all that follow */
	/* Name of a user, its number if it has none. */
	void (*user_name)(unsigned int uid, char *buf, size_t size);
	/* Its number: 0 or -ENOENT. */
	int (*user_find)(const char *name, unsigned int *uid);
	/* The stacks of threads that sleep are wanted: said again at each tick that they are for. */
	void (*want_sleepers)(void *arg);
	/* Samples a second on each CPU, now; sets them, if @hz is not 0. */
	int (*frequency)(void *arg, int hz);
	/* How CPUs are put together (model/topology.h); good until asked again. The clock of one now, in Hz;
	 * VALUE_NA: not known. */
	const struct topology *(*topology)(void *arg);
	uint64_t (*cpu_hz)(void *arg, int cpu);
	/* CPUs a thread may run on: "0-3,7", "-" if it is gone. */
	void (*affinity)(pid_t tid, char *buf, size_t size);
	/* The state of everything (model/health.h); freed by health_fini(). */
	void (*health)(void *arg, struct health *h);
	/* Begins to write the config file; what comes of it is told later. */
	void (*write_config)(void *arg, const struct settings *s, char *said, size_t size);
	/* No helpers can be started: the health page says why. */
	bool (*without_starter)(void *arg);
	/* Saves what the recorder holds of @from to @until, CLOCK_BOOTTIME ns, 0 and 0: all; what it does is told
	 * later. Cancels that: false: nothing is saved. */
	void (*save)(void *arg, uint64_t from, uint64_t until, char *said, size_t size);
	/* Saves some samples, which are gone over at once, in a file of its own in the folder that save() uses. */
	void (*save_samples)(void *arg, const struct sample_set *set, char *said, size_t size);
	bool (*save_cancel)(void *arg, char *said, size_t size);
};

#endif
