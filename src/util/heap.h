/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_HEAP_H
#define SYSTOP_UTIL_HEAP_H

#include <stdint.h>

/*
 * Where malloc() takes large blocks from. Memory that the heap has kept needs no new pages, each of which costs the kernel half
 * a microsecond, or 25 under a hypervisor without nested paging. New memory from the kernel is already zero, so only the used
 * part of a large table takes any.
 */

/* heap_keep - call it before large blocks are allocated and freed in turn: keeps all freed memory, for which the kernel may
 * use large pages. */
void heap_keep(void);

/* heap_give_back - call it before large tables that stay are allocated: returns free memory to the kernel. */
void heap_give_back(void);

/* heap_work - keeps a little of what each refresh frees, as malloc() would by now. */
void heap_work(void);

/* heap_trim - once a minute, returns to the kernel what a peak left free between other blocks. @now: CLOCK_MONOTONIC ns */
void heap_trim(uint64_t now);

#endif
