/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_STANDARD_H
#define SYSTOP_UTIL_STANDARD_H

#include <stdbool.h>

/* standard_open - call first: makes closed standard input, output and error fail when used, and keeps files opened
 * later from getting their numbers. At exit, lost standard output is reported, and the exit status becomes 1.
 * standard_closed - whether this descriptor was closed. */
void standard_open(void);
bool standard_closed(int fd);

#endif
