/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sleeping threads, until standard input ends.
 * usage: threads [N=1000]   prints {"pid", "threads"} when all exist */
#include <limits.h>
#include <sys/resource.h>

#include "load.h"

static void *wait_forever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	long wanted = argument(argc, argv, 1, 1000), made = 1;
	pthread_attr_t attr;
	pthread_t t;
	char byte;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	while (made < wanted && !pthread_create(&t, &attr, wait_forever, NULL))
		made++;
	printf("{\"pid\": %d, \"threads\": %ld}\n", getpid(), made);
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
