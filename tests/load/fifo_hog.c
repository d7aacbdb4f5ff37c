/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A victim that naps 0.1 ms, and a SCHED_FIFO thread that holds their common CPU for MS.
 * usage: fifo_hog [MS=200] [CPU=1]   prints {"victim", "hog", "wait_ns"} */
#include "load.h"

static int cpu;
static uint64_t hold_ns;
static volatile pid_t hog_tid;

static void *hog(void *arg)
{
	struct sched_param param = { .sched_priority = 10 };

	(void)arg;
	hog_tid = my_tid();
	pin(0, cpu);
	sleep_ns(500 * MS);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param)) {
		fprintf(stderr, "fifo_hog: no SCHED_FIFO\n");
		exit(1);
	}
	spin_until(now_ns() + hold_ns);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t longest = 0, last, end;

	hold_ns = argument(argc, argv, 1, 200) * MS;
	cpu = argument(argc, argv, 2, 1);
	pin(0, cpu);
	start_thread(hog, NULL);
	last = now_ns();
	end = last + 2 * SEC;
	while (last < end) {
		uint64_t now;

		sleep_ns(MS / 10);
		now = now_ns();
		if (now - last > longest)
			longest = now - last;
		last = now;
	}
	printf("{\"victim\": %d, \"hog\": %d, \"wait_ns\": %llu}\n", getpid(), hog_tid,
	       (unsigned long long)longest);
	return 0;
}
