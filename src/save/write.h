/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_WRITE_H
#define SYSTOP_SAVE_WRITE_H

#include <stdbool.h>
#include <sys/types.h>

#include "helper/proto.h"

struct path;

/* write_run - role write: writes one file, as described in helper/proto.h. It ends early if its socket is closed,
 * and then leaves no file. */
void write_run(int socket);

/* write_kind - whether a file can be written to what a path leads to: 0 and @stream 0: a new file, or in place of
 * one; 0 and @stream S_IFIFO or S_IFCHR: written to directly. -EISDIR, -EOPNOTSUPP, -EPERM (another user's FIFO): no. */
int write_kind(const struct path *p, mode_t *stream);

/* write_create - creates an unnamed file in @folder, or, if the file system has no such files, one that is named
 * @temporary, see write_temporary(). Returns its descriptor, and whether it is @named, or -errno. */
int write_create(int folder, const char *temporary, mode_t mode, bool *named);

/* write_temporary - a new name for a file that is not complete. It is unpredictable, so that no other user can create it first.
 * Programs that collect files do not look for its suffix. */
void write_temporary(char name[static WRITE_TEMPORARY_SIZE]);

/* write_numbered - puts "-@number" before the @suffix of a file's name. */
void write_numbered(char *name, size_t size, const char *suffix, unsigned int number);

#endif
