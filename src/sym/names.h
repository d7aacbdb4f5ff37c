/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_NAMES_H
#define SYSTOP_SYM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stack.h"

/*
 * Names of frames. Helper processes supply them later: until then, and if there is no name, a frame is called
 * module+0xoffset. Nothing here blocks.
 */
struct health;
struct names;

enum symbol_kind { SYMBOL_KERNEL, SYMBOL_USER, SYMBOL_JIT };

/* The module of code in a file without a name, such as memory that is shared. */
#define SYMBOL_NO_NAME "[file]"

/* A function, shared by all its frames: equal pointers are equal functions. */
struct symbol {
	const char *name;   /* raw bytes: text_safe() */
	const char *module; /* "libc.so.6", "[kernel]", "[vdso]"; raw bytes */
	uint8_t kind;       /* enum symbol_kind */
	bool named;         /* its name comes from a symbol */
	bool function;      /* where it begins is known, from which its name is made: module`fn_70c00, by the address in the
			     * file's own address space; if neither: a single address, module+0xoffset */
	uint64_t id;        /* equal ids are equal functions, also after one of them was freed. A name stands for a
			     * function in all builds of a file; a function without one is another in each build */
};

/* What a frame lacks for a name. */
enum frame_lack {
	LACK_NOTHING, /* it has one */
	/* It is a function, but */
	LACK_SYMBOL,  /* its file is stripped, and its debug information is not there */
	LACK_DEBUG,   /* its debug information is being read */
	/* It is only an address: */
	LACK_READ,    /* its file is not read yet */
	LACK_HIDDEN,  /* the kernel hides its symbols */
	LACK_GONE,    /* its file could not be opened */
	LACK_BAD,     /* its file could not be read */
	LACK_JIT,     /* a JIT compiler made the code, and has not written its name */
	LACK_UNWIND,  /* its file has no unwind information for this place: assembler, code between functions */
	LACK_FILE,    /* nothing is known about its file */
	LACKS
};

struct names_options {
	int open_role, symbols_role; /* for helper_open() */
	int kallsyms_fd;             /* kallsyms_open(); closed by names_free() */
	/* Requests that a file is reported again by names_file(), as it could not be opened, or its debug information was not
	 * found. */
	void (*ask_again)(void *arg, const struct file_key *key);
	/* A number that is higher once BPF programs have been loaded since; 0: not known. May be NULL. */
	uint32_t (*newest_program)(void *arg);
	/* Receives the unwind table of a file (helper/proto.h) in @fd, which is closed afterwards. Returns 0, or why
	 * the table is not used; -ENOSPC: not for now. May be NULL. */
	int (*table)(void *arg, uint32_t file, int fd);
	void *arg;
};

/* names_new - NULL: out of memory. If helpers cannot be started, only names are missing. */
struct names *names_new(const struct names_options *o);
void names_free(struct names *n);

/* names_file - reports a file's id and where it is mapped. */
void names_file(struct names *n, const struct file_event *e);

/* names_forget - forgets the files with these ids, so that other files can get them; the caller uses no frame of
 * them any more. False: not yet, as helpers still know them; call again a little later. */
bool names_forget(struct names *n, const uint32_t *ids, size_t nr);

/* names_table - makes a file's unwind table again. */
void names_table(struct names *n, uint32_t file);

/* names_frame - the best name of a frame that is known now. @tgid: the stack's process, for anonymous frames. Valid while
 * names_generation() does not change, and for two minutes more; ask again later for a better one. NULL: out of memory. */
const struct symbol *names_frame(struct names *n, uint64_t frame, uint32_t tgid);

/* names_lack - what a frame lacks now. Asks for its name as names_frame() does, but not as if it were shown. */
enum frame_lack names_lack(struct names *n, uint64_t frame, uint32_t tgid);

/* names_source - the source line of a frame, and those it was inlined into: one line each, raw bytes. "": unknown,
 * or not known yet. Valid until the next call of names_work(). */
const char *names_source(struct names *n, uint64_t frame);

/* names_build_id - build ID of the frame's file, as hex; "-": unknown. */
void names_build_id(const struct names *n, uint64_t frame, char *buf, size_t size);

/* Where a frame's code is. */
struct frame_place {
	char path[512];   /* of its file: as its process saw it when it was opened, or the part that is known of the path in its
			   * file system; "[vdso]", "[jit]" and "[kernel]" stand for frames without a file; raw bytes */
	uint64_t address; /* in the file's own address space; if its segments are unknown, the offset in the file;
			   * without a file, in memory */
	struct file_key key;
};

/* names_place - false: the frame has no file, like the kernel's and those of JITs, and no key. */
bool names_place(const struct names *n, uint64_t frame, struct frame_place *p);

/* names_work - call it when worker_events() is readable, and now and then regardless, as it gives up helpers that do
 * not answer in time. */
void names_work(struct names *n);

/* names_generation - changes whenever names were learnt, or what a frame lacks for a name has changed, and before some are
 * freed. */
uint64_t names_generation(const struct names *n);

/* names_pending - number of frames whose names are still requested. */
size_t names_pending(const struct names *n);

/* names_health - reports the helpers, and files that could not be read. */
void names_health(const struct names *n, struct health *h);

#endif
