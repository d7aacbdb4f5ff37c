/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/link.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helper/proto.h"
#include "helper/worker.h"

bool link_helpers(const struct worker *open, const struct worker *symbols, uint32_t linked[2])
{
	struct symbols_request to = { .what = SYMBOLS_PEER };
	struct open_request from = { .what = OPEN_PEER };
	int pair[2];
	bool sent;

	if (open->helper.socket < 0 || symbols->helper.socket < 0)
		return false;
	if (linked[0] == open->helper.id && linked[1] == symbols->helper.id)
		return true;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return false;
	sent = helper_send(open->helper.socket, &from, sizeof(from), pair[0]) > 0 &&
	       helper_send(symbols->helper.socket, &to, sizeof(to), pair[1]) > 0;
	close(pair[0]);
	close(pair[1]);
	if (sent) {
		linked[0] = open->helper.id;
		linked[1] = symbols->helper.id;
	}
	return sent;
}

bool link_lost(const struct worker *symbols, const uint32_t linked[2], int err)
{
	return linked[1] != symbols->helper.id || err == -EPIPE || err == -EAGAIN || err == -ETOOMANYREFS;
}
