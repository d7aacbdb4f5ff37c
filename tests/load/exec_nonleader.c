/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that is not its process's leader executes a program, and becomes the leader.
 * usage: exec_nonleader PROGRAM ARGS...   prints {"pid", "tid"} before */
#include "load.h"

static char **args;

static void *run(void *arg)
{
	(void)arg;
	printf("{\"pid\": %d, \"tid\": %d}\n", getpid(), my_tid());
	fflush(stdout);
	sleep_ns(1500 * MS);
	execvp(args[0], args);
	perror(args[0]);
	exit(1);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: exec_nonleader PROGRAM ARGS...\n");
		return 2;
	}
	args = argv + 1;
	start_thread(run, NULL);
	for (;;)
		pause();
}
