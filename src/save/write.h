/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_WRITE_H
#define SYSTOP_SAVE_WRITE_H

#include <sys/types.h>

struct path;

/* write_run - role write: one trace, as helper/proto.h says. It ends early if nobody listens any more, and leaves no
 * file then. */
void write_run(int socket);

/* write_kind - whether a trace can be written to what a path leads to: 0 a new file, or in place of one, @stream 0; or
 * @stream S_IFIFO or S_IFCHR, which is written to. -EISDIR, -EOPNOTSUPP: neither. */
int write_kind(const struct path *p, mode_t *stream);

#endif
