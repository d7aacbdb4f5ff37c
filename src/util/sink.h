/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_SINK_H
#define SYSTOP_UTIL_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A terminal or pipe whose reader may stop reading: nothing here blocks. At most one text is in flight, a frame of the
 * screen or a refresh; texts that come meanwhile are dropped whole, and counted. O_NONBLOCK is not used: it would
 * affect everyone who has the terminal open, including the shell.
 *
 * Initialise with zeroes and .fd.
 */
struct sink {
	int fd;
	char *text;       /* in flight */
	size_t bytes, sent;
	FILE *stream;     /* of the next text */
	char *next;
	size_t next_bytes, next_room;
	uint64_t dropped; /* since the start */
};

void sink_fini(struct sink *o);

/* sink_ready - whether the next text can be sent. If not, it is counted as dropped. */
bool sink_ready(struct sink *o);

/* sink_begin - returns a stream for the next text, which sink_end() sends. NULL with errno: 0: the previous text is not sent
 * yet (sink_ready()); ENOMEM. */
FILE *sink_begin(struct sink *o);
int sink_end(struct sink *o); /* 0 or -errno */

/* sink_add - appends the first @bytes of a file to the text in flight, for output that must not be dropped. */
void sink_add(struct sink *o, int file, size_t bytes);

/* sink_send - sends as much as the reader takes now. 0 or -errno. */
int sink_send(struct sink *o);

static inline bool sink_unsent(const struct sink *o)
{
	return o->sent < o->bytes;
}

/* sink_wait - as sink_send(), but waits for the reader for up to @milliseconds. Returns whether the reader took some, but not
 * all. sink_finish - the same, and drops the rest, which is counted. */
bool sink_wait(struct sink *o, int milliseconds);
void sink_finish(struct sink *o, int milliseconds);

/* sink_write - writes a text, for up to @milliseconds. Returns the bytes written, or -errno. Async-signal-safe. */
ssize_t sink_write(int fd, const char *text, size_t bytes, int milliseconds);

#endif
