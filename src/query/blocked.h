/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_BLOCKED_H
#define SYSTOP_QUERY_BLOCKED_H

/* Threads that are in D state now, or were in one of the remembered refreshes. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/sample.h"
#include "model/tick.h"
#include "query/wakers.h"
#include "util/map.h"

struct source;

/* A thread that waited. */
struct waiter {
	struct row row;        /* first: the thread, without values */
	bool now;              /* it is in D state at the end of the refresh, */
	bool at_most;         /* now_ns is an upper bound: the kernel does not know when the block began */
	uint64_t now_ns;       /* VALUE_NA: not in D state, or for an unknown time */
	uint64_t total_ns;
	uint64_t longest_ns;   /* of blocks of known length; a block whose end was not seen counts as long as it was seen */
	uint64_t count;        /* VALUE_NA: not known */
	uint64_t ended_ns;     /* total of the counted ones */
	uint8_t slot;          /* slot of the histogram with the longest of the counted ones, */
	uint32_t in_slot;      /* and how many are in it, */
	uint32_t alone;        /* were the only one of a refresh there, so that their length is known, */
	uint64_t alone_ns;     /* and the longest of these, */
	uint32_t reported;     /* and how many in the slot were reported one by one, with their length */
	struct stack_sample at; /* where the present block is, or the longest was: thread, stacks and notes */
	struct wakers wakers;
};

/* Initialise with zeroes. */
struct blocked {
	struct waiter **at;    /* allocated one by one: lists point to them */
	size_t nr, room;
	struct map of;         /* latency_thread_key() -> waiter */
	uint32_t now;          /* number in D state */
	size_t refreshes;      /* number of refreshes covered, */
	uint64_t shown;        /* and the number of the last */
};

/* blocked_find - replaces the contents with the waiters of the refreshes up to @t. @shown: a number that identifies @t, not 0;
 * with the same number only stacks that arrived late are added, as the history goes on while a screen is paused. 0 or -ENOMEM. */
int blocked_find(struct blocked *b, const struct tick *t, uint64_t shown);
void blocked_fini(struct blocked *b);

/* blocked_before - item_before of waiters: those that wait now first, then those that waited; the longest first. */
bool blocked_before(const void *a, const void *b, const void *arg);

/* waiter_where - the innermost function that shows where it waits, fit for a terminal; "-": not known.
 * waiter_now - for how long it has been in D state: "1.2ms", "<=1.2ms" if that began before systop's start; "-": it is not.
 * waiter_longest - as exact as known: "1.2ms", "<262us". */
void waiter_where(const struct waiter *w, const struct source *source, char *buf, size_t size);
void waiter_now(const struct waiter *w, char *buf, size_t size);
void waiter_longest(const struct waiter *w, char *buf, size_t size);

#endif
