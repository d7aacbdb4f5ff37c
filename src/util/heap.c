/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/heap.h"

#include <malloc.h>

#define KEEP_BYTES (32 << 20)   /* the highest threshold that malloc() accepts */
#define TABLE_BYTES (128 << 10) /* its initial threshold */
#define WORK_BYTES (8 << 20)    /* about what it would have raised it to, after blocks as large as the kernel's types */

/* Blocks of @bytes and more come from the kernel. */
static void take_from_kernel(int bytes)
{
	mallopt(M_MMAP_THRESHOLD, bytes);
	mallopt(M_TRIM_THRESHOLD, 2 * bytes);
}

void heap_keep(void)
{
	take_from_kernel(KEEP_BYTES);
}

void heap_give_back(void)
{
	take_from_kernel(TABLE_BYTES);
	malloc_trim(0);
}

void heap_work(void)
{
	take_from_kernel(WORK_BYTES);
}
