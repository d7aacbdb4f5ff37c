/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The helper that reads command lines. It can hang on a process. */
#include <stddef.h>

#include "collect/commands.h"
#include "helper/helper.h"
#include "helper/proto.h"
#include "proc/process.h"

static void answer(int socket, struct commands_answer *a)
{
	helper_send(socket, a, offsetof(struct commands_answer, text) + a->len, -1);
}

/* Sends the answers, and waits until they are read if they exceed the socket's buffer. */
static void read_all(int socket, const struct commands_request *r)
{
	static struct commands_answer a;

	for (uint32_t i = 0; i < r->nr; i++) {
		bool cut;
		int got = process_command_read(r->of[i].tgid, r->of[i].worker, a.text, sizeof(a.text), &cut);

		a.at = i;
		a.err = got < 0 ? got : 0;
		a.len = got < 0 ? 0 : got;
		a.cut = cut;
		answer(socket, &a);
	}
	a = (struct commands_answer){ .at = r->nr };
	answer(socket, &a);
}

void commands_run(int socket)
{
	struct commands_request r;

	while (helper_receive(socket, &r, sizeof(r), NULL) == sizeof(r))
		if (r.nr <= COMMANDS_BATCH)
			read_all(socket, &r);
}
