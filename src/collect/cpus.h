/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_CPUS_H
#define SYSTOP_COLLECT_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "slot.h"

struct cpus;
struct model;

/* What cpus_new() reads; all is borrowed. */
struct cpus_memory {
	struct cpu_slot *slots;       /* mapped, one a possible CPU */
	int nr;
	const struct shared *shared;
	const struct slot *threads;   /* mapped */
	uint32_t max_threads;
	const uint32_t *queued;       /* slots_queued(); NULL: none wait */
	const uint32_t *running;      /* slots_running(); NULL: none do */
	bool ticks;                   /* as cpus_timers() */
};

/* cpus_new - NULL: out of memory. */
struct cpus *cpus_new(const struct cpus_memory *mem);
void cpus_free(struct cpus *c);

/* cpus_tick - hands every CPU's running, idle and stolen time since the last tick to the model, up to its last switch for
 * one that went offline; CPUs that were offline all the time are left out. @model: NULL to set the baseline only.
 * 0 or -errno. */
int cpus_tick(struct cpus *c, struct model *model, uint64_t now);

/* cpus_timers - whether programs see that CPUs' timers come; else how long one did not is not known. */
void cpus_timers(struct cpus *c, bool seen);

/* cpus_busy_ns - running time of all CPUs whose timer comes while they are busy, since the start. */
uint64_t cpus_busy_ns(const struct cpus *c);

/* cpus_loss - adds what the programs counted as lost since the start. */
void cpus_loss(const struct cpus *c, uint64_t loss[LOSS_COUNT]);

/* cpus_bpf_ns - estimated run time of the BPF programs since the start. */
uint64_t cpus_bpf_ns(const struct cpus *c);

#endif
