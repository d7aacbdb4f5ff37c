/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A victim that always wants its CPU, and SCHED_FIFO threads that take it in turn: each once, for MS. They live for
 * another STAY ms.
 * usage: turns [THREADS=6] [MS=30] [CPU=1] [STAY=2000]   prints {"victim", "hogs"} at its end */
#include "load.h"

#define THREADS_MAX 64

static int cpu;
static uint64_t hold_ns, stay_ns;
static volatile pid_t tids[THREADS_MAX];

static void *hog(void *arg)
{
	struct sched_param param = { .sched_priority = 10 };

	*(volatile pid_t *)arg = my_tid();
	pin(0, cpu);
	sleep_ns(500 * MS);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param)) {
		fprintf(stderr, "turns: no SCHED_FIFO\n");
		exit(1);
	}
	sleep_ns(100 * MS); /* in their order from here on, as their timers expire together */
	spin_until(now_ns() + hold_ns);
	sleep_ns(stay_ns);
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argument(argc, argv, 1, 6);
	uint64_t end;

	hold_ns = argument(argc, argv, 2, 30) * MS;
	cpu = argument(argc, argv, 3, 1);
	stay_ns = argument(argc, argv, 4, 2000) * MS;
	if (nr > THREADS_MAX)
		return 1;
	pin(0, cpu);
	for (int i = 0; i < nr; i++)
		start_thread(hog, (void *)&tids[i]);
	for (end = now_ns() + 2 * SEC; now_ns() < end;)
		;
	printf("{\"victim\": %d, \"hogs\": [", getpid());
	for (int i = 0; i < nr; i++)
		printf("%s%d", i ? ", " : "", tids[i]);
	printf("]}\n");
	return 0;
}
