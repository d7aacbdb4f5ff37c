/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/format.h"

#define US   1000ULL
#define MS   (1000 * US)
#define SEC  (1000 * MS)
#define MIN  (60 * SEC)
#define HOUR (60 * MIN)
#define DAY  (24 * HOUR)

struct value_case {
	uint64_t v;
	uint64_t interval_ns;
	const char *want;
};

static void check_values(enum unit unit, const struct value_case *cases, size_t nr)
{
	char buf[16];

	for (size_t i = 0; i < nr; i++) {
		const struct value_case *c = &cases[i];

		assert_ptr_equal(format_value(buf, sizeof(buf), unit, c->v, c->interval_ns), buf);
		if (strcmp(buf, c->want))
			print_message("case %zu: value %llu\n", i, (unsigned long long)c->v);
		assert_string_equal(buf, c->want);
	}
}

TEST(format, none)
{
	static const struct value_case cases[] = {
		{ 0, 0, "0" },
		{ 20411, 0, "20411" },
		{ 4194304, 0, "4194304" },
		{ 999999999999999, 0, "999999999999999" },
		{ 1000000000000000, 0, "1.0P" },
		{ UINT64_MAX, 0, "-" },
	};

	check_values(UNIT_NONE, cases, ARRAY_SIZE(cases));
}

TEST(format, count)
{
	static const struct value_case cases[] = {
		{ 0, 0, "0" },
		{ 9, 0, "9" },
		{ 999, 0, "999" },
		{ 1000, 0, "1.0K" },
		{ 1249, 0, "1.2K" },
		{ 1250, 0, "1.3K" },
		{ 9949, 0, "9.9K" },
		{ 9950, 0, "10K" },
		{ 34499999, 0, "34M" },
		{ 999499, 0, "999K" },
		{ 999500, 0, "1.0M" },
		{ 999999999, 0, "1.0G" },
		{ 1000000000000, 0, "1.0T" },
		{ UINT64_MAX - 1, 0, "18E" },
		{ UINT64_MAX, 0, "-" },
	};

	check_values(UNIT_COUNT, cases, ARRAY_SIZE(cases));
}

TEST(format, ns)
{
	static const struct value_case cases[] = {
		{ 0, 0, "0" },
		{ 1, 0, "1ns" },
		{ 610, 0, "610ns" },
		{ 999, 0, "999ns" },
		{ 1000, 0, "1.0us" },
		{ 18 * US, 0, "18us" },
		{ 999499, 0, "999us" },
		{ 999500, 0, "1.0ms" },
		{ 2400 * US, 0, "2.4ms" },
		{ 41 * MS, 0, "41ms" },
		{ 1200 * MS, 0, "1.2s" },
		{ 9949 * MS, 0, "9.9s" },
		{ 9950 * MS, 0, "10s" },
		{ 59499 * MS, 0, "59s" },
		{ 59500 * MS, 0, "1m00s" },
		{ 3 * MIN + 20 * SEC, 0, "3m20s" },
		{ HOUR - 1, 0, "1h00m" },
		{ 5 * HOUR + 7 * MIN, 0, "5h07m" },
		{ 24 * HOUR - SEC, 0, "23h59m" },
		{ DAY, 0, "1d00h" },
		{ 9 * DAY + 23 * HOUR, 0, "9d23h" },
		{ 12 * DAY, 0, "12d" },
		{ 999 * DAY, 0, "999d" },
		{ 1000 * DAY, 0, "2y" },
		{ UINT64_MAX - 1, 0, "584y" },
		{ UINT64_MAX, 0, "-" },
	};

	check_values(UNIT_NS, cases, ARRAY_SIZE(cases));
}

TEST(format, bytes)
{
	static const struct value_case cases[] = {
		{ 0, 0, "0B" },
		{ 512, 0, "512B" },
		{ 999, 0, "999B" },
		{ 1000, 0, "1.0K" },
		{ 1024, 0, "1.0K" },
		{ 38 << 10, 0, "38K" },
		{ 1258291, 0, "1.2M" },
		{ 4ULL << 30, 0, "4.0G" },
		{ (1ULL << 60) - 1, 0, "1.0E" },
		{ UINT64_MAX - 1, 0, "16E" },
		{ UINT64_MAX, 0, "-" },
	};

	check_values(UNIT_BYTES, cases, ARRAY_SIZE(cases));
}

