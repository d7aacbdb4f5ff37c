/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/file.h"

#include <errno.h>
#include <unistd.h>

int file_write(int fd, uint64_t at, const void *from, size_t bytes)
{
	while (bytes) {
		ssize_t n = pwrite(fd, from, bytes, at);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		from = (const char *)from + n;
		bytes -= n;
	}
	return 0;
}
