// SPDX-License-Identifier: GPL-2.0-or-later
/* Attaches the empty programs, says "ready", and keeps them until a signal comes. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "empty.skel.h"

int main(void)
{
	struct empty_bpf *skel;
	sigset_t set;
	int signal_number;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);

	skel = empty_bpf__open_and_load();
	if (!skel) {
		perror("empty: load");
		return 1;
	}
	if (empty_bpf__attach(skel)) {
		perror("empty: attach");
		empty_bpf__destroy(skel);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	sigwait(&set, &signal_number);
	empty_bpf__destroy(skel);
	return 0;
}
