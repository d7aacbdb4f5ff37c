/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_SCREEN_HOST_H
#define SYSTOP_TUI_SCREEN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "query/source.h"

struct cgroup;
struct health;
struct memory_facts;
struct sample_set;
struct settings;
struct topology;

/* What the screen needs from other parts, as it opens no files itself; texts are fit for a terminal. */
struct host {
	const char *name, *kernel, *version;
	uint64_t wait_ns;  /* shortest wait for which systop records what ran instead */
	const char *scope; /* from -c, -p, -t, -u and the command: "all" */
	struct source source; /* of names and recorded events */
	void *arg;           /* passed to all functions below */
	/* Name of a user, or its number if it has none. */
	void (*user_name)(unsigned int uid, char *buf, size_t size);
	/* Finds the number of a user. 0 or -ENOENT. */
	int (*user_find)(const char *name, unsigned int *uid);
	/* Requests the stacks of sleeping threads: repeated at each tick that needs them. */
	void (*want_sleepers)(void *arg);
	/* want_memory - the next tick reads the memory of these processes, and no longer that of those requested before.
	 * want_commands - requests their command lines, unless they were just read. */
	void (*want_memory)(void *arg, const pid_t *tgids, size_t nr);
	void (*want_commands)(void *arg, const pid_t *tgids, size_t nr);
	/* While @frozen, command lines that are known and shown do not change. */
	void (*freeze_commands)(void *arg, bool frozen);
	/* Facts about the memory of a process, or, with @tgid 0, of a cgroup (model/memory_facts.h); requests them of a
	 * helper. NULL: not known yet. */
	const struct memory_facts *(*memory_facts)(void *arg, pid_t tgid, const struct cgroup *cgroup);
	/* The package with the debug information of a frame's file; "": there is none, or it is not known yet. */
	const char *(*package)(void *arg, uint64_t frame);
	/* Requested number of samples per second on each CPU; sets it first if @hz is not 0. samples - their number now: fewer
	 * if some are left out for --max-cpu. */
	int (*frequency)(void *arg, int hz);
	int (*samples)(void *arg);
	/* The layout of CPUs (model/topology.h); valid until the next call. The present clock of one CPU, in Hz;
	 * VALUE_NA: not known. */
	const struct topology *(*topology)(void *arg);
	uint64_t (*cpu_hz)(void *arg, int cpu);
	/* CPUs that a thread may run on: "0-3,7", "-" if the thread is gone. */
	void (*affinity)(pid_t tid, char *buf, size_t size);
	/* A thread's present policy and priority, as in struct life; false: it is gone. */
	bool (*scheduling)(pid_t tid, int *policy, int *priority);
	/* The state of all parts (model/health.h); the caller frees it with health_fini(). */
	void (*health)(void *arg, struct health *h);
	/* Starts to write the config file; a later notice reports the result. */
	void (*write_config)(void *arg, const struct settings *s, char *said, size_t size);
	/* Whether helpers cannot be started: the health page gives the reason. */
	bool (*without_starter)(void *arg);
	/* Starts to save the recorder's events from @from to @until, CLOCK_BOOTTIME ns; 0 and 0: all. A later notice
	 * reports the result. */
	void (*save)(void *arg, uint64_t from, uint64_t until, char *said, size_t size);
	/* Saves some samples, which it reads at once, in a new file in the folder of save(). */
	void (*save_samples)(void *arg, const struct sample_set *set, char *said, size_t size);
	/* Cancels save() or save_samples(); false: no save is in progress. */
	bool (*save_cancel)(void *arg, char *said, size_t size);
};

#endif
