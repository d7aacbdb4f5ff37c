/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_SINK_H
#define SYSTOP_UTIL_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A terminal or pipe whose reader may stop reading: nothing here waits for it. At most one text is under way, a
 * frame of the screen or a refresh; what comes meanwhile is dropped whole, and counted. O_NONBLOCK is not used: it
 * would be set for everybody who has the terminal open, a shell too.
 *
 * Initialise with zeroes and .fd.
 */
struct sink {
	int fd;
	char *text;       /* under way */
	size_t bytes, sent;
	FILE *stream;     /* of the next one */
	char *next;
	size_t next_bytes;
	uint64_t dropped; /* since the start */
};

void sink_fini(struct sink *o);

/* sink_ready - whether the next text can be sent. If not, it is counted as dropped. */
bool sink_ready(struct sink *o);

/* sink_begin - where to write the next text to, which sink_end() sends. NULL: sink_ready() says no, errno is 0;
 * or there is no memory: ENOMEM. */
FILE *sink_begin(struct sink *o);
int sink_end(struct sink *o); /* 0 or -errno */

/* sink_add - behind what is under way, for what must not be missing there. 0 or -errno. */
int sink_add(struct sink *o, const char *text, size_t bytes);

/* sink_send - as much as the reader takes now. 0 or -errno. */
int sink_send(struct sink *o);

static inline bool sink_unsent(const struct sink *o)
{
	return o->sent < o->bytes;
}

/* sink_finish - as sink_send(), for not longer than this: what is not sent then never will be. */
void sink_finish(struct sink *o, int milliseconds);

/* sink_write - all of a text, if that takes not longer than this. Returns the bytes that were written, or -errno.
 * Async-signal-safe. */
ssize_t sink_write(int fd, const char *text, size_t bytes, int milliseconds);

#endif
