/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_CPULIST_H
#define SYSTOP_UTIL_CPULIST_H

#include <stdbool.h>

/* cpulist_next - the next range of a list of CPUs or nodes as the kernel writes it, "0-3,7"; @at goes behind it.
 * Returns false at the end, and at what is no list. */
bool cpulist_next(const char **at, int *first, int *last);

#endif
