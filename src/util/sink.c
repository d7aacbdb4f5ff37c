/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/sink.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "util/clock.h"

/* A write that blocks, though there was some room, is interrupted after this time, repeatedly: the first alarm may
 * come before the write begins. */
#define WRITE_US 20000

static volatile sig_atomic_t late;

static void on_alarm(int signal_number)
{
	(void)signal_number;
	late = 1;
}

/* While armed, no write blocks for long. */
static void arm(struct sigaction *was, sigset_t *mask)
{
	const struct itimerval often = { { 0, WRITE_US }, { 0, WRITE_US } };
	struct sigaction sa = { .sa_handler = on_alarm };
	sigset_t set;

	late = 0;
	sigaction(SIGALRM, &sa, was);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, mask);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void disarm(const struct sigaction *was, const sigset_t *mask)
{
	const struct itimerval never = { 0 };

	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, was, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Returns 0 if the reader takes nothing now. A pipe with room takes PIPE_BUF bytes without blocking; a write to a terminal may
 * block. */
static ssize_t write_some(int fd, const char *text, size_t bytes, int milliseconds)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int ready = poll(&p, 1, milliseconds);
	ssize_t n;

	/* Where poll() is forbidden, the alarm has to suffice. */
	if (!ready || (ready < 0 && errno == EINTR))
		return 0;
	n = write(fd, text, bytes < PIPE_BUF ? bytes : PIPE_BUF);
	return n >= 0 ? n : errno == EINTR || errno == EAGAIN ? 0 : -errno;
}

/* Writes for @milliseconds, 0: until a write would block. */
static ssize_t write_all(int fd, const char *text, size_t bytes, int milliseconds)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until = now + milliseconds * 1000000ULL;
	ssize_t sent = 0, n;

	while ((size_t)sent < bytes) {
		n = write_some(fd, text + sent, bytes - sent, (until - now) / 1000000);
		if (n < 0)
			return n;
		sent += n;
		if (!milliseconds && (!n || late))
			break;
		if (milliseconds && (now = clock_ns(CLOCK_MONOTONIC)) >= until)
			break;
	}
	return sent;
}

ssize_t sink_write(int fd, const char *text, size_t bytes, int milliseconds)
{
	struct sigaction was;
	sigset_t mask;
	ssize_t n;

	arm(&was, &mask);
	n = write_all(fd, text, bytes, milliseconds);
	disarm(&was, &mask);
	return n;
}

static void forget_sent(struct sink *o)
{
	free(o->text);
	o->text = NULL;
	o->bytes = o->sent = 0;
}

static int send_for(struct sink *o, int milliseconds)
{
	ssize_t n;

	if (!sink_unsent(o))
		return 0;
	n = sink_write(o->fd, o->text + o->sent, o->bytes - o->sent, milliseconds);
	if (n > 0)
		o->sent += n;
	if (n < 0 || !sink_unsent(o))
		forget_sent(o);
	return n < 0 ? n : 0;
}

int sink_send(struct sink *o)
{
	return send_for(o, 0);
}

bool sink_wait(struct sink *o, int milliseconds)
{
	size_t before = o->sent;

	send_for(o, milliseconds);
	return o->sent > before;
}

void sink_finish(struct sink *o, int milliseconds)
{
	send_for(o, milliseconds);
	o->dropped += sink_unsent(o);
	forget_sent(o);
}

bool sink_ready(struct sink *o)
{
	sink_send(o); /* no event reports a terminal with little room; an error comes again */
	o->dropped += sink_unsent(o);
	return !sink_unsent(o);
}

static ssize_t append(void *arg, const char *text, size_t bytes)
{
	struct sink *o = arg;

	if (bytes > o->next_room - o->next_bytes) {
		size_t room = 2 * o->next_room + bytes;
		char *grown = realloc(o->next, room);

		if (!grown)
			return 0;
		o->next = grown;
		o->next_room = room;
	}
	memcpy(o->next + o->next_bytes, text, bytes);
	o->next_bytes += bytes;
	return bytes;
}

/* Not open_memstream(): whenever its text doubles, it copies the text and clears the new half, which takes too long for a
 * turn if the line has many threads. realloc() moves the pages of a long text. */
FILE *sink_begin(struct sink *o)
{
	if (!sink_ready(o)) {
		errno = 0; /* a write that was interrupted left EINTR */
		return NULL;
	}
	o->next_bytes = o->next_room = 0;
	o->stream = fopencookie(o, "w", (cookie_io_functions_t){ .write = append });
	return o->stream;
}

int sink_end(struct sink *o)
{
	bool failed = ferror(o->stream);
	int err = fclose(o->stream) || failed ? -ENOMEM : 0;

	o->stream = NULL;
	if (!err && o->next_bytes) {
		o->text = o->next;
		o->bytes = o->next_bytes;
		o->sent = 0;
	} else {
		free(o->next);
	}
	o->next = NULL;
	return err ? err : sink_send(o);
}

void sink_add(struct sink *o, int file, size_t bytes)
{
	char *grown = realloc(o->text, o->bytes + bytes);
	ssize_t got;

	if (!grown)
		return;
	o->text = grown;
	got = pread(file, grown + o->bytes, bytes, 0);
	if (got > 0)
		o->bytes += got;
	sink_send(o);
}

void sink_fini(struct sink *o)
{
	if (o->stream)
		fclose(o->stream);
	free(o->next);
	o->stream = NULL;
	o->next = NULL;
	forget_sent(o);
}
