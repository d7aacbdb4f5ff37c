/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_PERFMAP_H
#define SYSTOP_SYM_PERFMAP_H

#include <sys/types.h>

#include "sym/symtab.h"

/* What a JIT wrote to /tmp/perf-PID.map: lines of address, size, name. Initialise with zeroes. */
struct perfmap {
	struct symtab symtab;
	dev_t device;
	ino_t inode;
	off_t at;     /* it is read up to here */
	bool skip;    /* and on from the next line on */
};

/*
 * perfmap_read - reads on where it stopped the last time; from the start, if it is another file. Of two functions at
 * one place the later one counts, as code is thrown away and made anew; of a map that is too long the last ones count.
 * A line that is too long is left out.
 * @until: CLOCK_MONOTONIC ns; 0: any time
 * Returns 0, -EAGAIN: there is more, or -errno.
 */
int perfmap_read(struct perfmap *m, int fd, uint64_t until);

#endif
