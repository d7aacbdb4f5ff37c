/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_LOG_H
#define SYSTOP_APP_LOG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * --log: messages while the screen is open, and a crash; -v adds the steps of the start and libbpf's messages. A helper
 * writes the file, as a file system may block; lines that it does not take in time are dropped. Without these options
 * all functions do nothing.
 */

/* log_open - @role: of log_run(). @verbose: -v. 0, or -errno with fail(). */
int log_open(int role, const char *path, bool verbose);
void log_close(void); /* waits a moment at most until previous lines are in the file; reports it if some are not */

/* log_line - one line, with the time. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* log_text - unchanged text. Async-signal-safe.
 * log_sync - waits a moment at most until the file has all of it. 0, or -errno: it lacks some. Async-signal-safe. */
void log_text(const char *text, size_t bytes);
int log_sync(void);

/* log_step - a step of the start, with the time since the log was opened. Only with -v.
 * log_detail - text of any length, unchanged. Only with -v.
 * log_started - from now on nothing waits for the file. */
void log_step(const char *step);
void log_detail(const char *text, size_t bytes);
void log_started(void);

/* log_run - the helper: opens the file as the invoker and appends to it. */
void log_run(int socket);

#endif
