/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SLOTS_H
#define SYSTOP_COLLECT_SLOTS_H

#include <stdint.h>

#include "slot.h"

struct cgroups;
struct collector_set;
struct life;
struct model;
struct slots;

/* Memory the BPF programs write, mapped into this process. */
struct slots_memory {
	struct slot *slots;
	const struct cpu_slot *cpus; /* one a possible CPU */
	int nr_cpus;
	uint32_t max;           /* entries of slots and dead */
	uint64_t *dead;         /* ring of dead slots */
	const uint64_t *limit_cgroups; /* by slot, where limits are of another hierarchy: cgroup there */
	struct shared *shared;
	int free_fd;            /* queue of free slots */
};

/* slots_new - reads the thread slots of @mem into @model. All are borrowed for the reader's life.
 * @with: the collectors whose hooks are called for each thread; they may open later
 * Returns NULL when out of memory. */
struct slots *slots_new(const struct slots_memory *mem, struct model *model, struct cgroups *cgroups,
			const struct collector_set *with);
void slots_free(struct slots *s);

/* slots_baseline - what the slots hold at @now (accounting clock) belongs to the time before. */
int slots_baseline(struct slots *s, uint64_t now);

/*
 * slots_harvest - takes the final values of threads that died and gives their slots back. Called
 * every 250 ms whatever the refresh is, so that slots are not used up between two ticks.
 * Returns 0 or -errno.
 */
int slots_harvest(struct slots *s);

/*
 * slots_tick - hands what every thread did since the last tick up to @now to the model, exited
 * threads first. Cost: a memory scan, about 20 ns a sleeping thread.
 * Returns 0 or -errno.
 */
int slots_tick(struct slots *s, uint64_t now);

/*
 * slots_moved - the thread of slot @index is in other cgroups, or in or out of scope, since @at (accounting clock): the
 * next tick has a row more for it, with what it did until then, where it was. @was: the slot as it was when that was found
 * out; @at 0: at its last switch, which found it. 0 or -errno.
 * slots_ask_moved - calls @fn for whatever there is to be told so, when a slot is found to have changed; NULL: does not.
 */
int slots_moved(struct slots *s, uint32_t index, const struct slot *was, uint64_t at);
typedef int slots_moved_fn(void *arg);
void slots_ask_moved(struct slots *s, slots_moved_fn *fn, void *arg);

/* slots_life - the life of the thread in a slot, for ring events that can precede its first scan; NULL: unknown.
 * slots_shown_life - the same if it is in scope, else NULL. */
struct life *slots_life(struct slots *s, uint32_t index);
struct life *slots_shown_life(const struct slots *s, uint32_t index);

/* slots_queued - at the last tick, for each CPU: threads that wait for one and were last on that; slots_running - the
 * slot of the thread that ran there, 0: none. Good for the slots' life. */
const uint32_t *slots_queued(const struct slots *s);
const uint32_t *slots_running(const struct slots *s);

/* slots_loss - adds what was lost here since the start, by cause. */
void slots_loss(const struct slots *s, uint64_t loss[LOSS_COUNT]);

#endif
