/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_FILE_H
#define SYSTOP_UTIL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* file_write - all of @bytes bytes to @at in a file. 0 or -errno. */
int file_write(int fd, uint64_t at, const void *from, size_t bytes);

/* file_seal - a file in memory (MFD_ALLOW_SEALING) is not changed any more, by nobody. 0 or -errno. file_sealed - whether it
 * is one that was: reading it waits for nobody, and its size stays. */
int file_seal(int fd);
bool file_sealed(int fd);

#endif
