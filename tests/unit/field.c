/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "model/field.h"
#include "util/text.h"

TEST(field, find_knows_names_and_titles)
{
	static const struct {
		const char *name;
		enum field_id want;
	} cases[] = {
		{ "run_ns", FIELD_RUN },
		{ "RUN_NS", FIELD_RUN },
		{ "run%", FIELD_RUN },
		{ "RUNQ%", FIELD_RUNQ },
		{ "thr%", FIELD_THROTTLED },
		{ "d%", FIELD_D },
		{ "runq_p99_ns", FIELD_RUNQ_P99 },
		{ "migrations", FIELD_MIGRATIONS },
		{ "mig/s", FIELD_MIGRATIONS },
		{ "", FIELD_COUNT },
		{ "run", FIELD_RUN },
		{ "CPU", FIELD_RUN },
		{ "usr", FIELD_USER },
		{ "runq.p99", FIELD_RUNQ_P99 },
		{ "rq-max", FIELD_RUNQ_MAX },
		{ "vcs", FIELD_VOLUNTARY },
		{ "involuntary", FIELD_INVOLUNTARY },
		{ "runq.p9", FIELD_COUNT },
		{ "runq.p999", FIELD_COUNT },
		{ "ru", FIELD_COUNT },
		{ "run_ns ", FIELD_COUNT },
		{ "tid", FIELD_COUNT },
	};

	FOR_EACH (c, cases)
		assert_int_equal(field_find(c->name), c->want);
}

TEST(field, every_field_is_found_by_both)
{
	for (enum field_id f = 0; f < FIELD_COUNT; f++) {
		assert_int_equal(field_find(fields[f].name), f);
		assert_int_equal(field_find(fields[f].title), f);
	}
}

/* See format_value(); and a title that did not fit would be cut. */
TEST(field, columns_hold_title_and_values)
{
	for (enum field_id f = 0; f < FIELD_COUNT; f++) {
		assert_true(fields[f].width >= (fields[f].unit == UNIT_SHARE ? 5 : 6));
		assert_true(text_width(fields[f].title) <= fields[f].width);
		assert_true(fields[f].help[0] != '\0');
	}
}

/* --json gives ns where a name says so, and nothing else does. */
TEST(field, names_say_their_unit)
{
	for (enum field_id f = 0; f < FIELD_COUNT; f++) {
		const char *suffix = strrchr(fields[f].name, '_');
		bool says_ns = suffix && !strcmp(suffix, "_ns");

		assert_int_equal(says_ns, fields[f].kind != FIELD_KIND_COUNT);
	}
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(field_find_knows_names_and_titles),
		  cmocka_unit_test(field_every_field_is_found_by_both),
		  cmocka_unit_test(field_columns_hold_title_and_values),
		  cmocka_unit_test(field_names_say_their_unit));
}
