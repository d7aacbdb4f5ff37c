/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Datagrams over the loopback, as fast as possible.
 * usage: udp [SECONDS=10]   prints {"tids"} at start */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "load.h"

static int in, out;
static uint64_t end_ns;
static volatile pid_t receiver;

static void *receive(void *arg)
{
	char buf[64];

	(void)arg;
	receiver = my_tid();
	while (recv(in, buf, sizeof(buf), 0) > 0)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);

	end_ns = now_ns() + argument(argc, argv, 1, 10) * SEC;
	in = socket(AF_INET, SOCK_DGRAM, 0);
	out = socket(AF_INET, SOCK_DGRAM, 0);
	if (in < 0 || out < 0 || bind(in, (struct sockaddr *)&at, sizeof(at)) ||
	    getsockname(in, (struct sockaddr *)&at, &len)) {
		perror("udp");
		return 1;
	}
	start_thread(receive, NULL);
	while (!receiver)
		sched_yield();
	printf("{\"tids\": [%d, %d]}\n", getpid(), receiver);
	fflush(stdout);
	while (now_ns() < end_ns) {
		for (int i = 0; i < 100; i++)
			sendto(out, "x", 1, 0, (struct sockaddr *)&at, sizeof(at));
		rest();
	}
	return 0;
}
