/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_NAMES_INTERNAL_H
#define SYSTOP_SYM_NAMES_INTERNAL_H

/* Shared by names.c (frames and their names), names_age.c (frames and functions no longer in use), names_forget.c (files
 * no longer needed), names_open.c and names_ask.c (requests to helpers), names_debug.c (debug information that arrives
 * later). */

#include "helper/proto.h"
#include "helper/worker.h"
#include "sym/names.h"
#include "util/map.h"

enum file_state {
	FILE_NEW,     /* to be opened */
	FILE_OPENING,
	FILE_OPEN,    /* its symbols are read when one is needed */
	FILE_CLOSED,  /* reopened when a symbol is needed */
	FILE_READING,
	FILE_DEBUG,   /* its debug information is to be opened */
	FILE_DEBUG_READING, /* its debug information is being read */
	FILE_READY,
	FILE_GONE,    /* it could not be opened; it is tried again at its next mapping */
	FILE_BAD,     /* reading it took too much, or ended helpers: not tried again */
};

/* Anything that has symbols. */
struct file {
	uint32_t id;
	enum file_state state;
	bool active;              /* in names.active */
	bool held, debug_held;    /* the symbols helper has it open, or its debug information */
	bool reopen, reopen_debug; /* the helper needs it open again */
	uint64_t used_ns;         /* last use by the symbols helper */
	char *path;               /* its path when first opened; NULL: never opened */
	int late;                 /* times that its file system did not answer the symbols helper since the last answer to
				   * late_what */
	enum symbols_what late_what; /* kind of the last request that was not answered */
	uint64_t ended_until;     /* a symbols helper ended: if another one does before this time, the file is to blame */
	int asked;                /* times it could not be opened */
	uint64_t again_at;        /* its file system did not answer: it is requested again at this time; 0: it is not */
	uint32_t debug_attempt;   /* next place to look for its debug information */
	struct file_event event;
	struct symbols_loaded about;
	bool debug_lines;         /* its line numbers are in its debug information */
	bool debug_read;          /* its debug information was found */
	uint32_t debug_where;     /* enum open_found: where its debug information was opened last */
	uint64_t look_at;         /* no search for its debug information begins before this time; CLOCK_MONOTONIC ns */
	uint64_t looked_ns;       /* when the last one ended */
	uint64_t refused_ns;      /* time spent in this search on files that are not its own */
	uint64_t unnamed_ns;      /* last use of a frame without a name; */
	bool unnamed_asked;       /* there was one after the last search */
	uint64_t *wanted;         /* places whose names are requested */
	size_t nr_wanted, wanted_room;
	uint64_t *unknown;        /* places without a name when it was last read: file_unnamed() */
	size_t nr_unknown, unknown_room;
	uint64_t read_ns;         /* when it was read, or was not there; if it did not answer, the end of the pause */
	bool missing;             /* the process lives, and its JIT compiler has written no file of names so far */
	int slices;               /* slices read so far; 0: it is not being read in slices */
	uint64_t cpu_ns;          /* CPU time that these took */
	int err;                  /* what is wrong with it, 0: nothing */
	bool no_debug, no_lines;  /* reading its debug information, or its line numbers, ended helpers: not tried
				   * again */
	bool table_asked;         /* its unwind table is or was being made */
	int table_err;            /* why it has no unwind table */
	bool forget;              /* nothing needs it any more, but the symbols helper may know it */
	uint32_t age;             /* of a JIT compiler's file: names.age.now when any frame in it was last asked for */
};

/* A frame. */
struct frame {
	uint64_t frame;
	const struct symbol *symbol;
	uint32_t age; /* names.age.now when it was last asked for */
	bool asked;   /* its name was requested, */
	bool answered; /* and the helper has looked for it */
	uint16_t look; /* a JIT compiler's code: names.jit_look when it was last requested; the kernel's: names.kernel_reads */
};

