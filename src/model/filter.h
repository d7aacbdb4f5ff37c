/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_FILTER_H
#define SYSTOP_MODEL_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tick.h"

/*
 * The language of \ and --filter: terms separated by blanks, all of which must hold; ! before one
 * turns it round.
 *
 *   word            the name (comm; of cgroup rows the path) contains it; a number: also tid or pid
 *   cg:api          the cgroup's path contains it; with * or ? it is a pattern for the whole path
 *   comm= cg= ...   = != compare whole; a list a,b,c holds if one of it does
 *   user:www-data   name or uid
 *   state=D,R       letter or name
 *   is:kthread      or exited, throttled
 *   tid pid ppid threads    numbers
 *   cpu>5 runq.p99>1ms d>=20% wakeups>1K    any column: > >= < <= = !=; shares in % of the interval
 *                   or as a time, times with their unit, counts per second
 */
struct filter;

struct filter_error {
	int column;      /* cells from the start of the text, 0 based */
	char what[96];   /* fit for a terminal */
};

/* filter_user - the uid of a user's name or number. Returns 0 or -ENOENT, without fail(). */
typedef int filter_user(const char *name, uint32_t *uid);

/*
 * filter_parse - compiles @text. @user resolves user:NAME.
 * Returns NULL with @error set; an empty text is a filter that everything passes.
 */
struct filter *filter_parse(const char *text, filter_user *user, struct filter_error *error);
void filter_free(struct filter *f);

/* filter_match - whether a row of a tick with this interval passes. NULL passes everything. A value
 * that is not known passes no comparison; what a row does not have (a cgroup's user) neither. */
bool filter_match(const struct filter *f, const struct row *r, uint64_t interval_ns);

#endif
