/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool closed[3];

/* Has room for all that one option prints: it is written at the end, where the cause of an error is known. */
static char printed[1 << 17];

/* Output may be lost: to a full disk, or a closed descriptor. */
static void check_printed(void)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return;
	/* If an earlier write failed, its cause is no longer known. */
	fprintf(stderr, "systop: cannot write the output%s%s\n", closed[STDOUT_FILENO] || errno ? ": " : "",
		closed[STDOUT_FILENO] ? "standard output is closed" : errno ? strerror(errno) : "");
	_exit(EXIT_FAILURE);
}

void standard_open(void)
{
	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		closed[fd] = true;
		/* open() takes the lowest free number. The access mode is the wrong one, so that using it fails. */
		if (open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			abort();
	}
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, printed, _IOFBF, sizeof(printed));
	if (atexit(check_printed))
		abort();
}

bool standard_closed(int fd)
{
	return closed[fd];
}
