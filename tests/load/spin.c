/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Busy threads, in user mode or in system calls.
 * usage: spin user|syscalls [SECONDS=5] [THREADS=1]   prints {"tids"} at start */
#include "load.h"

static uint64_t end_ns;
static int syscalls;

static void *spin(void *arg)
{
	(void)arg;
	while (now_ns() < end_ns) {
		for (volatile int i = 0; !syscalls && i < 100000; i++)
			;
		for (int i = 0; syscalls && i < 1000; i++)
			syscall(SYS_openat, -1, "/nowhere/at/all", 0);
		rest();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argument(argc, argv, 3, 1);

	syscalls = argc > 1 && !strcmp(argv[1], "syscalls");
	end_ns = now_ns() + argument(argc, argv, 2, 5) * SEC;
	printf("{\"tids\": [%d]}\n", getpid());
	fflush(stdout);
	for (int i = 1; i < threads; i++)
		start_thread(spin, NULL);
	spin(NULL);
	return 0;
}
