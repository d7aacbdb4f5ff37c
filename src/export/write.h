/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_WRITE_H
#define SYSTOP_EXPORT_WRITE_H

/* write_run - role write: one trace, as helper/proto.h says. It ends early if nobody listens any more, and leaves no
 * file then. */
void write_run(int socket);

#endif
