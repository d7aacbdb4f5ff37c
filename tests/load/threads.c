/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sleeping threads, until standard input ends.
 * usage: threads [N=1000] [PROCESSES=1]   prints {"pid", "threads"} when all exist */
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "load.h"

static void *wait_forever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Makes threads until this process has as many. Returns how many it has. */
static long make_threads(long wanted)
{
	pthread_attr_t attr;
	pthread_t t;
	long made = 1;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	while (made < wanted && !pthread_create(&t, &attr, wait_forever, NULL))
		made++;
	return made;
}

/* A child with as many threads, which ends with its parent. Returns how many it has. */
static long make_child(long wanted)
{
	long made = 0;
	int ends[2];
	pid_t child;

	if (pipe(ends))
		return 0;
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(0);
		made = make_threads(wanted);
		if (write(ends[1], &made, sizeof(made)) == sizeof(made))
			wait_forever(NULL);
		_exit(1);
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &made, sizeof(made)) != sizeof(made))
		made = 0;
	close(ends[0]);
	return made;
}

int main(int argc, char **argv)
{
	long wanted = argument(argc, argv, 1, 1000), processes = argument(argc, argv, 2, 1), made = 0;
	char byte;

	for (long i = 1; i < processes; i++)
		made += make_child(wanted / processes);
	made += make_threads(wanted - made);
	printf("{\"pid\": %d, \"threads\": %ld}\n", getpid(), made);
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
