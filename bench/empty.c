// SPDX-License-Identifier: GPL-2.0-or-later
/* Attaches the empty programs, prints "ready", and keeps them until a signal comes. usage: empty [irq] */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "empty.skel.h"

int main(int argc, char **argv)
{
	struct empty_bpf *skel;
	sigset_t set;
	int signal_number, irq = argc > 1 && !strcmp(argv[1], "irq");

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);

	skel = empty_bpf__open();
	if (skel) {
		bpf_program__set_autoload(skel->progs.empty_switch, !irq);
		bpf_program__set_autoload(skel->progs.empty_waking, !irq);
		bpf_program__set_autoload(skel->progs.empty_softirq_entry, irq);
		bpf_program__set_autoload(skel->progs.empty_softirq_exit, irq);
	}
	if (!skel || empty_bpf__load(skel)) {
		perror("empty: load");
		empty_bpf__destroy(skel);
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
