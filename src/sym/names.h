/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_NAMES_H
#define SYSTOP_SYM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stack.h"

/*
 * Names of frames. They come from helper processes, later: until then, and where there is none, a
 * frame is called module+0xoffset. Nothing here waits.
 */
struct health;
struct names;

enum symbol_kind { SYMBOL_KERNEL, SYMBOL_USER, SYMBOL_JIT };

/* A function, once for all its frames: equal pointers are equal functions. */
struct symbol {
	const char *name;   /* raw bytes: text_safe() */
	const char *module; /* "libc.so.6", "[kernel]", "[vdso]"; raw bytes */
	uint8_t kind;       /* enum symbol_kind */
	bool named;         /* else the name is module+0xoffset */
};

struct names_options {
	int open_role, symbols_role; /* for helper_open() */
	int kallsyms_fd;             /* opened with the rights to see addresses; taken over; -1: none */
	/* Asks to be told of a file again, by names_file(): it could not be opened. */
	void (*ask_again)(void *arg, const struct file_key *key);
	/* The unwind table of a file (helper/proto.h), in a file that is closed after: 0, or why it is not
	 * used; -ENOSPC: for now. May be NULL. */
	int (*table)(void *arg, uint32_t file, int fd);
	void *arg;
};

/* names_new - NULL: out of memory. Helpers that cannot be had cost names only. */
struct names *names_new(const struct names_options *o);
void names_free(struct names *n);

/* names_file - a file has an id, and is mapped there. */
void names_file(struct names *n, const struct file_event *e);

/* names_forget - nothing is known any more of the files with these ids, none of which any frame has that is asked for:
 * they can be other files' then. False: not yet, as helpers know of them; call it again a little later. */
bool names_forget(struct names *n, const uint32_t *ids, size_t nr);

/* names_table - makes the unwind table of a file once more. */
void names_table(struct names *n, uint32_t file);

/* names_frame - what a frame is called, now. @tgid: of its stack, for anonymous ones. Good until
 * names_free(); ask again later for a better one. NULL: out of memory. */
const struct symbol *names_frame(struct names *n, uint64_t frame, uint32_t tgid);

/* names_source - what a frame's code was compiled from, and what it was inlined into: one line each,
 * raw bytes. "": not known, or not yet. Good until the next call of names_work(). */
const char *names_source(struct names *n, uint64_t frame);

/* names_build_id - of the file that a frame is in, as hex; "-": none is known. */
void names_build_id(const struct names *n, uint64_t frame, char *buf, size_t size);

/* names_path - of that file: from the root of its file system on, as far as it is known; "[vdso]", "[jit]" and
 * "[kernel]" have none. Raw bytes. */
void names_path(const struct names *n, uint64_t frame, char *buf, size_t size);

/* names_fd - readable when names_work() has something to do. names_work - once in a while, too, as
 * helpers that do not answer in time are given up. Returns whether names were learnt. */
int names_fd(const struct names *n);
bool names_work(struct names *n);

/* names_generation - changes when names were learnt. */
uint64_t names_generation(const struct names *n);

/* names_pending - frames whose names are still asked for. */
size_t names_pending(const struct names *n);

/* names_health - the helpers, and files that could not be read. */
void names_health(const struct names *n, struct health *h);

#endif
