/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_TRIGGER_H
#define SYSTOP_SAVE_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;
struct tick;

/* Default and maximum limit of files per hour. */
#define TRIGGER_LIMIT 6
#define TRIGGER_LIMIT_MAX 1000

/* --on: when a thread matches an expression, the window that led to it is saved. */
struct trigger {
	const struct filter *filter;  /* borrowed; NULL: never */
	const char *text;             /* the expression */
	unsigned int limit;           /* files in any hour, 1 to TRIGGER_LIMIT_MAX */
	uint64_t quiet_ns;            /* no save begins for this long after another one: the window; doubled by each failure */
	uint64_t began_ns;            /* when the last one began, CLOCK_MONOTONIC; 0: none did */
	unsigned int failed;          /* saves that began since the last file */
	unsigned int saved;           /* files since the start */
	uint64_t saves_ns[TRIGGER_LIMIT_MAX]; /* when their saves began: number n is in place n % @limit */
};

/*
 * trigger_fires - whether the tick has a matching thread, and another file is allowed. @why: which thread it is, safe for a
 * terminal. Time in D counts from the start of the block, also before this tick.
 * trigger_saves - a save has begun: none begins for quiet_ns, doubled by each failure since the last file, but at most to an
 * hour.
 * trigger_saved - its file is complete: it counts. trigger_cancelled - it did not fail.
 */
bool trigger_fires(const struct trigger *t, const struct tick *tick, uint64_t now_ns, char *why, size_t size);
void trigger_saves(struct trigger *t, uint64_t now_ns);
void trigger_saved(struct trigger *t);
void trigger_cancelled(struct trigger *t);

#endif
