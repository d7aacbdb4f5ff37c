/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process in D for MS milliseconds: vfork() with a child that sleeps for that time.
 * usage: vfork_d [MS=200]   prints {"tid", "d_ns"} afterwards, and waits for another second */
#include <sys/wait.h>

#include "load.h"

int main(int argc, char **argv)
{
	/* volatile: a child of vfork() runs on this stack */
	volatile uint64_t ns = argument(argc, argv, 1, 200) * MS;
	uint64_t began;
	pid_t child;

	sleep_ns(500 * MS);
	began = now_ns();
	child = vfork();
	if (!child) {
		sleep_ns(ns);
		_exit(0);
	}
	printf("{\"tid\": %d, \"d_ns\": %llu}\n", getpid(), (unsigned long long)(now_ns() - began));
	fflush(stdout);
	waitpid(child, NULL, 0);
	sleep_ns(SEC);
	return 0;
}
