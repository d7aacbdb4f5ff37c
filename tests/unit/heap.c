/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/heap.h"

#define SEC 1000000000ULL
#define BLOCKS 20000
#define BLOCK_BYTES 1000

static int64_t resident(void)
{
	long long size, pages;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lld %lld", &size, &pages), 2);
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

/* A block above them keeps malloc() from returning what is free at the end of the heap. */
TEST(heap, trim_returns_what_a_peak_left_free)
{
	static void *blocks[BLOCKS];
	int64_t before = resident(), all = BLOCKS * BLOCK_BYTES;
	void *above;

	heap_trim(1);
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(BLOCK_BYTES);
		assert_non_null(blocks[i]);
		memset(blocks[i], 1, BLOCK_BYTES);
	}
	above = malloc(100 << 10);
	assert_non_null(above);
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	heap_trim(60 * SEC);
	assert_within(resident(), before + all, INT64_MAX);
	heap_trim(60 * SEC + 1);
	assert_within(resident(), 0, before + all / 4);
	free(above);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(heap_trim_returns_what_a_peak_left_free));
}
