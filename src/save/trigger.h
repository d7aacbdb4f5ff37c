/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_TRIGGER_H
#define SYSTOP_SAVE_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;
struct tick;

/* --on: when a thread does what an expression says, what led to it is saved. */
struct trigger {
	const struct filter *filter;  /* borrowed; NULL: never */
	const char *text;             /* the expression */
	unsigned int limit;           /* files an hour */
	uint64_t quiet_ns;            /* after one, so long nothing is saved: the window */
	uint64_t last_ns, hour_ns;    /* CLOCK_MONOTONIC: of the last one; of the first one in this hour, */
	unsigned int fired;           /* and how many there were since then */
};

/* Files an hour, if nothing else is asked for. */
#define TRIGGER_LIMIT 6

/*
 * trigger_fires - whether the refresh has such a thread, and another file is allowed. @why: who it was, fit for a
 * terminal. What a thread was in D for counts from when it got there, also before this refresh.
 */
bool trigger_fires(struct trigger *t, const struct tick *tick, uint64_t now_ns, char *why, size_t size);

#endif
