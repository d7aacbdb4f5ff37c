/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_PATH_H
#define SYSTOP_UTIL_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Where a path leads: a name in a directory, with all symbolic links resolved. */
struct path {
	int folder;              /* O_PATH; -1: nowhere */
	char name[NAME_MAX + 1]; /* ".": the folder itself */
	struct stat st;          /* of the named file; st_mode is 0 if there is none */
	bool magic;              /* it is a link in /proc to an open file of a process */
};

enum path_flags {
	PATH_OWNED = 1, /* every directory on the way has to belong to root or the user */
	PATH_MAKE = 2,  /* missing directories are created, with mode 0700 */
};

/*
 * path_resolve - finds where @path leads for user @uid, with the rights of this process. Symbolic links are followed
 * only if they belong to root or the user: other users could redirect theirs at any time.
 * Returns 0 or -errno: -ELOOP: a link belongs to another user; -EMLINK: there are too many, or they lead in a circle; -EPERM: a
 * directory belongs to another user. path_close() frees it in either case.
 */
int path_resolve(const char *path, uid_t uid, int flags, struct path *p);
void path_close(struct path *p);

/*
 * path_open - opens the file the path leads to, provided it is (@mode) S_IFREG, S_IFIFO or S_IFCHR; a file of another kind or
 * owner is not opened, even if it got the name meanwhile (-EAGAIN). A device does not become the controlling terminal, and a
 * FIFO does not block. Returns a descriptor or -errno.
 */
int path_open(const struct path *p, mode_t mode, int flags);

/*
 * path_read - opens a regular file that belongs to root or @uid, and that only its owner can write to. NULL with errno;
 * @why is set if the file exists but is not trusted: "is not a file". path_read_at - the same for a resolved path.
 */
FILE *path_read(const char *path, uid_t uid, const char **why);
FILE *path_read_at(const struct path *p, uid_t uid, const char **why);

#endif
