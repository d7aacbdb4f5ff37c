/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_PROTO_H
#define SYSTOP_HELPER_PROTO_H

/*
 * Every request and answer. Requests carry an id that the answer repeats; what an answer says is
 * checked by who asked: it comes from a process that read foreign files.
 */

#include <stdint.h>

#include "stack.h"

/* --- open: opens other processes' files */

enum open_what {
	OPEN_MAPPED, /* what a process has mapped at start-end, or else the path, if it is that file */
	OPEN_BUILD_ID, /* debug information of this build-id, in its usual places */
};

struct open_request {
	uint32_t what;
	uint32_t id;
	uint32_t tgid;
	uint32_t bytes; /* of the build-id */
	uint64_t start, end;
	struct file_key key;
	char path[512];
	uint8_t build_id[32];
};

/* With the file, if err is 0. */
struct open_answer {
	uint32_t id;
	int32_t err;
};

/* --- symbols: tells the names of addresses */

enum symbols_what {
	SYMBOLS_FILE,    /* with a file: its symbols are file @file's from now on */
	SYMBOLS_DEBUG,   /* with a file of debug information, for the same */
	SYMBOLS_KERNEL,  /* with /proc/kallsyms */
	SYMBOLS_RESOLVE, /* names of @nr places in @file; 0: the kernel */
};

#define SYMBOLS_BATCH 256

struct symbols_request {
	uint32_t what;
	uint32_t file;
	uint32_t nr;
	uint32_t spare;
	uint64_t at[SYMBOLS_BATCH]; /* offsets in the file, or addresses of the kernel */
};

/* What a file brought. */
struct symbols_loaded {
	uint32_t what; /* SYMBOLS_FILE or SYMBOLS_DEBUG */
	uint32_t file;
	int32_t err;
	uint32_t symbols;
	uint32_t whole;     /* it has .symtab, or something as good */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
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

#endif
