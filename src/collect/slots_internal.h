/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SLOTS_INTERNAL_H
#define SYSTOP_COLLECT_SLOTS_INTERNAL_H

/* Shared by the files that read slots: slots.c (live threads), slots_ended.c (threads that died or were moved),
 * slots_life.c (their identity). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/collector.h"
#include "collect/slot_values.h"
#include "collect/slots.h"

/* Maximum number of slots that a tick finds being written. */
#define AGAIN_MAX 64

/* Processes on the screen, at most. */
#define MEMORY_WANTED 512

/* A thread that died since the last tick, or the activity of one before a move to another cgroup. */
struct exited {
	struct life *life;
	struct values values;
	enum thread_state state; /* STATE_DEAD, or its state at the move */
	bool in_scope;
	uint32_t slot;
	uint64_t from, until, runq_ns; /* for its stacks */
	uint32_t taken;         /* see slots_take() */
};

/* Maximum number of slots of which slots_capture() keeps a copy, as it has to be quick and to take little memory. If more
 * threads did something, the others are read when they are shown, and so less exactly. */
#define CAPTURES_MAX 4096

/* A slot at the instant at which a tick ends. */
struct capture {
	bool read; /* it was not being written */
	struct slot copy;
	struct taken taken;
};

/* In slots.active: the thread did nothing, see slots_quiet(). */
#define ACTIVE_QUIET (1U << 31)

struct slots {
	struct slots_memory mem;
	struct model *model;
	struct cgroups *cgroups, *limits; /* of cgroups_limits() */
	const struct collector_set *with;
	struct usages *usages;  /* NULL: what threads use is unknown */
	bool io_known;          /* the kernel counts what threads read and write */
	pid_t memory_wanted[MEMORY_WANTED]; /* processes whose memory is shown */
	uint32_t nr_memory_wanted;
	uint32_t memory_at;     /* slot whose process' memory was read last in turn */
	uint32_t *queued;       /* by CPU: waiting threads that last ran there, */
	uint32_t *running;      /* and the slot of the thread on the CPU */
	struct reader *readers; /* one per slot; pages of unused ones are never touched */
	struct resting_slot *resting;
	struct shown *shown;
	uint64_t captured_at;   /* time of the last slots_capture() */
	uint32_t *active;       /* slots to be shown; those without ACTIVE_QUIET have a capture each, in this order, */
	uint32_t nr_active;
	struct capture *captures; /* up to CAPTURES_MAX */
	uint32_t nr_captures;
	uint32_t dead_tail, stuck_at; /* ring of dead slots: the next entry, and the one where a tick got stuck */
	uint64_t stuck_since;
	struct exited *exited;
	size_t nr_exited, exited_room;
	size_t nr_exited_shown;    /* of these, in the tick being built */
	uint32_t again[AGAIN_MAX]; /* slots that were being written */
	int nr_again;
	bool baseline;             /* first readings, for comparison with later ones: nothing is shown */
	bool last_time;            /* what is still being written is lost for this tick */
	uint64_t loss[LOSS_COUNT];
	uint64_t since;            /* end of the last tick */
	uint64_t until;            /* end of the tick that is being made, otherwise UINT64_MAX */
	slots_moved_fn *ask_moved;
	void *moved_arg;
};

/* Prefetch distance, in slots. */
#define PREFETCH 16

/* slots_rests - nothing happened to a thread that rests. slots_quiet - the same for one that was asleep or stopped at
 * the last tick, but which that tick may have shown as active. */
static inline bool slots_rests(const struct slot *slot, const struct resting_slot *r)
{
	return r->seq && __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE) + 1 == r->seq && slot->wakeups == r->wakeups;
}

static inline bool slots_quiet(const struct slot *slot, const struct reader *r)
{
	return r->idle && !r->ran && __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE) == r->seq &&
	       slot->wakeups == r->wakeups;
}

