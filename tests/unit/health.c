/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/health.h"

#include <malloc.h>
#include <stdio.h>

#include "unit.h"

#define LINES 300

/* A line is appended to its section, also when the array grows and moves. */
TEST(health, sections_stay_together)
{
	static const char *const sections[] = { "Programs", "Helpers", "Rights" };
	struct health h = { 0 };
	char expected[16];

	mallopt(M_PERTURB, 0xa5); /* freed memory is overwritten, so that a read of it is noticed */
	for (int i = 0; i < LINES; i++)
		health_add(&h, sections[i % 3], "name", HEALTH_ON, "%d", i);
	mallopt(M_PERTURB, 0);
	assert_int_equal(h.nr, LINES);
	for (int i = 0; i < LINES; i++) {
		int section = i / (LINES / 3);

		assert_string_equal(h.lines[i].section, sections[section]);
		snprintf(expected, sizeof(expected), "%d", i % (LINES / 3) * 3 + section);
		assert_string_equal(h.lines[i].text, expected);
	}
	health_fini(&h);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(health_sections_stay_together));
}
