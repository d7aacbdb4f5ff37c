/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "helper/message.h"

/* Interval of CPU time. A blocked process is woken by its socket. */
#define LOOK_MS 100

static struct {
	int socket;
	volatile unsigned int looks_max;
	const void *late;            /* answer to a request that exceeds its budget */
	size_t late_bytes;           /* 0: there is no such answer */
	volatile sig_atomic_t looks; /* in this request */
} watch;

static void on_timer(int signal_number)
{
	struct pollfd p = { .fd = watch.socket };
	int err = errno;

	(void)signal_number;
	if (poll(&p, 1, 0) == 1 && p.revents)
		_exit(EXIT_FAILURE);
	if (watch.looks_max && (unsigned int)++watch.looks > watch.looks_max) {
		if (watch.late_bytes)
			helper_send(watch.socket, watch.late, watch.late_bytes, -1);
		_exit(EXIT_FAILURE);
	}
	errno = err;
}

int watch_start(int socket, unsigned int request_ms)
{
	const struct itimerval every = { { 0, LOOK_MS * 1000 }, { 0, LOOK_MS * 1000 } };
	struct sigaction sa = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	sigset_t set;

	watch.socket = socket;
	watch.looks_max = request_ms / LOOK_MS;
	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	return sigaction(SIGPROF, &sa, NULL) || sigprocmask(SIG_UNBLOCK, &set, NULL) ||
	       setitimer(ITIMER_PROF, &every, NULL);
}

void watch_request(void)
{
	watch.looks = 0;
}

void watch_budget(unsigned int ms, const void *late, size_t bytes)
{
	watch.looks_max = 0; /* a timer signal between these lines must not count */
	watch.late = late;
	watch.late_bytes = bytes;
	watch.looks_max = ms / LOOK_MS;
}
