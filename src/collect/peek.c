/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/peek.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "helper/helper.h"

/* Output of the iterator that is not yet sent. */
struct input {
	int fd;
	bool failed;
	size_t nr;
	uint8_t bytes[65536];
};

/* Reads until @want bytes are there. False: end of the output, or it failed. */
static bool fill(struct input *in, size_t want)
{
	while (in->nr < want) {
		ssize_t n = read(in->fd, in->bytes + in->nr, sizeof(in->bytes) - in->nr);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		in->failed = n < 0;
		if (n <= 0)
			return false;
		in->nr += n;
	}
	return true;
}

static void drop(struct input *in, size_t bytes)
{
	in->nr -= bytes;
	memmove(in->bytes, in->bytes + bytes, in->nr);
}

static bool next_record(struct input *in, struct peek_answer *a)
{
	size_t bytes;

	if (!fill(in, sizeof(a->record)))
		return false;
	memcpy(&a->record, in->bytes, sizeof(a->record));
	if (a->record.nr_user > STACK_USER_MAX || a->record.nr_kernel > STACK_KERNEL_MAX)
		return false;
	bytes = (a->record.nr_user + a->record.nr_kernel) * sizeof(a->frames[0]);
	drop(in, sizeof(a->record));
	if (!fill(in, bytes))
		return false;
	memcpy(a->frames, in->bytes, bytes);
	drop(in, bytes);
	return true;
}

/* Sends the answers, and waits until they are read if they exceed the socket's buffer. False: the iterator did not give all of
 * them. */
static bool pass(int socket, int link)
{
	static struct input in;
	static struct peek_answer a;

	in.nr = 0;
	in.fd = bpf_iter_create(link);
	if (in.fd < 0)
		return false;
	a.last = 0;
	while (next_record(&in, &a))
		helper_send(socket, &a, offsetof(struct peek_answer, frames) +
			    (a.record.nr_user + a.record.nr_kernel) * sizeof(a.frames[0]), -1);
	close(in.fd);
	a.last = 1;
	if (!in.failed)
		helper_send(socket, &a, offsetof(struct peek_answer, frames), -1);
	return !in.failed;
}

void peek_run(int socket)
{
	struct peek_request r;
	bool whole;
	int link;

	while (helper_receive(socket, &r, sizeof(r), &link) == sizeof(r)) {
		if (link < 0)
			continue;
		whole = pass(socket, link);
		close(link);
		if (!whole)
			break; /* another helper is asked for what is left */
	}
}
