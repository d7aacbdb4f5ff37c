/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_NAMES_INTERNAL_H
#define SYSTOP_SYM_NAMES_INTERNAL_H

/* What names.c (frames and their names), names_forget.c (files that are needed no more), names_open.c and names_ask.c (what
 * helpers are asked for) share. */

#include "helper/proto.h"
#include "helper/worker.h"
#include "sym/names.h"
#include "util/map.h"

enum file_state {
	FILE_NEW,     /* to be opened */
	FILE_OPENING,
	FILE_OPEN,    /* its symbols are read when somebody asks for one */
	FILE_CLOSED,  /* it is opened again then */
	FILE_READING,
	FILE_DEBUG,   /* its debug information is opened, */
	FILE_DEBUG_READING, /* and read */
	FILE_READY,
	FILE_GONE,    /* it could not be opened; perhaps at its next mapping */
	FILE_BAD,     /* reading it took too much, or ended a helper: not again */
};

/* Something that has symbols. */
struct file {
	uint32_t id;
	enum file_state state;
	bool active;              /* in names.active */
	bool held, debug_held;    /* the symbols helper has it open, and its debug information, */
	bool reopen, reopen_debug; /* or is to have that */
	uint64_t used_ns;         /* when it last needed one of them */
	char *path;               /* where it was when it was opened first; NULL: it was not */
	int late;                 /* how often its file system did not answer the symbols helper */
	int asked;                /* how often it was asked to be told of again */
	uint32_t debug_attempt;   /* the place its debug information is looked for at */
	struct file_event event;
	struct symbols_loaded about;
	bool debug_lines;         /* its debug information has its line numbers */
	uint64_t *wanted;         /* places whose names are asked for */
	size_t nr_wanted, wanted_room;
	uint64_t *unknown;        /* places that had no name when it was read: kernel and JITs only */
	size_t nr_unknown, unknown_room;
	uint64_t read_ns;         /* when it was read */
	int slices;               /* of reading it, so far; 0: it is not being read in slices */
	int err;                  /* what was wrong with it, 0: nothing */
	bool no_debug, no_lines;  /* reading its debug information, or its line numbers, ended a helper: not again */
	bool table_asked;         /* of its unwind table: it is made, or was, */
	int table_err;            /* and why it is not */
	bool forget;              /* nobody needs it any more, but the symbols helper may know it */
};

/* A frame that was asked for. */
struct frame {
	uint64_t frame;
	const struct symbol *symbol;
};

/* What a frame was compiled from. */
struct source {
	uint64_t frame;
	bool asked;
	char text[sizeof(((struct symbols_source *)0)->text)];
};

/* The last ones asked for. */
#define SOURCES 64

/* What holds a helper, until that has ended: a file system that does not answer, or a process that cannot be looked
 * into. What is of it is left alone. */
struct sick {
	const struct worker *worker;
	uint32_t helper;
	uint32_t device; /* as in struct file_key; */
	uint32_t tgid;   /* 0: the device */
};

/* About 150 bytes each. */
#define FRAMES_MAX 524288

struct names {
	struct names_options o;
	struct worker open, symbols;
	struct file *opening, *reading; /* whom they are asked about */
	enum open_what opening_what;
	bool opening_found;   /* it is the file system that is waited for */
	struct sick sick[2 * WORKER_STUCK_MAX];
	struct symbols_request request; /* that the symbols helper has */
	bool slice_next;    /* it is the turn of a large file */
	uint32_t linked[2]; /* that have a socket between them */
	uint64_t pause_until; /* nothing is opened until then */
	struct file **active; /* those with something to do */
	size_t nr_active, active_room;
	size_t nr_held;     /* that the symbols helper has open */
	int epoll_fd;
	struct map files;   /* id -> struct file; 0 is no key: the kernel is apart */
	struct file kernel;
	struct map frames;  /* struct frame */
	struct map symbols_by_name;
	struct source sources[SOURCES];
	size_t next_source;
	size_t pending;
	uint64_t generation; /* raised by each name learnt */
};

/* names.c: */

/* names_learn - what a place in a file is called; "": it has no name. */
void names_learn(struct names *n, struct file *f, uint64_t at, const char *name);
struct source *names_source_of(struct names *n, uint64_t frame);
const char *file_module(const struct file *f);
/* names_table_answered - its unwind table, in @fd, or why there is none. */
void names_table_answered(struct names *n, struct file *f, int fd, int err);
/* file_new - NULL: no memory. */
struct file *file_new(struct names *n, uint32_t id);
/* file_free - it is known no more. */
void file_free(struct names *n, struct file *f);

/* names_open.c: */

/* file_wake - there is something to do for it. */
void file_wake(struct names *n, struct file *f);

/* file_path - where it is in its file system, as far as that is known. */
void file_path(const struct file *f, char *buf, size_t size);

/* file_forget_wanted - nobody waits for its names any more. */
void file_forget_wanted(struct names *n, struct file *f);

/* file_closed - the symbols helper has closed it; file_release - that one (held, debug_held) of its files. */
void file_closed(struct names *n, struct file *f);
void file_release(struct names *n, bool *held);

/* file_sick - what held the helper is this file's file system, or its process: nothing of it is asked for any more until
 * the helper has ended. Call after worker_failed(); @helper: its id. file_is_sick - whether that is so. */
void file_sick(struct names *n, const struct file *f, const struct worker *w, uint32_t helper, bool process);
bool file_is_sick(const struct names *n, const struct file *f);

/* open_next, close_next - ask the open helper to open something, the symbols helper to close something; open_answers -
 * takes what was answered. */
void open_next(struct names *n);
void open_answers(struct names *n);
void close_next(struct names *n);

/* names_forget.c: */

/* forget_next - asks the symbols helper to forget files; forget_answered - it has. */
void forget_next(struct names *n);
void forget_answered(struct names *n);

/* names_ask.c: */

/* ask_next - gives helpers that are free something to do. ask_answers - takes what they answered. */
void ask_next(struct names *n);
void ask_answers(struct names *n);

#endif
