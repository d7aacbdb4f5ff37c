/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_CPULIST_H
#define SYSTOP_UTIL_CPULIST_H

#include <stdbool.h>

/* cpulist_next - the next range of a list of CPUs or nodes in the kernel's form, "0-3,7"; moves @at behind it.
 * Returns false at the end, or if it is no list. */
bool cpulist_next(const char **at, int *first, int *last);

#endif
