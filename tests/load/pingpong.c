/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two threads that wake each other through pipes, pinned to one CPU.
 * usage: pingpong [SECONDS=10] [CPU=1]   prints {"tids"} at start */
#include "load.h"

static int there[2], back[2], cpu;
static volatile pid_t echo_tid;

static void *echo(void *arg)
{
	char byte;

	(void)arg;
	echo_tid = my_tid();
	pin(0, cpu);
	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + argument(argc, argv, 1, 10) * SEC;
	char byte = 0;

	cpu = argument(argc, argv, 2, 1);
	pin(0, cpu);
	if (pipe(there) || pipe(back)) {
		perror("pipe");
		return 1;
	}
	start_thread(echo, NULL);
	while (!echo_tid)
		sched_yield();
	printf("{\"tids\": [%d, %d]}\n", getpid(), echo_tid);
	fflush(stdout);
	while (now_ns() < end)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
	return 0;
}
