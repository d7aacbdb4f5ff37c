/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_STANDARD_H
#define SYSTOP_UTIL_STANDARD_H

#include <stdbool.h>

/* standard_open - call first: standard input, output and error that are closed fail when they are used, and are no file
 * that is opened later. standard_closed - whether this one was. */
void standard_open(void);
bool standard_closed(int fd);

#endif
