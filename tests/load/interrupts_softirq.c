/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On one CPU: a thread whose sending is mostly its own softirqs, one that receives, and a SCHED_FIFO thread that
 * preempts it every US, also within softirqs where they are preemptible, sends to a receiver of its own, and wakes a
 * sleeper.
 * usage: interrupts_softirq [US=2000]
 * prints {"waker", "sleeper", "receiver", "other": the waker's receiver} at start, and runs until it is killed */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "load.h"

static volatile pid_t waker_tid, sleeper_tid;
static uint64_t every_ns;
static int wake[2];

/* Two ends, and the reader of one of them. */
struct link {
	int from, to;
	struct sockaddr_in address;
	volatile pid_t tid;
} links[2];

static void must(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(1);
}

static void link_open(struct link *l)
{
	socklen_t size = sizeof(l->address);

	l->from = socket(AF_INET, SOCK_DGRAM, 0);
	l->to = socket(AF_INET, SOCK_DGRAM, 0);
	l->address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	must(bind(l->to, (struct sockaddr *)&l->address, size), "bind");
	must(getsockname(l->to, (struct sockaddr *)&l->address, &size), "getsockname");
}

static void link_send(const struct link *l)
{
	sendto(l->from, "x", 1, MSG_DONTWAIT, (const struct sockaddr *)&l->address, sizeof(l->address));
}

static void *receive(void *arg)
{
	struct link *l = arg;
	char byte;

	pin(0, 0);
	l->tid = my_tid();
	while (recv(l->to, &byte, 1, 0) >= 0)
		;
	return NULL;
}

static void *sleeper(void *arg)
{
	char byte;

	(void)arg;
	pin(0, 0);
	sleeper_tid = my_tid();
	while (read(wake[0], &byte, 1) == 1)
		;
	return NULL;
}

static void *waker(void *arg)
{
	struct sched_param param = { .sched_priority = 60 }; /* above the kernel's timer threads */

	(void)arg;
	pin(0, 0);
	must(pthread_setschedparam(pthread_self(), SCHED_FIFO, &param), "SCHED_FIFO");
	waker_tid = my_tid();
	for (;;) {
		sleep_ns(every_ns);
		must(write(wake[1], "x", 1) != 1, "write");
		link_send(&links[1]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	every_ns = argument(argc, argv, 1, 2000) * 1000;
	must(pipe(wake), "pipe");
	for (int i = 0; i < 2; i++) {
		link_open(&links[i]);
		start_thread(receive, &links[i]);
	}
	start_thread(sleeper, NULL);
	start_thread(waker, NULL);
	while (!waker_tid || !sleeper_tid || !links[0].tid || !links[1].tid)
		sched_yield();
	printf("{\"waker\": %d, \"sleeper\": %d, \"receiver\": %d, \"other\": %d}\n", waker_tid, sleeper_tid, links[0].tid,
	       links[1].tid);
	fflush(stdout);
	pin(0, 0);
	for (;;)
		link_send(&links[0]);
}
