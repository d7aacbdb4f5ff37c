/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_WORDS_H
#define SYSTOP_COLLECT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Messages of libbpf, and through it of the kernel, while programs are loaded. For what was refused, the last lines of
 * the verifier give the reason. All messages can go to a log, too.
 */

#define REFUSAL_LINES 8

/* The first program or map that the kernel refused. All text is safe for a terminal. */
struct refusal {
	char what[48];                  /* "program sched_switch", "map slots"; "": nothing, or libbpf named nothing */
	char lines[REFUSAL_LINES][160]; /* the last ones of the verifier, or of libbpf if there are none */
	int nr_lines;
};

/* words_listen - from now on: keeps libbpf's messages off standard error, and passes all of them to @report (NULL:
 * nobody) unchanged. */
typedef void words_fn(const char *text, size_t bytes);
void words_listen(words_fn *report);

/* words_begin - a new attempt: discards earlier messages. words_refusal - what was refused since; valid until the next
 * call. */
void words_begin(void);
const struct refusal *words_refusal(void);

/* words_add - adds one message of libbpf. @warning: not a mere detail. For tests; libbpf's messages arrive by
 * themselves. */
void words_add(bool warning, const char *text);

#endif
