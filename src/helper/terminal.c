/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Time to wait for a terminal that takes no output. */
#define WRITE_MS 200

int terminal_open(int fd)
{
	char path[32];

	/* The starter may open files that the sender of the descriptor may not. */
	if (!isatty(fd))
		return -1;
	/* O_NONBLOCK on the passed descriptor would affect the shell's, too. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static bool same_settings(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && !memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc));
}

static void write_all(int fd, const char *text, size_t len)
{
	while (len) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		ssize_t n = poll(&p, 1, WRITE_MS) == 1 ? write(fd, text, len) : -1;

		if (n <= 0)
			return;
		text += n;
		len -= n;
	}
}

void terminal_restore(const struct terminal *t, int fd)
{
	struct termios now;

	write_all(fd, t->leave, t->len < sizeof(t->leave) ? t->len : sizeof(t->leave));
	/* A shell that was quicker has set its own by now. */
	if (!tcgetattr(fd, &now) && same_settings(&now, &t->ours))
		tcsetattr(fd, TCSANOW, &t->before);
}
