/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread asleep in 100 ms naps that is moved between two CPUs all the time.
 * usage: migrate [SECONDS=5] [OTHERS=2]   prints {"tid", "moves", "delay_ns": its wait for CPUs by
 * /proc/PID/schedstat} at the end and sleeps for another second.
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

static uint64_t delay_ns(pid_t tid)
{
	unsigned long long ran, waited;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu %llu", &ran, &waited) != 2) {
		fprintf(stderr, "migrate: no schedstat\n");
		exit(1);
	}
	fclose(f);
	return waited;
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
	printf("{\"tid\": %d, \"moves\": %d, \"delay_ns\": %llu}\n", sleeper_tid, moves,
	       (unsigned long long)delay_ns(sleeper_tid));
	fflush(stdout);
	sleep_ns(SEC);
	return 0;
}