/*
 * Frames make room for others when nothing has asked for them for a while. As stacks are kept with their names until
 * new names arrive, raising @now and the generation first makes users ask again for all frames in use; a
 * while later the frames that nothing asked for are freed. Both frames and symbols without a frame are visited in slices.
 */
struct age {
	uint32_t now;
	uint64_t until;     /* CLOCK_MONOTONIC ns: frames in use have been asked for again by then; 0: nothing is to be
			     * freed */
	size_t begin_at;    /* number of frames at which this begins; 0: FRAMES_MAX / 2 */
	size_t frame, file; /* next places to look through in these maps */
	bool files;         /* all frames were looked through: files are next */
	struct interned *unused, *unused_last; /* symbols without a frame, which trees may still hold: oldest first */
};

/* The source line of a frame. */
struct source {
	uint64_t frame;
	bool asked;
	char text[sizeof(((struct symbols_source *)0)->text)];
};

/* Number of frames whose sources are kept. */
#define SOURCES 64

/* A file system that does not answer, or a process that cannot be inspected: it blocks a helper, and nothing of it is requested
 * until that helper has ended. */
struct sick {
	const struct worker *worker;
	uint32_t helper;
	uint32_t device; /* as in struct file_key */
	uint32_t tgid;   /* 0: the device blocks */
};

/* Places where debug information is looked for, on file systems that may differ from the files' own. */
struct debug_places {
	uint32_t stuck; /* the helper that they held up */
	uint64_t after; /* they are not searched before this time; 0: they never failed */
	int failures;
};

/* At about 150 bytes each. */
#define FRAMES_MAX 524288

struct names {
	struct names_options o;
	struct worker open, symbols;
	struct file *opening, *reading; /* the files of their requests in progress */
	enum open_what opening_what;
	uint32_t opening_found; /* enum open_found: what the open helper now waits for */
	struct sick sick[2 * WORKER_STUCK_MAX];
	struct symbols_request request; /* that the symbols helper works on */
	bool slice_next;    /* a large file is next */
	uint32_t linked[2]; /* ids of the helpers that share a socket */
	uint64_t pause_until; /* nothing is opened before this time */
	uint64_t now_ns;      /* of the last names_work() */
	uint64_t looks_until; /* end of the time in which @looks files were looked up again */
	int looks;
	uint16_t jit_look; /* raised when the names of JIT compilers' code are to be looked up again, */
	uint64_t jit_look_at; /* and when that is next */
	uint16_t kernel_reads; /* times that the kernel's symbols were to be read: modules and BPF programs come and go */
	uint16_t kernel_in_vain; /* how often they were read again in a row, each time for new places without names; limited */
	uint32_t kernel_program; /* names_options.newest_program() when they were last to be read */
	uint64_t bpf_look_at; /* when to look whether it has changed */
	uint64_t bpf_met;  /* the last place in a BPF program that was met after they were read; 0: none */
	struct debug_places places[OPEN_FOUNDS]; /* by enum open_found */
	struct file **active; /* files with something to do */
	size_t nr_active, active_room;
	size_t nr_missing;  /* active files that are missing, when last counted */
	size_t nr_held;     /* descriptors that the symbols helper has open */
	struct map files;   /* id -> struct file; 0 is no key: the kernel is separate */
	struct file kernel;
	struct map frames;  /* struct frame */
	struct map symbols_by_name; /* struct interned */
	struct age age;
	struct source sources[SOURCES];
	size_t next_source;
	size_t pending;
	uint64_t generation; /* see names_generation() */
};

/* file_grows - whether its symbols grow while in use, as the kernel's and JIT compilers' do. */
static inline bool file_grows(const struct names *n, const struct file *f)
{
	return f == &n->kernel || f->id & JIT_FILE;
}

/* names.c: */

/* names_learn - sets the name of a place in a file; "": it has none. */
void names_learn(struct names *n, struct file *f, uint64_t at, enum name_kind kind, const char *name);
/* names_asks_again - whether a place is asked for again anyway while it is in use, as JIT compilers reuse addresses: then it is
 * not kept in file.unknown. */
