/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_PATH_H
#define SYSTOP_UTIL_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Where a path leads: a name in a directory, which is no symbolic link. */
struct path {
	int folder;              /* O_PATH; -1: nowhere */
	char name[NAME_MAX + 1]; /* ".": the folder itself */
	struct stat st;          /* of what has the name; st_mode is 0 if there is nothing */
	bool magic;              /* it is a link of /proc to what a process has open */
};

enum path_flags {
	PATH_OWNED = 1, /* every directory on the way belongs to root or the user */
	PATH_MAKE = 2,  /* those that are missing are made, with mode 0700 */
};

/*
 * path_resolve - where @path leads for user @uid, with the rights of this process. Symbolic links are followed if they
 * belong to root or to the user: others could turn them to another file at any time.
 * Returns 0 or -errno: -ELOOP a link is somebody else's, or there are too many; -EPERM: a directory is somebody else's.
 * path_close() frees it in both cases.
 */
int path_resolve(const char *path, uid_t uid, int flags, struct path *p);
void path_close(struct path *p);

/*
 * path_open - opens what the path leads to if it is (@mode) S_IFREG, S_IFIFO or S_IFCHR; nothing else is opened, even
 * if the name is given to something else meanwhile. A device does not become the controlling terminal, and a FIFO is
 * not waited for. Returns a descriptor or -errno.
 */
int path_open(const struct path *p, mode_t mode, int flags);

/*
 * path_read - opens a regular file that only its owner, who is root or @uid, can write to. NULL with errno; @why is set
 * if it is there and not to be trusted: "is not a file". path_read_at - the same for a path that is resolved already.
 */
FILE *path_read(const char *path, uid_t uid, const char **why);
FILE *path_read_at(const struct path *p, uid_t uid, const char **why);

#endif
