/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that stays in the kernel for long, and one that it keeps off the CPU: poll() of 18,000 descriptors, and naps
 * of 0.7 ms, both on one CPU. The end of a nap preempts only at the end of the system call.
 * usage: poller [SECONDS=60] [CPU=1]   prints {"poller", "ticker"} */
#include "load.h"

#include <poll.h>
#include <sys/resource.h>

static int cpu;

static void *ticker(void *arg)
{
	*(volatile pid_t *)arg = my_tid();
	pin(0, cpu);
	for (;;)
		sleep_ns(700 * 1000);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + argument(argc, argv, 1, 60) * SEC;
	static struct pollfd fds[18000];
	volatile pid_t tid = 0;
	struct rlimit limit;
	unsigned int nr;
	int pipes[2];

	cpu = argument(argc, argv, 2, 1);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	nr = limit.rlim_cur < 18000 ? limit.rlim_cur : 18000;
	if (pipe(pipes))
		return 1;
	for (unsigned int i = 0; i < nr; i++)
		fds[i] = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
	pin(0, cpu);
	start_thread(ticker, (void *)&tid);
	while (!tid)
		sched_yield();
	printf("{\"poller\": %d, \"ticker\": %d}\n", getpid(), tid);
	fflush(stdout);
	while (now_ns() < end)
		poll(fds, nr, 0);
	return 0;
}
