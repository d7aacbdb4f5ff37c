/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_KNOWN_H
#define SYSTOP_SYM_KNOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "helper/proto.h"
#include "sym/elf.h"
#include "sym/perfmap.h"

/* A file that was handed to the symbols helper. */
struct known {
	int fd, debug_fd;             /* as handed over; -1: closed */
	bool read;                    /* its symbols are in memory, */
	bool whole;                   /* and are all that it has: unwind information is searched only where there is no symbol */
	bool closed;                  /* since it was read: functions can no longer be looked up */
	struct elf_found found;
	struct symtab symtab;         /* the file's own, or its debug information's */
	struct symtab plt;            /* the stubs by which it calls other files: no debug information has them */
	struct perfmap map;           /* written by a JIT compiler */
	/* Reading in progress, in turns with other files: */
	enum known_step { KNOWN_IDLE, KNOWN_FILE, KNOWN_DEBUG_CHECK, KNOWN_DEBUG } step;
	struct elf_progress progress;
	struct elf_found debug_found;
	struct symtab debug;
	struct stat checked;          /* the last debug information file whose checksum matched */
	uint64_t used;                /* higher is later */
};

/* known_file - the file with an id, created if necessary. NULL: no memory. known_find - NULL: there is none. */
struct known *known_file(uint32_t id);
struct known *known_find(uint32_t id);

/* known_load - continues reading until @until: 0, -EAGAIN: there is more, or -errno. @what: SYMBOLS_FILE, _DEBUG or
 * _PERF_MAP */
int known_load(struct known *k, uint32_t what, uint64_t until, struct symbols_loaded *a);

/* known_table - makes the unwind table of its code. Returns a memfd, or -errno. */
int known_table(const struct known *k);

/* known_name - what is known about the function at a place: enum name_kind, or -ESTALE: the file must be opened again.
 * @buf: its name, SYMTAB_NAME_MAX bytes */
int known_name(struct known *k, bool jit, uint64_t at, char *buf);

/* known_source - the source line that a place was compiled from. */
void known_source(struct known *k, bool debug, uint64_t at, char *text, size_t size);

/* known_close - closes its descriptors, and forgets what needs them. */
void known_close(struct known *k);

/* known_forget - forgets the file altogether. Unknown ids are ignored. */
void known_forget(uint32_t id);

#endif
