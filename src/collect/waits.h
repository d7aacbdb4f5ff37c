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

/* Memory that the BPF programs write, mapped into this process. */
struct waits_memory {
	struct cpu_area *const *areas; /* one per possible CPU; NULL: it was never online */
	const struct cpu_slot *cpus;
	const struct slot *slots;
	int nr_cpus;
	uint32_t max_slots;
};

/* waits_price - how many ns must pass on a CPU for each event that it reports, by the number of online CPUs: all CPUs
 * together report at most a fixed number per second, which costs at most 2 % of one CPU to read. */
uint64_t waits_price(int online);

/* waits_life - the present thread in a slot, NULL: unknown. */
typedef struct life *waits_life(void *arg, uint32_t slot);

/* waits_new - turns the events of wait.h into those of model/wait.h. @mem, @model: borrowed. NULL: no memory. */
struct waits *waits_new(const struct waits_memory *mem, struct model *model, waits_life *life, void *arg);
void waits_free(struct waits *w);

/* waits_drain - reads what the programs wrote since the last call. Call it before the slots of dead threads are reused. It
 * takes at most 2.5 ms of CPU time; events left then are lost. 0 or -ENOMEM. waits_due - whether that should be done now, as
 * there are many events; ask every 250 ms. */
bool waits_due(const struct waits *w);
int waits_drain(struct waits *w);

/*
 * waits_take - takes the events of the thread in a slot since the last tick, including its last wakings, for
 * waits_show(). @c: a copy of the slot; @over: it is dead, the slot will be reused. 0 or -ENOMEM. waits_show - passes
 * them to the model, in the tick being built. waits_end - after all threads of a tick: discards what was not shown.
 */
int waits_take(struct waits *w, uint32_t slot, const struct slot *c, bool over, uint32_t *taken);
int waits_show(struct waits *w, uint32_t taken, struct life *life);
void waits_end(struct waits *w);

/* waits_lost - events that were not read, or for which there was no room, since the start. */
uint64_t waits_lost(const struct waits *w);

#endif
