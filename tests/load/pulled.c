/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A victim that always wants a CPU, and a SCHED_FIFO thread on CPU 0 that has it put behind itself for 40 ms, and then taken
 * over by CPU 1, for 20 ms, 20 times.
 * usage: pulled   prints {"victim"} at the end */
#include "load.h"

static volatile pid_t victim_tid;
static volatile int stop;

static void *victim(void *arg)
{
	pin(0, 1);
	victim_tid = my_tid();
	while (!stop)
		;
	return arg;
}

int main(void)
{
	struct sched_param param = { .sched_priority = 10 };

	start_thread(victim, NULL);
	while (!victim_tid)
		sched_yield();
	pin(0, 0);
	sleep_ns(300 * MS);
	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		fprintf(stderr, "pulled: no SCHED_FIFO\n");
		return 1;
	}
	for (int i = 0; i < 20; i++) {
		pin(victim_tid, 0);
		spin_until(now_ns() + 40 * MS);
		pin(victim_tid, 1);
		sleep_ns(20 * MS);
	}
	printf("{\"victim\": %d}\n", victim_tid);
	stop = 1;
	return 0;
}
