/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_WRITE_H
#define SYSTOP_SAVE_WRITE_H

#include <sys/types.h>

struct path;

/* write_run - role write: writes one file, as described in helper/proto.h. It ends early if its socket is closed,
 * and then leaves no file. */
void write_run(int socket);

/* write_kind - whether a file can be written to what a path leads to: 0 and @stream 0: a new file, or in place of
 * one; 0 and @stream S_IFIFO or S_IFCHR: written to directly. -EISDIR, -EOPNOTSUPP: no. */
int write_kind(const struct path *p, mode_t *stream);

#endif
