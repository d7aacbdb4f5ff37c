/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_PROTO_H
#define SYSTOP_HELPER_PROTO_H

/*
 * Requests and answers of the helpers; those of peek, config and log are in collect/peek.h, app/config_write.c and app/log.c.
 * The requester checks every answer: it comes from a process that read foreign files.
 */

#include <stdint.h>

#include "model/cmdline.h"
#include "model/memory_facts.h"
#include "stack.h"
#include "unwind.h"

/* --- open: opens other processes' files, and hands them to the symbols helper. No other process has them: closing a
 * file can take as long as its file system likes. */

enum open_what {
	OPEN_MAPPED,   /* what a process has mapped at start-end, or else the path if it is the same file */
	OPEN_DEBUG,    /* its debug information, from place @attempt on (in enum open_found's order) */
	OPEN_PERF_MAP, /* the file that a process's JIT compiler writes: /tmp/perf-PID.map */
	OPEN_PEER,     /* brings the socket by which files are handed over from now on; no answer */
	OPEN_CONTAINER, /* a file of the host that can have the name of the container with the id @path, from place @attempt
			 * on (owner/places.h) */
	OPEN_POD,      /* hands over nothing: the answer's path is what kubelet's folder of the pod with the UID @path says,
			* NAMESPACE_NAME */
};

struct open_request {
	uint32_t what;
	uint32_t id;
	uint32_t tgid;
	uint32_t attempt;
	uint64_t start, end;
	struct file_key key;
	char path[512];
	char inside[FILE_NAMES * FILE_NAME_SIZE]; /* path in its file system; "": unknown */
	char debuglink[128];
	uint32_t build_id_bytes;
	uint8_t build_id[32];
	uint32_t skip; /* OPEN_DEBUG: a bit for each enum open_found that is not searched */
	uint32_t spare;
};

/* How far a request has got, and what alone can delay it until the next answer, which follows: */
enum open_found {
	OPEN_FOUND = 1,     /* the process has been inspected: the file's file system */
	/* Where its debug information is looked for: */
	OPEN_FOUND_HOST,    /* below the host's root */
	OPEN_FOUND_FOLDERS, /* the invoker's folders (sym/debug_folders.h) */
	OPEN_FOUND_ROOT,    /* below the process's root */
	OPEN_FOUNDS
};

struct open_answer {
	uint32_t id;
	uint32_t found;   /* enum open_found; 0: this is the answer */
	int32_t err;      /* 0: it was handed over */
	uint32_t attempt; /* place where it was found */
	char path[512];   /* OPEN_MAPPED: its path, which is tried next time; OPEN_POD */
};

/* From open to symbols, with the file. */
struct handed_file {
	uint32_t what; /* enum open_what */
	uint32_t file;
};

/* --- symbols: finds the names of addresses */

enum symbols_what {
	SYMBOLS_FILE,     /* reads the symbols of @file, which was handed over */
	SYMBOLS_DEBUG,    /* reads those of its debug information */
	SYMBOLS_PERF_MAP, /* reads those written by its JIT compiler, and closes that file */
	SYMBOLS_KERNEL,   /* brings /proc/kallsyms */
	SYMBOLS_RESOLVE,  /* names of @nr places in @file; 0: the kernel */
	SYMBOLS_SOURCE,   /* source line of at[0], from @file, or, with @debug, from its debug information */
	SYMBOLS_TABLE,    /* the answer brings a file with @file's unwind table */
	SYMBOLS_CLOSE,    /* closes @file and its debug information; keeps the symbols */
	SYMBOLS_FORGET,   /* closes the @nr files in at[], and forgets everything about them */
	SYMBOLS_PEER,     /* brings the socket by which files are handed over from now on; no answer */
	SYMBOLS_CONTAINER, /* the names that the file which was handed over last has for the container whose id is in at[],
			    * as text; @debug: enum owner_format (owner/places.h). Closes the file */
};

/* Flag in a file's id: the JIT compiler's code in process id & ~JIT_FILE. */
#define JIT_FILE 0x80000000U

#define SYMBOLS_BATCH 128
#define SYMBOLS_NAME 512 /* a longer name is shortened (util/short_name.h), then cut */
#define SYMBOLS_SEGMENTS 8

/* CPU time after which a request ends the helper. The kernel's symbols get more: they can be trusted, all other names wait for
 * them, and an emulated machine needs seconds to read them. */
#define SYMBOLS_CPU_MS 2000
#define SYMBOLS_KERNEL_CPU_MS 20000

struct symbols_request {
	uint32_t what;
	uint32_t file;
	uint32_t nr;
	uint32_t debug;
	uint64_t at[SYMBOLS_BATCH]; /* offsets in the file, addresses, or ids */
};

/* Where a file's bytes are in memory: its loadable, executable segments. */
struct elf_segments {
	struct elf_segment {
		uint64_t offset, size, address;
	} at[SYMBOLS_SEGMENTS];
	int32_t nr;
	uint32_t spare;
};

/* Answer to all requests but SYMBOLS_RESOLVE, SYMBOLS_SOURCE and SYMBOLS_CONTAINER; to those, too, if they failed. */
struct symbols_loaded {
	uint32_t what;
	uint32_t file;
	int32_t err;        /* -EAGAIN: there is more to read, ask again; -ESTALE: read the file again; -ETIME: it
			     * took too much CPU time, and the helper ends */
	uint32_t symbols;
	uint32_t whole;     /* it has .symtab, or an equivalent */
	uint32_t lines;     /* it has line numbers */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
	char debuglink[128]; /* "": it names no debug information file */
	struct elf_segments segments; /* of the file itself */
};

