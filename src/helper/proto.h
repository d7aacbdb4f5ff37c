/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_PROTO_H
#define SYSTOP_HELPER_PROTO_H

/*
 * Every request and answer. What an answer says is checked by who asked: it comes from a process that
 * read foreign files.
 */

#include <stdint.h>

#include "stack.h"
#include "unwind.h"

/* --- open: opens other processes' files, and hands them to the symbols helper. Nobody else has them: to close a
 * file can take as long as its file system likes. */

enum open_what {
	OPEN_MAPPED,   /* what a process has mapped at start-end, or else the path, if it is that file */
	OPEN_DEBUG,    /* its debug information, from place @attempt of the usual ones on */
	OPEN_PERF_MAP, /* what a process's JIT says of its code: /tmp/perf-PID.map */
	OPEN_PEER,     /* with the socket by which files are handed over from now on; there is no answer */
};

struct open_request {
	uint32_t what;
	uint32_t id;
	uint32_t tgid;
	uint32_t attempt;
	uint64_t start, end;
	struct file_key key;
	char path[512];
	char debuglink[128];
	uint32_t build_id_bytes;
	uint8_t build_id[32];
};

struct open_answer {
	uint32_t id;
	uint32_t found;   /* the process was asked, and from now on only the file system can hold this up: the answer comes */
	int32_t err;      /* 0: it was handed over */
	uint32_t attempt; /* the place it was found at */
	char path[512];   /* OPEN_MAPPED: where it is, which is where it is looked for the next time */
};

/* From open to symbols, with the file. */
struct handed_file {
	uint32_t what; /* enum open_what */
	uint32_t file;
};

/* --- symbols: tells the names of addresses */

enum symbols_what {
	SYMBOLS_FILE,     /* of @file, which was handed over, the symbols are read, */
	SYMBOLS_DEBUG,    /* those of its debug information, */
	SYMBOLS_PERF_MAP, /* or those its JIT told; that file is closed then */
	SYMBOLS_KERNEL,   /* with /proc/kallsyms */
	SYMBOLS_RESOLVE,  /* names of @nr places in @file; 0: the kernel */
	SYMBOLS_SOURCE,   /* what at[0] was compiled from, by @file, or, with @debug, its debug information */
	SYMBOLS_TABLE,    /* the answer comes with a file that has @file's unwind table */
	SYMBOLS_CLOSE,    /* @file is closed, and its debug information; its symbols stay */
	SYMBOLS_FORGET,   /* the @nr files in at[] are closed, and nothing is kept of them */
	SYMBOLS_PEER,     /* with the socket by which files are handed over from now on; there is no answer */
};

/* In place of a file's id: what the JIT of process id & ~JIT_FILE made. */
#define JIT_FILE 0x80000000U

#define SYMBOLS_BATCH 256

/* A request ends the helper after so much CPU time. */
#define SYMBOLS_CPU_MS 2000

struct symbols_request {
	uint32_t what;
	uint32_t file;
	uint32_t nr;
	uint32_t debug;
	uint64_t at[SYMBOLS_BATCH]; /* offsets in the file, addresses, or ids */
};

/* What a file brought: to all but SYMBOLS_RESOLVE and SYMBOLS_SOURCE; also to those, if that failed. */
struct symbols_loaded {
	uint32_t what;
	uint32_t file;
	int32_t err;        /* -EAGAIN: there is more to read, ask again; -ESTALE: read the file again; -ETIME: it took too
			     * much CPU time, and the helper ends */
	uint32_t symbols;
	uint32_t whole;     /* it has .symtab, or something as good */
	uint32_t lines;     /* it has line numbers */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
	char debuglink[128]; /* "": it names no file of debug information */
};

/* Names, one behind the other in the order asked, each with its NUL; "": not known. */
struct symbols_names {
	uint32_t what; /* SYMBOLS_RESOLVE */
	uint32_t file;
	uint32_t nr;
	uint32_t bytes;
	uint64_t at[SYMBOLS_BATCH];
	char names[SYMBOLS_BATCH * 256];
};

/* What a file may have of what the unwinder has for all of them: an eighth of the rules, half of the rest. Of installed
 * files the largest has 1,253 rules. */
#define CFI_RULES_MAX (UNWIND_RULES / 8)
#define CFI_PAGES_MAX (UNWIND_PAGES / 2)
#define CFI_ROWS_MAX (UNWIND_CHUNKS / 2 * UNWIND_CHUNK_ROWS)

/* The table: this, the rules (struct cfi_rule), then for each page that has code a head and its rows
 * (struct unwind_row). */
struct cfi_packed {
	uint32_t nr_rules;
	uint32_t nr_pages; /* behind the last one */
};

struct cfi_packed_page {
	uint32_t page;     /* ascending */
	uint32_t nr;       /* rows */
};

/* Where it comes from: "handler.rs:212", and a line more for each function it was inlined into:
 * "inlined in main at main.rs:12". "": not known. */
struct symbols_source {
	uint32_t what; /* SYMBOLS_SOURCE */
	uint32_t file;
	uint64_t at;
	char text[1024];
};

/* --- write: writes the recorder's window as a trace */

enum write_what {
	WRITE_CPUS,  /* with the map of struct cpu_slot: there are @cpu CPUs, whose rings have @slots each */
	WRITE_RING,  /* with CPU @cpu's ring, of which slots @from to @end are wanted */
	WRITE_TO,    /* with a file that is open for writing: the rings are copied now; or */
	WRITE_PATH,  /* the same for @path, which is there when it is whole, and not before; a device or FIFO is written to */
	WRITE_INDEX, /* with what export/trace_index.h describes: @exporter writes it; or, as the only request, */
	WRITE_REMOVE, /* @temporary is removed, which a helper for @path left when it was killed */
};

struct write_request {
	uint32_t what;
	uint32_t cpu;
	uint32_t slots;
	uint32_t exporter;  /* its place among all of them */
	uint64_t from, end;
	char path[4096];
	char temporary[32]; /* what it is called in its folder until it is whole, if it has to have a name */
};

struct write_answer {
	uint32_t done;    /* 0: it goes on */
	int32_t err;
	uint32_t percent;
	uint32_t spare;
	uint64_t bytes, events, lost, gaps;
	uint64_t from, to; /* CLOCK_BOOTTIME ns: what it holds of all CPUs */
	uint64_t need, room; /* if there is no room: bytes it would have, and bytes there are; 0: not known */
};

/* --- who: command lines and namespace pids of processes */

/* With the table (save/process_info.c), which is filled in; there is no answer. */
struct process_request {
	uint32_t nr; /* processes in it */
};

#endif
