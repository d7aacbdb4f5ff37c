/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "tui/widget/bar.h"

TEST(bar, cells_by_largest_remainder)
{
	static const struct {
		unsigned long long parts[4];
		int width, want[4];
	} cases[] = {
		{ { 1, 1, 1, 1 }, 8, { 2, 2, 2, 2 } },
		{ { 0, 0, 0, 7 }, 5, { 0, 0, 0, 5 } },
		{ { 50, 30, 20, 0 }, 10, { 5, 3, 2, 0 } },
		{ { 66, 34, 0, 0 }, 10, { 7, 3, 0, 0 } },
		{ { 999, 1, 0, 0 }, 10, { 10, 0, 0, 0 } }, /* less than half a cell gets none */
		{ { 96, 4, 0, 0 }, 10, { 10, 0, 0, 0 } },
		{ { 94, 6, 0, 0 }, 10, { 9, 1, 0, 0 } },
		{ { 0, 0, 0, 0 }, 10, { 0, 0, 0, 0 } },	   /* nothing known: nothing drawn */
		{ { 1, 2, 3, 4 }, 0, { 0, 0, 0, 0 } },
		{ { 1000000000000, 3000000000000, 0, 0 }, 4, { 1, 3, 0, 0 } },
	};

	FOR_EACH (c, cases) {
		int cells[4];

		bar_cells(c->parts, 4, c->width, cells);
		for (int i = 0; i < 4; i++)
			assert_int_equal(cells[i], c->want[i]);
	}
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(bar_cells_by_largest_remainder));
}
