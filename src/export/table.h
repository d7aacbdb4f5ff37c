/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_TABLE_H
#define SYSTOP_EXPORT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "model/field.h"

struct filter;
struct tick;

struct table_options {
	const char *host, *scope;
	enum field_id sort; /* largest first */
	bool all;           /* threads that did nothing, too */
	const struct filter *filter; /* threads that pass, NULL: all */
};

/* table_tick - writes a tick as plain text: a heading, then a line a thread. Returns 0 or -errno. */
int table_tick(FILE *to, const struct tick *t, const struct table_options *o);

#endif
