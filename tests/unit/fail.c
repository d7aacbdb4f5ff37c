/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/fail.h"

/* Prints the kept failure and compares. */
static void assert_printed(enum exit_status status, const char *want)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	assert_int_equal(failure_print(to), status);
	fclose(to);
	assert_string_equal(text, want);
	free(text);
}

TEST(fail, nothing_recorded_prints_nothing)
{
	assert_printed(EXIT_STATUS_OK, "");
}

TEST(fail, returns_its_code)
{
	assert_int_equal(fail(-ENOENT, EXIT_STATUS_TARGET, "no cgroup matches \"%s\"", "api"),
			 -ENOENT);
	assert_printed(EXIT_STATUS_TARGET, "systop: no cgroup matches \"api\"\n");
}

TEST(fail, why_and_fix_follow)
{
	fail(-EPERM, EXIT_STATUS_PERMISSION, "cannot load");
	fail_fix("sudo systop %d", 1);
	fail_why("missing %s", "CAP_BPF");
	assert_printed(EXIT_STATUS_PERMISSION, "systop: cannot load\n"
					       "  why: missing CAP_BPF\n"
					       "  fix: sudo systop 1\n");
}

TEST(fail, first_one_is_kept_with_its_reasons)
{
	assert_int_equal(fail(-ENOENT, EXIT_STATUS_KERNEL, "no BTF"), -ENOENT);
	fail_why("first");
	assert_int_equal(fail(-EIO, EXIT_STATUS_RUNTIME, "load failed"), -EIO);
	fail_why("second");
	fail_fix("second");
	assert_printed(EXIT_STATUS_KERNEL, "systop: no BTF\n  why: first\n");
}

TEST(fail, reasons_without_failure_are_dropped)
{
	fail_why("of nothing");
	fail_fix("of nothing");
	fail(-EIO, EXIT_STATUS_RUNTIME, "later");
	assert_printed(EXIT_STATUS_RUNTIME, "systop: later\n");
}

TEST(fail, printing_forgets)
{
	fail(-EIO, EXIT_STATUS_RUNTIME, "once");
	fail_why("w");
	assert_printed(EXIT_STATUS_RUNTIME, "systop: once\n  why: w\n");
	fail_why("late");
	assert_printed(EXIT_STATUS_OK, "");
}

TEST(fail, long_text_is_whole)
{
	char name[2000], want[2100];

	snprintf(name, sizeof(name), "%01999d", 0);
	fail(-EINVAL, EXIT_STATUS_USAGE, "bad option \"%s\"", name);
	snprintf(want, sizeof(want), "systop: bad option \"%s\"\n", name);
	assert_printed(EXIT_STATUS_USAGE, want);
}

int main(void)
{
	RUN_TESTS(
		cmocka_unit_test(fail_nothing_recorded_prints_nothing),
		cmocka_unit_test(fail_returns_its_code), cmocka_unit_test(fail_why_and_fix_follow),
		cmocka_unit_test(fail_first_one_is_kept_with_its_reasons),
		cmocka_unit_test(fail_reasons_without_failure_are_dropped),
		cmocka_unit_test(fail_printing_forgets), cmocka_unit_test(fail_long_text_is_whole));
}
