/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_FILTER_H
#define SYSTOP_QUERY_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tick.h"

/*
 * The language of \ and --filter: terms separated by blanks, all of which must match. The words, for help and man page;
 * the last entry has no form.
 */
struct filter_word {
	const char *form, *help;
};

extern const struct filter_word filter_words[];

struct filter;

struct filter_error {
	int column;      /* in cells from the start of the text, 0 based */
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

/* filter_suits_threads - whether no term asks for a value that only processes or cgroups have. */
bool filter_suits_threads(const struct filter *f);

/* filter_match - whether a row of a tick passes. NULL passes every row. An unknown value fails every comparison, as
 * does a property that the row does not have (a cgroup's user). */
bool filter_match(const struct filter *f, const struct row *r, const struct tick *t);

/* filter_match_changed - the same for a row whose values are not those of the tick, as filter_match() takes equal pointers for
 * equal values. @f: not NULL. */
bool filter_match_changed(const struct filter *f, const struct row *r, const struct tick *t);

#endif
