/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_LOG_H
#define SYSTOP_APP_LOG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * --log: what there is to say while the screen is open, and a crash; -v: the steps of the start and what libbpf says, too.
 * A helper has the file, as a file system may not answer; what it does not take is left out. Without these options all
 * of these do nothing.
 */

/* log_open - @role: of log_run(). @verbose: -v. 0, or -errno with fail(). */
int log_open(int role, const char *path, bool verbose);
void log_close(void); /* what was said before is in the file, if that takes no longer than a moment */

/* log_line - one line, with the time. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* log_text - as it is. Async-signal-safe. log_sync - waits a moment until the file has all of it. The same. */
void log_text(const char *text, size_t bytes);
void log_sync(void);

/* log_step - a step of the start, with the time since the log was opened. log_detail - text of any length, as it is. Both
 * only with -v. log_started - from now on nothing waits for the file. */
void log_step(const char *step);
void log_detail(const char *text, size_t bytes);
void log_started(void);

/* log_run - the helper: opens the file as the invoker, and adds to it. */
void log_run(int socket);

#endif
