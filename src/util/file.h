/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_FILE_H
#define SYSTOP_UTIL_FILE_H

#include <stddef.h>
#include <stdint.h>

/* file_write - all of @bytes bytes to @at in a file. 0 or -errno. */
int file_write(int fd, uint64_t at, const void *from, size_t bytes);

#endif
