/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_PERFMAP_H
#define SYSTOP_SYM_PERFMAP_H

#include <sys/types.h>

#include "sym/symtab.h"

/* Bytes kept from before the place up to which a map was read: if they differ now, the map was rewritten. */
#define PERFMAP_LAST 64

/* What a JIT compiler wrote to /tmp/perf-PID.map: lines of address, size, name. Initialise with zeroes. */
struct perfmap {
	struct symtab symtab;
	dev_t device;
	ino_t inode;
	off_t at;     /* read up to here, */
	bool skip;    /* and to be resumed at the next line */
	char last[PERFMAP_LAST]; /* the bytes before that place */
};

/*
 * perfmap_read - resumes where it stopped last time, or starts again if it is another file, or was rewritten. Where
 * functions overlap, only the last one counts, as code is discarded and compiled again; if a map is too long, only its
 * end counts. Lines that are too long are skipped.
 * @until: CLOCK_MONOTONIC ns at which to stop; 0: never
 * Returns 0, -EAGAIN: there is more, or -errno.
 */
int perfmap_read(struct perfmap *m, int fd, uint64_t until);

#endif
