/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_STREAM_H
#define SYSTOP_UTIL_STREAM_H

#include <stdio.h>

/* stream_of - an open file as a stream, from its beginning. @fd stays the caller's: fclose() closes a duplicate.
 * @mode: as for fopen(), but nothing is truncated. NULL with errno. */
FILE *stream_of(int fd, const char *mode);

#endif
