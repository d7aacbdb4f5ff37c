/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "util/hash.h"
#include "util/map.h"

#define KEYS 20000
#define RUN_MAX 1000 /* of a map that is at most half full; some 50 are usual */

/* Used entries without a gap: a search may visit all of them. */
static size_t longest_run(const struct map *m)
{
	size_t longest = 0, run = 0;

	for (size_t i = 0; i < m->room; i++) {
		run = m->entries[i].key ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* The inverse of an odd factor: each step doubles the bits that are right. */
static uint64_t inverse(uint64_t factor)
{
	uint64_t x = factor;

	for (int i = 0; i < 5; i++)
		x *= 2 - factor * x;
	return x;
}

/* Multiplied by the factor, they differ only in bits that a slot does not depend on. */
static uint64_t chosen_key(uint64_t i)
{
	return ((i & 0x3fff) << 18 | i >> 14 << 50 | 1) * inverse(0x9e3779b97f4a7c15ULL);
}

TEST(map, keys_that_share_a_slot_cannot_be_chosen)
{
	struct map m = { 0 };

	for (uint64_t i = 0; i < KEYS; i++)
		assert_int_equal(map_put(&m, chosen_key(i), &m), 0);
	assert_int_equal(m.nr, KEYS);
	assert_within(longest_run(&m), 1, RUN_MAX);
	map_fini(&m);
}

TEST(map, keys_in_a_row_have_different_slots)
{
	static const int shifts[] = { 0, 4, 12, 32, 44 };

	FOR_EACH(shift, shifts) {
		struct map m = { 0 };

		for (uint64_t i = 1; i <= KEYS; i++)
			assert_int_equal(map_put(&m, i << *shift, &m), 0);
		assert_within(longest_run(&m), 1, RUN_MAX);
		map_fini(&m);
	}
}

TEST(hash, bytes_that_share_a_hash_cannot_be_chosen)
{
	struct map m = { 0 };

	for (uint64_t i = 1; i <= KEYS; i++) {
		uint64_t words[] = { i * 0x9e3779b97f4a7c15ULL, i };

		assert_int_equal(map_put(&m, hash_16(words) | 1, &m), 0);
	}
	assert_int_equal(m.nr, KEYS);
	map_fini(&m);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(map_keys_that_share_a_slot_cannot_be_chosen),
		  cmocka_unit_test(map_keys_in_a_row_have_different_slots),
		  cmocka_unit_test(hash_bytes_that_share_a_hash_cannot_be_chosen));
}
