/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_KNOWN_H
#define SYSTOP_SYM_KNOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "helper/proto.h"
#include "sym/elf.h"
#include "sym/perfmap.h"

/* A file that the symbols helper was handed. */
struct known {
	int fd, debug_fd;             /* as they were handed over; -1: closed */
	bool read;                    /* its symbols were read, and are here */
	struct elf_found found;
	struct symtab symtab;         /* the file's own, or those of its debug information */
	struct perfmap map;           /* what a JIT said */
	/* What is being read, in turns with other files: */
	enum known_step { KNOWN_IDLE, KNOWN_FILE, KNOWN_DEBUG_CHECK, KNOWN_DEBUG } step;
	struct elf_progress progress;
	struct elf_found debug_found;
	struct symtab debug;
	struct stat checked;          /* the file of debug information whose checksum was right last */
	uint64_t used;                /* the higher, the later */
};

/* known_file - that of an id, new or not. NULL: no memory. known_find - NULL: there is none. */
struct known *known_file(uint32_t id);
struct known *known_find(uint32_t id);

/* known_load - reads on, until @until: 0, -EAGAIN: there is more, or -errno. @what: SYMBOLS_FILE, _DEBUG or _PERF_MAP */
int known_load(struct known *k, uint32_t what, uint64_t until, struct symbols_loaded *a);

/* known_table - the table of how to unwind its code, in a file of memory. Returns that, or -errno. */
int known_table(const struct known *k);

/* known_name - what is at a place; NULL: it is not known. @buf: SYMTAB_NAME_MAX */
const char *known_name(struct known *k, bool jit, uint64_t at, char *buf);

/* known_source - what it was compiled from. */
void known_source(struct known *k, bool debug, uint64_t at, char *text, size_t size);

/* known_close - its files; what needs them is forgotten. */
void known_close(struct known *k);

/* known_forget - there is no such file any more. Accepts ids of none. */
void known_forget(uint32_t id);

#endif
