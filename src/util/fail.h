/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_FAIL_H
#define SYSTOP_UTIL_FAIL_H

#include <stdio.h>

/* Exit status of the program, as documented in systop(8). */
enum exit_status {
	EXIT_STATUS_OK = 0,
	EXIT_STATUS_RUNTIME = 1,
	EXIT_STATUS_USAGE = 2,
	EXIT_STATUS_KERNEL = 3,     /* kernel, BTF or lockdown prevents systop from running */
	EXIT_STATUS_PERMISSION = 4,
	EXIT_STATUS_TARGET = 5,     /* cgroup, process or user not found, or gone */
};

/*
 * fail - records what failed, once, at the point that knows, and returns @err so that the caller can `return
 * fail(...)`. Nothing is printed before failure_print(): the screen may be open. The first failure is kept; later ones
 * are consequences.
 * @err: -errno, not 0   @status: exit status of the program
 * @fmt: "WHAT failed: CAUSE" without "systop: " and newline; foreign text passed through text_safe
 */
int fail(int err, enum exit_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* fail_why, fail_fix - one checked fact and one command to paste, for the failure just recorded. fail_fix() returns the @err
 * of its fail(), too. */
void fail_why(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int fail_fix(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* failure_take - takes the kept failure, if any, and forgets it; failure_fini() frees its texts. Returns its exit status. */
struct failure {
	enum exit_status status; /* EXIT_STATUS_OK: none */
	char *what, *why, *fix;  /* NULL: none, or out of memory */
};

enum exit_status failure_take(struct failure *f);
void failure_fini(struct failure *f);

/* failure_print - writes the kept failure (systop: WHAT / why: / fix:), if any, and forgets it.
 * Returns its exit status, EXIT_STATUS_OK if there was none. */
enum exit_status failure_print(FILE *to);

#endif
