/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_COMPLAIN_H
#define SYSTOP_APP_COMPLAIN_H

#include "util/fail.h"

/* Messages of a running systop, to standard error and the log. Standard error may be a terminal that nobody reads: a
 * write waits only for a moment. */

/* complain - @fmt: fit for a terminal, without "systop: " and newline. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* complain_of_failure - as failure_print(). */
enum exit_status complain_of_failure(void);

#endif
