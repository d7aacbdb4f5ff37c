/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process in D for MS milliseconds: vfork() with a child that sleeps for that time. So are all of its other threads.
 * usage: vfork_d [MS=200] [OTHERS=0]   prints {"tid", "d_ns"} afterwards, and waits for another second */
#include <sys/wait.h>

#include "load.h"

static volatile uint64_t others_ns;

static void *other(void *arg)
{
	if (!vfork()) {
		sleep_ns(others_ns);
		_exit(0);
	}
	return arg;
}

int main(int argc, char **argv)
{
	/* volatile: a child of vfork() runs on this stack */
	volatile uint64_t ns = argument(argc, argv, 1, 200) * MS;
	uint64_t began;
	pid_t child;

	others_ns = ns;
	for (int i = argument(argc, argv, 2, 0); i > 0; i--)
		start_thread(other, NULL);
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
