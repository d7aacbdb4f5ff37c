/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_WAITS_H
#define SYSTOP_COLLECT_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "slot.h"

struct cpu_area;
struct life;
struct model;
struct waits;

/* Memory the BPF programs write, mapped into this process. */
struct waits_memory {
	struct cpu_area *const *areas; /* one a possible CPU; NULL: it was never online */
	const struct cpu_slot *cpus;
	const struct slot *slots;
	int nr_cpus;
	uint32_t max_slots;
};

/* waits_price - ns of a CPU's time for each event that it may tell of, by how many CPUs are online: in all they tell of no
 * more than a fixed number a second, which reading costs 2 % of one CPU at most. */
uint64_t waits_price(int online);

/* waits_life - who has a slot now, NULL: nobody that is known. */
typedef struct life *waits_life(void *arg, uint32_t slot);

/* waits_new - turns the events of wait.h into those of model/wait.h. @mem, @model: borrowed. NULL: no memory. */
struct waits *waits_new(const struct waits_memory *mem, struct model *model, waits_life *life, void *arg);
void waits_free(struct waits *w);

/* waits_drain - reads what the programs wrote since the last call, at least every 250 ms, before the slots of threads
 * that died are used again; for 2.5 ms of CPU time at most, what is left then is lost. 0 or -ENOMEM. */
int waits_drain(struct waits *w);

/*
 * waits_take - what was told of the thread in a slot since the last tick, its last wakings included, for waits_show().
 * @c: a copy of the slot; @over: it is dead, the slot will be another one's. 0 or -ENOMEM. waits_show - hands that to
 * the model, in the tick being built. waits_end - after all threads of a tick: what was not shown is forgotten.
 */
int waits_take(struct waits *w, uint32_t slot, const struct slot *c, bool over, uint32_t *taken);
int waits_show(struct waits *w, uint32_t taken, struct life *life);
void waits_end(struct waits *w);

/* waits_lost - events that were not read, or for which there was no room, since the start. */
uint64_t waits_lost(const struct waits *w);

#endif
