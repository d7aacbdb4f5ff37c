/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_OLD_STACKS_H
#define SYSTOP_COLLECT_OLD_STACKS_H

#include <stdint.h>

#include "collect/stacks.h"

struct old_stacks;

/*
 * old_stacks_new - keeps the contents of halves of the dictionary that have been cleared, for as long as the recorder's slots may
 * have ids of them: @window_ns. A stack that was in several halves is kept once. Above @max_bytes the oldest are dropped early.
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

/* old_stacks_keep - copies a half that is no longer written to, before it is cleared at @now ns. Without memory no copy
 * is kept. */
void old_stacks_keep(struct old_stacks *o, const struct stacks_half *h, uint64_t now);

/* old_stacks_age - drops what no slot of the window can refer to at @now. */
void old_stacks_age(struct old_stacks *o, uint64_t now);

/* old_stacks_each - see stacks_each(). */
int old_stacks_each(const struct old_stacks *o, stacks_fn *fn, void *arg);

/* old_stacks_bytes - total size; @early: stacks that were dropped early, since the start. */
uint64_t old_stacks_bytes(const struct old_stacks *o, uint64_t *early);

#endif
