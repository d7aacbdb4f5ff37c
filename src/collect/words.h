/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_WORDS_H
#define SYSTOP_COLLECT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What libbpf says, and through it the kernel, while programs are loaded: of what was refused, the last lines of the
 * verifier, which tell why. All of it can go to a log, too.
 */

#define REFUSAL_LINES 8

/* The first program or map that the kernel did not take. All text is fit for a terminal. */
struct refusal {
	char what[48];                  /* "program sched_switch", "map slots"; "": nothing was refused, or libbpf named nothing */
	char lines[REFUSAL_LINES][160]; /* the last of the verifier's, or of libbpf's where there are none */
	int nr_lines;
};

/* words_listen - from now on: nothing of libbpf's goes to standard error, all of it to @tell (NULL: nobody), as it is. */
typedef void words_fn(const char *text, size_t bytes);
void words_listen(words_fn *tell);

/* words_begin - a new attempt: what was said is forgotten. words_refusal - of what was said since: good until the next one. */
void words_begin(void);
const struct refusal *words_refusal(void);

/* words_add - what libbpf says, in one piece. @warning: it is no detail. For tests; libbpf's goes through it by itself. */
void words_add(bool warning, const char *text);

#endif