TEST(format, share)
{
	static const struct value_case cases[] = {
		{ 0, SEC, "0.0" },
		{ 702 * MS, SEC, "70.2" },
		{ 1404 * MS, 2 * SEC, "70.2" },
		{ SEC, SEC, "100" },
		{ 999499999, SEC, "99.9" },
		{ 999600000, SEC, "100" },
		{ 999 * SEC / 1000, SEC, "99.9" },
		{ 7 * SEC / 2, SEC, "350" },
		{ 1, 60 * SEC, "0.0" },
		{ UINT64_MAX - 1, SEC, "1.8T" },
		{ SEC, 0, "-" },
		{ UINT64_MAX, SEC, "-" },
	};

	check_values(UNIT_SHARE, cases, ARRAY_SIZE(cases));
}

TEST(format, rate)
{
	static const struct value_case cases[] = {
		{ 0, SEC, "0" },	  { 1, 60 * SEC, "0.0" },  { 1, 2 * SEC, "0.5" },
		{ 4, SEC, "4.0" },	  { 10, SEC, "10" },	   { 999, SEC, "999" },
		{ 500, SEC / 2, "1.0K" }, { 18200, SEC, "18.2K" }, { 182000, 10 * SEC, "18.2K" },
		{ 999949, SEC, "1.0M" },  { 182000, SEC, "182K" }, { 5, 0, "-" },
		{ UINT64_MAX, SEC, "-" },
	};

	check_values(UNIT_RATE, cases, ARRAY_SIZE(cases));
}

/* For every magnitude and interval: never wider than a column. */
TEST(format, at_most_six_characters)
{
	static const uint64_t intervals[] = { 1, SEC / 10, SEC, 60 * SEC, UINT64_MAX };
	char buf[16];

	for (enum unit unit = UNIT_COUNT; unit <= UNIT_RATE; unit++)
		for (int bit = 0; bit < 64; bit++)
			for (int around = -2; around <= 2; around++)
				FOR_EACH (interval, intervals) {
					format_value(buf, sizeof(buf), unit, (1ULL << bit) + around,
						     *interval);
					assert_within(strlen(buf), 1, 6);
				}
}

TEST(format, small_buffer_is_terminated)
{
	char buf[4] = "zzz";

	format_value(buf, sizeof(buf), UNIT_NONE, 20411, 0);
	assert_string_equal(buf, "204");
}

TEST(format, parse_duration)
{
	static const struct {
		const char *s;
		int err;
		uint64_t want;
	} cases[] = {
		{ "1", 0, SEC },
		{ "0.5", 0, SEC / 2 },
		{ ".5", 0, SEC / 2 },
		{ "2.", 0, 2 * SEC },
		{ "500ms", 0, 500 * MS },
		{ "2s", 0, 2 * SEC },
		{ "1.5s", 0, 1500 * MS },
		{ "250000us", 0, 250 * MS },
		{ "1m", 0, MIN },
		{ "0.5m", 0, 30 * SEC },
		{ "0.1000000001", 0, 100 * MS },
		{ "0.123456789", 0, 123456789 },
		{ "60", 0, MIN },
		{ "0.1", 0, 100 * MS },
		{ "0.09", -ERANGE, 0 },
		{ "0", -ERANGE, 0 },
		{ "61", -ERANGE, 0 },
		{ "1h", -ERANGE, 0 },
		{ "99999999999999999999", -ERANGE, 0 },
		{ "18446744074", -ERANGE, 0 },
		{ "18446744073.9", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ ".", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "1S", -EINVAL, 0 },
		{ "1sec", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1,5", -EINVAL, 0 },
		{ "1.2.3", -EINVAL, 0 },
		{ "inf", -EINVAL, 0 },
		{ "nan", -EINVAL, 0 },
	};

	FOR_EACH (c, cases) {
		uint64_t ns = 0;
		int err = parse_duration(c->s, 100 * MS, MIN, &ns);

		if (err != c->err || ns != c->want)
			print_message("\"%s\"\n", c->s);
		assert_int_equal(err, c->err);
		assert_int_equal(ns, c->want);
	}
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(format_none), cmocka_unit_test(format_count),
		  cmocka_unit_test(format_ns), cmocka_unit_test(format_bytes),
		  cmocka_unit_test(format_share), cmocka_unit_test(format_rate),
		  cmocka_unit_test(format_at_most_six_characters),
		  cmocka_unit_test(format_small_buffer_is_terminated),
		  cmocka_unit_test(format_parse_duration));
}
