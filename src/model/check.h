/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_CHECK_H
#define SYSTOP_MODEL_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One result of --check. */
struct check_line {
	const char *name;  /* static; several lines in a row can be about one thing */
	enum check_ok { CHECK_NO, CHECK_YES, CHECK_FACT } ok; /* CHECK_FACT: it is neither right nor wrong, or unknown */
	bool needed;       /* systop cannot run without it */
	const char *word;  /* static: "ok", "off", in the table; NULL: none */
	char *text;        /* what it is, or what it is for */
	char *reason, *fix; /* why it is not ok, and a command or setting that helps; NULL: none */
	bool table, json;  /* where it is shown */
};

/* All of them, in order. Initialise with zeroes; checks_fini() frees. */
struct checks {
	struct check_line *lines;
	size_t nr, room;
	int status; /* exit status that systop would have: enum exit_status */
};

/* check_add - adds a line to the table and JSON; check_reason, check_fix - of the last line. Returns the line, valid until the
 * next one is added. Texts are fit for a terminal. When out of memory, a text or the line is missing. */
struct check_line *check_add(struct checks *c, const char *name, enum check_ok ok, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void check_reason(struct checks *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void check_fix(struct checks *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* checks_table - prints the lines of the table. */
void checks_table(const struct checks *c, FILE *to);
void checks_fini(struct checks *c);

#endif
