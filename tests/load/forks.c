/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short-lived processes or threads, RATE per second for SECONDS; processes compute for US each.
 * usage: forks processes|threads [RATE=5000] [SECONDS=10] [US=0]   prints {"pid", "made"} at the end */
#include <sys/wait.h>

#include "load.h"

static void *nothing(void *arg)
{
	return arg;
}

static void one_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, nothing, NULL))
		exit(1);
	pthread_join(t, NULL);
}

static void one_process(uint64_t work_ns)
{
	pid_t child = vfork();

	if (!child) {
		for (uint64_t end = now_ns() + work_ns; now_ns() < end;)
			;
		_exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		exit(1);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 && !strcmp(argv[1], "threads");
	double rate = argument(argc, argv, 2, 5000), seconds = argument(argc, argv, 3, 10);
	uint64_t work_ns = argument(argc, argv, 4, 0) * 1000;
	uint64_t began = now_ns();
	long made = 0, wanted = rate * seconds;

	while (made < wanted) {
		uint64_t due = began + made / rate * SEC, now = now_ns();

		if (due > now)
			sleep_ns(due - now);
		if (threads)
			one_thread();
		else
			one_process(work_ns);
		made++;
	}
	printf("{\"pid\": %d, \"made\": %ld, \"ns\": %llu}\n", getpid(), made,
	       (unsigned long long)(now_ns() - began));
	return 0;
}
