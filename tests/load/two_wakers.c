/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sleeper that two threads, each pinned to a CPU of its own, wake alternately, ROW times in a row each.
 * usage: two_wakers [SECONDS=10] [ROW=10]   prints {"sleeper", "wakers"} at start */
#include "load.h"

static int there[2], row;
static uint64_t end;

struct waker {
	int cpu;
	char me;
	volatile pid_t tid;
	int turn[2];   /* a byte starts its turn */
	int answer[2]; /* a byte: the sleeper was awake */
} wakers[2];

static void *wake(void *arg)
{
	struct waker *w = arg, *other = &wakers[!w->me];
	char byte;

	pin(0, w->cpu);
	w->tid = my_tid();
	while (read(w->turn[0], &byte, 1) == 1 && now_ns() < end) {
		for (int i = 0; i < row; i++)
			if (write(there[1], &w->me, 1) != 1 || read(w->answer[0], &byte, 1) != 1)
				exit(1);
		if (write(other->turn[1], &byte, 1) != 1)
			exit(1);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	char who = 0;

	end = now_ns() + argument(argc, argv, 1, 10) * SEC;
	row = argument(argc, argv, 2, 10);
	if (pipe(there)) {
		perror("pipe");
		return 1;
	}
	for (int i = 0; i < 2; i++) {
		wakers[i].cpu = wakers[i].me = i;
		if (pipe(wakers[i].turn) || pipe(wakers[i].answer)) {
			perror("pipe");
			return 1;
		}
		start_thread(wake, &wakers[i]);
		while (!wakers[i].tid)
			sched_yield();
	}
	printf("{\"sleeper\": %d, \"wakers\": [%d, %d]}\n", getpid(), wakers[0].tid, wakers[1].tid);
	fflush(stdout);
	if (write(wakers[0].turn[1], &who, 1) != 1)
		return 1;
	while (read(there[0], &who, 1) == 1 && write(wakers[(int)who].answer[1], &who, 1) == 1)
		;
	return 0;
}
