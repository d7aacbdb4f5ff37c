/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SLOTS_H
#define SYSTOP_COLLECT_SLOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "slot.h"

struct cgroups;
struct collector_set;
struct life;
struct model;
struct slots;
struct usages;

/* Memory that the BPF programs write, mapped into this process. */
struct slots_memory {
	struct slot *slots;
	const struct cpu_slot *cpus; /* one per possible CPU */
	int nr_cpus;
	uint32_t max;           /* number of entries of slots and dead */
	uint64_t *dead;         /* ring of dead slots */
	const uint64_t *limit_cgroups; /* by slot, if limits are in another hierarchy: cgroup there */
	struct shared *shared;
	int free_fd;            /* queue of free slots */
};

/* slots_new - reads the thread slots of @mem into @model. All pointers are borrowed for the reader's life.
 * @with: the collectors whose hooks are called for each thread; they may open later
 * Returns NULL when out of memory. */
struct slots *slots_new(const struct slots_memory *mem, struct model *model, struct cgroups *cgroups,
			const struct collector_set *with);
void slots_free(struct slots *s);

/* slots_any - whether a thread in scope lives now. */
bool slots_any(const struct slots *s);

/* slots_usage - where to read what threads used; borrowed. Without it, that is unknown. */
void slots_usage(struct slots *s, struct usages *usages);

/* slots_baseline - excludes the contents of the slots at @now (accounting clock) from later ticks. 0 or -errno. */
int slots_baseline(struct slots *s, uint64_t now);

/*
 * slots_harvest - reads the final values of threads that died and frees their slots. Returns 0; 1 if there are more at
 * @deadline (CLOCK_MONOTONIC ns, 0: none), which wait for the next call; or -errno. slots_due - whether that should be done
 * now; ask every 250 ms regardless of the refresh, so that slots do not run out between two ticks.
 */
bool slots_due(const struct slots *s);
int slots_harvest(struct slots *s, uint64_t deadline);

/* slots_crowded - whether so many threads died since the last tick that the next one would take long.
 * slots_show_early - then passes those that were harvested to the model before that tick. Returns 0; 1 if there are more at
 * @deadline (CLOCK_MONOTONIC ns); or -errno. */
bool slots_crowded(const struct slots *s);
int slots_show_early(struct slots *s, uint64_t deadline);

/*
 * slots_capture - reads what every thread did up to @now; call it at that instant: the later a slot is read, the less exact
 * are its thread's times. Cost: a memory scan, a few ns per sleeping thread. slots_tick - passes it to the model, exited
 * threads first; calls slots_capture() unless that was done for @now. 0 or -errno.
 */
int slots_capture(struct slots *s, uint64_t now);
int slots_tick(struct slots *s, uint64_t now);

/*
 * slots_moved - the thread of slot @index changed its cgroups, or entered or left the scope, at @at (accounting clock):
 * the next tick has another row for it, with its activity until then, in the previous place. @was: the slot as it was
 * when the move was found; @at 0: at its last switch, which found it. 0 or -errno.
 * slots_ask_moved - calls @fn to collect pending moves when a slot is found to have changed; NULL: no calls.
 */
int slots_moved(struct slots *s, uint32_t index, const struct slot *was, uint64_t at);
typedef int slots_moved_fn(void *arg);
void slots_ask_moved(struct slots *s, slots_moved_fn *fn, void *arg);

/* slots_life - the life of the thread in a slot, for ring events that can precede its first scan; NULL: unknown.
 * slots_shown_life - the same if it is in scope, otherwise NULL. @slots: a struct slots, untyped as collectors do not know it. */
struct life *slots_life(void *slots, uint32_t index);
struct life *slots_shown_life(void *slots, uint32_t index);

/* slots_queued - per CPU, at the last tick: waiting threads that last ran there; slots_running - the slot of the thread
 * that ran there, 0: none. Valid for the life of slots. */
const uint32_t *slots_queued(const struct slots *s);
const uint32_t *slots_running(const struct slots *s);

/* slots_want_memory - the memory of these processes is shown now: the next tick reads it, even if none of their threads runs. */
void slots_want_memory(struct slots *s, const pid_t *tgids, size_t nr);

/* slots_loss - adds the losses here since the start, by cause. */
void slots_loss(const struct slots *s, uint64_t loss[LOSS_COUNT]);

#endif