/* What is known about the function at a place. */
enum name_kind {
	NAME_NONE,     /* nothing: the name is "" */
	NAME_FUNCTION, /* where it begins, from which its name is made: fn_70c00 */
	NAME_SYMBOL,   /* its name */
};

/* Names in the order of the request, each with its NUL. */
struct symbols_names {
	uint32_t what; /* SYMBOLS_RESOLVE */
	uint32_t file;
	uint32_t nr;
	uint32_t bytes;
	uint64_t at[SYMBOLS_BATCH];
	uint8_t kinds[SYMBOLS_BATCH]; /* enum name_kind */
	char names[SYMBOLS_BATCH * SYMBOLS_NAME];
};

/* A single file's share of the unwinder's tables: an eighth of the rules, half of the rest. The installed file with
 * the most rules has 1,253. */
#define CFI_RULES_MAX (UNWIND_RULES / 8)
#define CFI_PAGES_MAX (UNWIND_PAGES / 2)
#define CFI_ROWS_MAX (UNWIND_CHUNKS / 2 * UNWIND_CHUNK_ROWS)

/* The table: this, the rules (struct cfi_rule), then for each page with code a head and its rows (struct
 * unwind_row). */
struct cfi_packed {
	uint32_t nr_rules;
	uint32_t nr_pages; /* last page + 1 */
};

struct cfi_packed_page {
	uint32_t page;     /* ascending */
	uint32_t nr;       /* rows */
};

/* Source line: "handler.rs:212", and one more line for each function it was inlined into: "handle inlined in main at
 * main.rs:12". "": unknown. */
struct symbols_source {
	uint32_t what; /* SYMBOLS_SOURCE */
	uint32_t file;
	uint64_t at;
	char text[1024];
};

/* Names of a container, raw bytes; "": not in the file. */
struct symbols_container {
	uint32_t what; /* SYMBOLS_CONTAINER */
	uint32_t file;
	int32_t err;   /* 0, or why it cannot be read */
	uint32_t spare;
	char name[256];
	char image[256];
	char pod[256];       /* its name, without the namespace */
	char name_space[256];
	char pod_uid[64];
	char host[64];       /* its own host name */
};

/* --- write: writes a file: the recorder's window as a trace, or content that is complete */

enum write_what {
	WRITE_CPUS,  /* brings the map of struct cpu_slot: there are @cpu CPUs, whose rings have @slots each */
	WRITE_RING,  /* brings CPU @cpu's ring, of which slots @from to @end are wanted */
	WRITE_TO,    /* brings a file that is open for writing: the rings are copied now */
	WRITE_PATH,  /* the same for @path, which appears only when it is complete; a device or FIFO is written to
		      * directly. @exporter makes it */
	WRITE_INDEX, /* brings what export/trace_index.h describes: @exporter writes it */
	WRITE_REMOVE, /* as the only request: removes @temporary, which a killed helper left beside @path */
	WRITE_CONTENT, /* in place of WRITE_INDEX, without CPUs and rings: brings a file whose content is written */
};

#define WRITE_TEMPORARY_SIZE 32

struct write_request {
	uint32_t what;
	uint32_t cpu;
	uint32_t slots;
	uint32_t exporter;  /* its index in the list of exporters */
	uint64_t from, end;
	uint32_t beside;    /* a file with this name is not replaced: the new one gets a number */
	char path[4096];
	char temporary[WRITE_TEMPORARY_SIZE]; /* name in its folder until it is complete, if it needs one */
};

struct write_answer {
	uint32_t done;    /* 0: not finished */
	int32_t err;
	uint32_t percent;
	uint32_t number;  /* that the file got: write_numbered(); 0: none */
	uint32_t stream;  /* it is a FIFO: no answers come while its reader does not read */
	uint32_t spare;
	uint64_t bytes, events, lost, gaps;
	uint64_t from, to; /* CLOCK_BOOTTIME ns: the time for which it has all CPUs */
	uint64_t need, room; /* if there is no room: bytes needed, and bytes free; 0: unknown */
};

/* --- commands: reads the command lines of processes */

#define COMMANDS_BATCH 64

struct commands_request {
	uint32_t nr;
	uint32_t spare;
	struct commands_of {
		int32_t tgid;
		uint32_t worker; /* a kernel worker: what it works on */
	} of[COMMANDS_BATCH];
};

/* One for each of them, in their order, then one with @at == nr. Only @len bytes of the text are sent. */
struct commands_answer {
	uint32_t at;
	int32_t err;
	uint32_t cut; /* it has more */
	uint32_t len;
	char text[CMDLINE_MAX];
};

/* --- facts: about what the screen shows */

enum facts_what {
	FACTS_PROCESS, /* memory of process @tgid */
	FACTS_CGROUP,  /* memory of a cgroup */
	FACTS_PACKAGE, /* the package with the debug information of a file */
};

struct facts_request {
	uint32_t what;
	int32_t tgid;
	struct file_key key;
	char path[1024];     /* of the file; of a cgroup: the folder with its memory.stat, */
	char pressure[1024]; /* and the one with its *.pressure; "": none */
};

struct facts_answer {
	struct memory_facts memory;
	int32_t err; /* FACTS_PACKAGE: see package_debug() */
	char package[128];
	uint32_t spare;
};

/* --- info: command lines and namespace PIDs of processes */

/* Comes with the table (save/process_info.c), which is filled in; no answer. */
struct process_request {
	uint32_t nr; /* processes in it */
	uint32_t arguments; /* whether to read their arguments */
};

#endif
