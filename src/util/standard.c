/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/standard.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static bool closed[3];

void standard_open(void)
{
	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		closed[fd] = true;
		/* The lowest number that is free. In the wrong direction, so that using it fails. */
		if (open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			abort();
	}
}

bool standard_closed(int fd)
{
	return closed[fd];
}