bool names_asks_again(const struct names *n, const struct file *f, uint64_t at);
struct source *names_source_of(struct names *n, uint64_t frame);
/* sources_again - requests the source lines again that were not found in the file. */
void sources_again(struct names *n, const struct file *f);
const char *file_module(const struct file *f);
/* file_free - forgets the file. */
void file_free(struct names *n, struct file *f);

/* names_age.c: */

/* symbol_hold - the function with this name, held for one more frame. @build: file_build(), which counts if the function has no
 * name of its own. NULL: no memory. symbol_change - sets the function that a frame shows, which was held for it; raises the
 * generation if it is another one. */
const struct symbol *symbol_hold(struct names *n, const char *name, const char *module, uint64_t build,
				 enum symbol_kind kind, enum name_kind what);
void symbol_change(struct names *n, struct frame *f, const struct symbol *s);

/* frame_free - frees a frame that is in no map. */
void frame_free(struct names *n, struct frame *f);

/* age_work - frees some of what is no longer in use, if there is much. age_fini - frees all frames and symbols. */
void age_work(struct names *n);
void age_fini(struct names *n);

/* names_open.c: */

/* file_wake - marks the file as having something to do. */
void file_wake(struct names *n, struct file *f);

/* file_path - the part that is known of its path in its file system. */
void file_path(const struct file *f, char *buf, size_t size);

/* file_want - requests the name of a place in it. False: there is no memory. file_forget_wanted - drops these requests. */
bool file_want(struct names *n, struct file *f, uint64_t at);
void file_forget_wanted(struct names *n, struct file *f);

/* file_closed - the symbols helper has closed the file; file_release - the same for one descriptor (held,
 * debug_held). */
void file_closed(struct names *n, struct file *f);
void file_release(struct names *n, bool *held);

/* file_sick - this file's file system, or its process, blocked the helper: nothing of it is requested until the
 * helper has ended. Call after worker_failed(); @helper: its id. file_is_sick - whether that holds now. */
void file_sick(struct names *n, const struct file *f, const struct worker *w, uint32_t helper, bool process);
bool file_is_sick(const struct names *n, const struct file *f);

/* open_next, close_next - request that the open helper opens something, or the symbols helper closes something;
 * open_answers - takes the answers. */
void open_next(struct names *n);
void open_answers(struct names *n);
void close_next(struct names *n);

/* names_debug.c: */

/* file_unnamed - keeps a place in a file that has no name, if there may be one later. file_want_unnamed - requests the
 * names of all of them again. */
void file_unnamed(struct names *n, struct file *f, uint64_t at);
void file_want_unnamed(struct names *n, struct file *f);

/* debug_due - the next file whose debug information is to be looked for again: its state is FILE_DEBUG now. NULL: none,
 * for now. */
struct file *debug_due(struct names *n);

/* debug_not_found - the search for a file's debug information ended without it; debug_arrived - it was read. */
void debug_not_found(struct names *n, struct file *f);
void debug_arrived(struct names *n, struct file *f);

/* places_failed - these places held up the helper @helper. places_pause - whether they are left alone for now. */
void places_failed(struct names *n, enum open_found where, uint32_t helper);
bool places_pause(const struct names *n, enum open_found where);

/* names_forget.c: */

/* forget_begin - requests nothing of the file any more, and has it forgotten, unless a helper works on it now. */
void forget_begin(struct names *n, struct file *f);

/* forget_next - requests that the symbols helper forgets files; forget_answered - it has. */
void forget_next(struct names *n);
void forget_answered(struct names *n);

/* names_ask.c: */

/* ask_next - gives idle helpers something to do. ask_file - requests that the symbols helper reads or closes a file; returns
 * whether it was sent. ask_answers - takes their answers. symbols_gone - the symbols helper has ended, or is given up: what
 * it had open is opened again. */
void ask_next(struct names *n);
bool ask_file(struct names *n, struct file *f, enum symbols_what what);
void ask_answers(struct names *n);
void symbols_gone(struct names *n);

#endif
