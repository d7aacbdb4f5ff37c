/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_CMDLINE_H
#define SYSTOP_MODEL_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a command line that are kept; a longer one is cut. */
#define CMDLINE_MAX 4096

/*
 * A process's command line: its arguments with a NUL between two, raw bytes: text_safe(). A kernel worker has its name
 * and what it works on. A child shares its parent's until it calls exec.
 */
struct cmdline {
	uint32_t holders;
	uint32_t id;   /* unique, not 0 */
	uint16_t len;  /* of the text, without empty arguments at its end */
	bool cut;      /* the process has more */
	char text[];   /* and a NUL after it */
};

/* cmdline_new - of @len bytes as /proc/PID/cmdline has them, held once; @cut: there are more. NULL: out of memory. cmdline_len -
 * the length of such a text without empty arguments at its end. cmdline_bytes - the memory that it takes. */
struct cmdline *cmdline_new(const char *text, size_t len, bool cut);
size_t cmdline_len(const char *text, size_t len);
size_t cmdline_bytes(const struct cmdline *c);

/* cmdline_words - the arguments with blanks between them, raw bytes, cut at @size. Returns the length. */
size_t cmdline_words(const struct cmdline *c, char *buf, size_t size);

/* cmdline_has - whether the arguments, with blanks between them, contain @with, in any case. */
bool cmdline_has(const struct cmdline *c, const char *with);

/* What a row shows: names as the kernel has them, command lines, or both where they differ. */
enum cmdline_form { CMDLINE_NAME, CMDLINE_LINE, CMDLINE_MERGED, CMDLINE_FORMS };
extern const char *const cmdline_form_names[CMDLINE_FORMS]; /* name line merged */

/* A row's text, safe for a terminal, and the program's or thread's name in it. */
struct cmdline_look {
	size_t from, to;
	char text[4 * (CMDLINE_MAX + 16) + 8]; /* a command line and a name, each byte as \xNN, " | " and " .." */
};

/*
 * cmdline_look - how a thread or process is shown.
 * @c: NULL: unknown, the name is shown instead; @comm: 16 raw bytes at most
 * @width: cells that the text should fit in: if it does not, the program's folders are left out
 */
void cmdline_look(struct cmdline_look *l, const struct cmdline *c, const char *comm, enum cmdline_form form, int width);

#endif
