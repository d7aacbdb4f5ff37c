/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that block in a pipe, a nap and a futex, each hit by a 1 kHz timer signal, so that many of their switches
 * meet a pending signal.
 * usage: sigstorm [SECONDS=10]   prints {"tids"} at start */
#include <linux/futex.h>
#include <signal.h>

#include "load.h"

static uint64_t end_ns;
static volatile pid_t tids[3];

static void on_signal(int number)
{
	(void)number;
}

static void arm(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, MS }, { 0, MS } };
	timer_t timer;

	event._sigev_un._tid = my_tid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL)) {
		perror("timer");
		exit(1);
	}
}

static void *block(void *arg)
{
	int how = (long)arg, ends[2], word = 0;
	char byte;

	tids[how] = my_tid();
	arm();
	if (pipe(ends))
		exit(1);
	while (now_ns() < end_ns) {
		struct timespec nap = { 0, 5 * MS };

		switch (how) {
		case 0:
			if (read(ends[0], &byte, 1) < 0 && errno != EINTR)
				exit(1);
			break;
		case 1:
			nanosleep(&nap, NULL);
			break;
		default:
			syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &nap, NULL, 0);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal }; /* no SA_RESTART: they return */

	sigaction(SIGUSR1, &sa, NULL);
	end_ns = now_ns() + argument(argc, argv, 1, 10) * SEC;
	start_thread(block, (void *)1);
	start_thread(block, (void *)2);
	tids[0] = getpid();
	while (!tids[1] || !tids[2])
		sched_yield();
	printf("{\"tids\": [%d, %d, %d]}\n", tids[0], tids[1], tids[2]);
	fflush(stdout);
	block(NULL);
	return 0;
}
