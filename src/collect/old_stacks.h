/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_OLD_STACKS_H
#define SYSTOP_COLLECT_OLD_STACKS_H

#include <stdint.h>

#include "collect/stacks.h"

struct old_stacks;

/*
 * What was in halves of the dictionary that have been cleared, for as long as the recorder's slots may have ids of them:
 * @window_ns. A stack that was in several of them is kept once. Above @max_bytes the oldest go before their time.
 * NULL: no memory.
 */
struct old_stacks *old_stacks_new(uint64_t window_ns, uint64_t max_bytes);
void old_stacks_free(struct old_stacks *o);

/* A half of the dictionary. */
struct stacks_half {
	uint32_t generation;
	uint32_t index_bits;
	const struct stack_entry *entries;
	const struct stack_line *lines;
};

/* half_each - calls @fn for every stack of a half, see stacks_each(). */
int half_each(const struct stacks_half *h, stacks_fn *fn, void *arg);

/* old_stacks_keep - a copy of a half that nobody writes to any more, and that is about to be cleared at @now ns. Without
 * memory there is none. */
void old_stacks_keep(struct old_stacks *o, const struct stacks_half *h, uint64_t now);

/* old_stacks_age - what no slot of the window can mean at @now goes. */
void old_stacks_age(struct old_stacks *o, uint64_t now);

/* old_stacks_each - see stacks_each(). */
int old_stacks_each(const struct old_stacks *o, stacks_fn *fn, void *arg);

/* old_stacks_bytes - what all of them take; @early: stacks that went before their time, since the start. */
uint64_t old_stacks_bytes(const struct old_stacks *o, uint64_t *early);

#endif
