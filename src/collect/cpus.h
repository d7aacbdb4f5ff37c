/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_CPUS_H
#define SYSTOP_COLLECT_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "slot.h"

struct cpus;
struct model;

/* Memory that cpus_new() reads; all of it is borrowed. */
struct cpus_memory {
	struct cpu_slot *slots;       /* mapped, one per possible CPU */
	int nr;
	const struct shared *shared;
	const struct slot *threads;   /* mapped */
	uint32_t max_threads;
	const uint32_t *queued;       /* slots_queued(); NULL: no thread waits */
	const uint32_t *running;      /* slots_running(); NULL: no thread runs */
	bool ticks;                   /* see cpus_timers() */
};

/* cpus_new - NULL: out of memory. */
struct cpus *cpus_new(const struct cpus_memory *mem);
void cpus_free(struct cpus *c);

/* cpus_tick - passes the running, idle and stolen time of every CPU since the last tick to the model; for one that went
 * offline, up to its last switch. CPUs that were offline all the time are left out. @model: NULL only sets the
 * baseline. 0 or -errno. */
int cpus_tick(struct cpus *c, struct model *model, uint64_t now);

/* cpus_capture - reads what every CPU did so far, for the next cpus_tick(), which otherwise reads it itself: call it at the
 * instant @now of that. */
void cpus_capture(struct cpus *c);

/* cpus_timers - whether programs see timer interrupts of CPUs; otherwise gaps between them are unknown. */
void cpus_timers(struct cpus *c, bool seen);

/* cpus_busy_ns - running time since the start, of all CPUs whose timer ticks while they are busy. */
uint64_t cpus_busy_ns(const struct cpus *c);

/* cpus_loss - adds the losses that the programs counted since the start. */
void cpus_loss(const struct cpus *c, uint64_t loss[LOSS_COUNT]);

/* cpus_bpf_ns - estimated run time of the BPF programs since the start. */
uint64_t cpus_bpf_ns(const struct cpus *c);

#endif
