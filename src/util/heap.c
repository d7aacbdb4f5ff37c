/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define KEEP_BYTES (32 << 20)   /* the highest threshold that malloc() accepts */
#define TABLE_BYTES (128 << 10) /* its initial threshold */
#define WORK_BYTES (8 << 20)    /* about its threshold after blocks as large as the kernel's types */

#define TRIM_NS 60000000000ULL

#define LARGE_PAGE (2UL << 20)
#define ROOM_BYTES (16UL << 20) /* for the kernel's types: libbpf reads the file, and copies it */

static struct {
	char *at;
	size_t bytes;
} room;

/* Blocks of @bytes and more come from the kernel. */
static void take_from_kernel(int bytes)
{
	mallopt(M_MMAP_THRESHOLD, bytes);
	mallopt(M_TRIM_THRESHOLD, 2 * bytes);
}

void heap_keep(void)
{
	char *block;

	take_from_kernel(KEEP_BYTES);
	block = malloc(ROOM_BYTES);
	if (block) {
		room.at = (char *)(((uintptr_t)block + LARGE_PAGE - 1) & -LARGE_PAGE);
		room.bytes = ROOM_BYTES - LARGE_PAGE;
		madvise(room.at, room.bytes, MADV_HUGEPAGE);
	}
	free(block); /* the heap keeps it */
}

void heap_give_back(void)
{
	take_from_kernel(TABLE_BYTES);
	malloc_trim(0);
	if (room.bytes)
		madvise(room.at, room.bytes, MADV_NOHUGEPAGE); /* else the kernel would fill up large pages there again */
	room.bytes = 0;
}

void heap_work(void)
{
	take_from_kernel(WORK_BYTES);
}

void heap_trim(uint64_t now)
{
	static uint64_t trimmed_at;

	if (trimmed_at && now - trimmed_at < TRIM_NS)
		return;
	if (trimmed_at)
		malloc_trim(0);
	trimmed_at = now;
}
