/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_BLOCKED_H
#define SYSTOP_COLLECT_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>

#include "slot.h"

struct blocked;
struct health;
struct life;
struct model;

/*
 * Stacks of threads that are blocked now. The model gets them as blocks; a helper (peek) reads each stack once, as it
 * does not change before the block ends. Threads in D state are always read, sleeping threads on request.
 */

struct blocked_options {
	struct model *model;
	int role;              /* of the helper */
	int link_fd;           /* of the iterator, -1: there is none */
	uint64_t *wanted;      /* its map, one entry per slot */
	const struct slot *slots; /* mapped */
	uint32_t max_slots;
	struct life *(*life)(void *arg, uint32_t slot); /* the life of the thread in a slot if it is shown, otherwise NULL */
	void *arg;
	struct shared *shared;
	const struct unwind_file *files; /* mapped */
	uint32_t kernel_max;   /* frames of the longest kernel stack */
	uint32_t self_tgid, starter_tgid; /* systop and its helpers, which are left out; 0: none */
};

/* blocked_new - all pointers are borrowed. NULL: no memory. */
struct blocked *blocked_new(const struct blocked_options *o);
void blocked_free(struct blocked *b);

/* blocked_sleepers - reads sleeping threads, too, in the next ticks. */
void blocked_sleepers(struct blocked *b);

/* blocked_thread - in a tick: begins or ends the thread's block according to @copy of its slot. blocked_end - ends the
 * block of this slot's thread. blocked_look - after all threads: looks at sleeping threads if they were requested.
 * 0 or -ENOMEM. */
int blocked_thread(struct blocked *b, uint32_t index, const struct slot *copy, struct life *l, uint64_t now);
void blocked_end(struct blocked *b, uint32_t index, struct life *l);
int blocked_look(struct blocked *b, uint64_t now);

/* blocked_shed - whether to stop reading stacks: blocks are reported nevertheless. */
void blocked_shed(struct blocked *b, bool shed);

/* blocked_ask - after a tick: requests the stacks of the threads that it reported. */
void blocked_ask(struct blocked *b);

/* blocked_tables_arrived - there are unwind tables of another file: stacks that were cut are read again after a tick. */
void blocked_tables_arrived(struct blocked *b);

/* blocked_work - reads answers; call it when worker_events() is readable, and now and then regardless. */
void blocked_work(struct blocked *b);

/* blocked_pending - threads whose stack is being read, or will be soon. */
uint32_t blocked_pending(const struct blocked *b);

void blocked_health(const struct blocked *b, struct health *h);

#endif
