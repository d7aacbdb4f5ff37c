/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/stream.h"

#include <errno.h>
#include <unistd.h>

FILE *stream_of(int fd, const char *mode)
{
	int copy = dup(fd), err;
	FILE *f;

	if (copy < 0)
		return NULL;
	f = fdopen(copy, mode);
	if (f) {
		rewind(f);
		return f;
	}
	err = errno;
	close(copy);
	errno = err;
	return NULL;
}
