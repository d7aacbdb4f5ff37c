/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_PERFMAP_H
#define SYSTOP_SYM_PERFMAP_H

#include "sym/symtab.h"

/*
 * perfmap_read - the functions a JIT wrote to /tmp/perf-PID.map, in place of those in @t: lines of
 * address, size, name. Of two at one place the later one counts, as code is thrown away and made anew.
 * Lines and bytes beyond a limit are left out. 0 or -errno.
 */
int perfmap_read(int fd, struct symtab *t);

#endif
