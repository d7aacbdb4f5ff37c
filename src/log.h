/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_LOG_H
#define SYSTOP_LOG_H

#include <stddef.h>

/*
 * --log: what there is to say while the screen is open, and a crash. A helper has the file, as a file system may not
 * answer; what it does not take is left out. Without --log all of these do nothing.
 */

/* log_open - @role: of log_run(). 0, or -errno with fail(). */
int log_open(int role, const char *path);
void log_close(void); /* what was said before is in the file, if that takes no longer than a moment */

/* log_line - one line, with the time. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* log_text - as it is. Async-signal-safe. log_sync - waits a moment until the file has all of it. The same. */
void log_text(const char *text, size_t bytes);
void log_sync(void);

/* log_run - the helper: opens the file as the invoker, and adds to it. */
void log_run(int socket);

#endif
