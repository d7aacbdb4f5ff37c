/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread asleep in 100 ms naps that is moved between two CPUs all the time.
 * usage: migrate [SECONDS=5] [OTHERS=2]   prints {"tid", "moves"} at the end and sleeps for another second.
 * OTHERS: busy threads that keep the two runqueues non-empty */
#include "load.h"

static volatile pid_t sleeper_tid;
static volatile int stop;

static void *sleeper(void *arg)
{
	(void)arg;
	sleeper_tid = my_tid();
	while (!stop)
		sleep_ns(100 * MS);
	sleep_ns(2 * SEC);
	return NULL;
}

static void *busy(void *arg)
{
	pin(0, (long)arg % 2);
	while (!stop) {
		spin_until(now_ns() + MS);
		sleep_ns(MS);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + argument(argc, argv, 1, 5) * SEC;
	int others = argument(argc, argv, 2, 2), moves = 0;

	start_thread(sleeper, NULL);
	while (!sleeper_tid)
		sched_yield();
	for (long i = 0; i < others; i++)
		start_thread(busy, (void *)i);
	while (now_ns() < end) {
		pin(sleeper_tid, moves++ % 2);
		sleep_ns(7 * MS);
	}
	stop = 1;
	printf("{\"tid\": %d, \"moves\": %d}\n", sleeper_tid, moves);
	fflush(stdout);
	sleep_ns(SEC);
	return 0;
}
