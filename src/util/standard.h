/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_STANDARD_H
#define SYSTOP_UTIL_STANDARD_H

#include <stdbool.h>

/* standard_open - call first: standard input, output and error that are closed fail when they are used, and are no file
 * that is opened later. What was printed to standard output and did not arrive is complained of at the exit, whose status
 * is 1 then. standard_closed - whether this one was. */
void standard_open(void);
bool standard_closed(int fd);

#endif