/* slots_stir - the thread of slot @index does not rest any more: its time was shown up to the last tick. */
static inline void slots_stir(struct slots *s, uint32_t index)
{
	struct reader *r = &s->readers[index];

	if (s->resting[index].seq && s->since > r->end)
		r->end = s->since;
	s->resting[index].seq = 0;
}

/* Threads of a stretch of slots that are not quiet, and what they used, read before the slots are. */
struct stretch {
	const struct usage *asked;   /* NULL: unknown */
	uint32_t slots[USAGE_BATCH];
	uint32_t seqs[USAGE_BATCH];  /* of the slots, before what they used was read */
	uint32_t nr;
	uint32_t first_capture;      /* of the first one; the others follow */
};

/* slots_captured - capture number @nr, which is of @slot; NULL: there is none of the thread that has the slot now. */
const struct capture *slots_captured(const struct slots *s, uint32_t nr, const struct slot *slot);

/* stretch_add - adds a slot; there is room for USAGE_BATCH. */
static inline void stretch_add(struct stretch *to, const struct slot *slot, uint32_t index)
{
	to->slots[to->nr] = index;
	to->seqs[to->nr++] = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);
}

/* What is known without slots_usage(). */
extern const struct usage_io unknown_io;

/* slots_stretch - reads what the threads of @to used. slots_show_usage - adds to @v what the thread at place @at of @from read and
 * wrote, and passes its process's memory to the model. If the thread ran since these were read, they are read again in the next
 * tick, even if the thread sleeps until then. slots_memory - reads the memory of processes none of whose threads ran. */
void slots_stretch(struct slots *s, struct stretch *to);
void slots_show_usage(struct slots *s, const struct stretch *from, uint32_t at, const struct slot *copy, uint64_t now,
		      struct values *v);
void slots_memory(struct slots *s, uint64_t now);

/* slots_identify - gives the reader of slot @index a life with the slot's identity. 0 or -ENOMEM. slots_elsewhere -
 * whether the thread was moved since its life was last updated: the record of the move may not be read yet. */
int slots_identify(struct slots *s, uint32_t index, const struct slot *c);
bool slots_elsewhere(const struct slots *s, uint32_t index, const struct slot *c);

/* slots_cpu_ns - its time on a CPU since it began, as of @at: the kernel's sum was read when it last left the CPU. What
 * interrupts and the hypervisor took since then is not in it. */
uint64_t slots_cpu_ns(const struct slots *s, uint32_t index, const struct slot *c, uint64_t at);

/* slots_after - from when on events of a slot belong to a thread, or part of one, that is shown from @from on; 0: all do. Earlier
 * ones in this interval are of the slot's last thread, or of the part before a move. */
static inline uint64_t slots_after(const struct slots *s, uint64_t from)
{
	return from > s->since ? from : 0;
}

/* slots_taken - the time taken so far from the running thread in a slot. */
struct taken slots_taken(const struct slots *s, uint32_t index, const struct slot *c);

/* slots_take, slots_gone, slots_drain - call thread_take(), thread_gone(), drain() of all collectors. 0 or -errno. */
int slots_take(struct slots *s, uint32_t index, const struct slot *c, bool over, uint32_t *taken);
void slots_gone(struct slots *s, uint32_t index, struct life *life);
int slots_drain(struct slots *s);
/* slots_met, slots_shown - call thread_met() before and thread_shown() after the model gets the thread. */
int slots_met(struct slots *s, const struct collector_thread *t);
int slots_shown(struct slots *s, const struct collector_thread *t);

/* slots_read_moved - passes threads that were moved, and those found to have moved, to slots_moved(). */
int slots_read_moved(struct slots *s);

/* slots_harvest_until - harvests threads that died up to @until, the end of a tick, so that no thread shows more than the
 * interval; UINT64_MAX: all, unless time runs out, see slots_harvest(). slots_show_exited - shows those that are not shown yet.
 * slots_forget_exited - call it after that. */
int slots_harvest_until(struct slots *s, uint64_t until, uint64_t deadline);
int slots_show_exited(struct slots *s, uint64_t now);
void slots_forget_exited(struct slots *s);

#endif
