/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A victim that naps 0.1 ms, and a SCHED_FIFO thread that holds their common CPU for MS.
 * usage: fifo_hog [MS=200] [CPU=1]
 * prints {"victim", "hog", "held_ns": how long the hog had it, by its clock, "delay_ns": the victim's longest wait,
 * by /proc/PID/schedstat, "nap_ns": the longest nap including its wait} */
#include <fcntl.h>

#include "load.h"

static int cpu;
static uint64_t hold_ns, held_ns;
static volatile pid_t hog_tid;

static void *hog(void *arg)
{
	struct sched_param param = { .sched_priority = 10 };
	uint64_t began;

	(void)arg;
	hog_tid = my_tid();
	pin(0, cpu);
	sleep_ns(500 * MS);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param)) {
		fprintf(stderr, "fifo_hog: no SCHED_FIFO\n");
		exit(1);
	}
	began = now_ns();
	spin_until(began + hold_ns);
	held_ns = now_ns() - began;
	return NULL;
}

/* Total time that this thread was runnable without a CPU. */
static uint64_t delay_ns(int fd)
{
	unsigned long long ran, waited;
	char line[128] = "";

	if (pread(fd, line, sizeof(line) - 1, 0) <= 0 || sscanf(line, "%llu %llu", &ran, &waited) != 2) {
		fprintf(stderr, "fifo_hog: no schedstat\n");
		exit(1);
	}
	return waited;
}

int main(int argc, char **argv)
{
	uint64_t nap = 0, delay = 0, delay_before, last, end;
	int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);

	hold_ns = argument(argc, argv, 1, 200) * MS;
	cpu = argument(argc, argv, 2, 1);
	pin(0, cpu);
	start_thread(hog, NULL);
	delay_before = delay_ns(schedstat);
	last = now_ns();
	end = last + 2 * SEC;
	while (last < end) {
		uint64_t now, waited;

		sleep_ns(MS / 10);
		now = now_ns();
		waited = delay_ns(schedstat);
		if (now - last > nap)
			nap = now - last;
		if (waited - delay_before > delay)
			delay = waited - delay_before;
		delay_before = waited;
		last = now;
	}
	printf("{\"victim\": %d, \"hog\": %d, \"held_ns\": %llu, \"delay_ns\": %llu, \"nap_ns\": %llu}\n", getpid(),
	       hog_tid, (unsigned long long)held_ns, (unsigned long long)delay, (unsigned long long)nap);
	return 0;
}
