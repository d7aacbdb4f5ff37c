/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "export/redact.h"
#include "model/tick.h"
#include "sym/names.h"

/* The key of the algorithm's published test values. */
static const struct redact key = { { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL } };

/* SipHash-2-4 of the bytes 01 to 0f, by another program, which has the published value for 00 to 0e. */
TEST(redact, is_keyed_and_stable)
{
	struct redact one, other;
	char a[REDACT_HASH], b[REDACT_HASH];

	assert_int_equal(redact_init(&one), 0);
	assert_int_equal(redact_init(&other), 0);
	assert_string_equal(redact_name(&one, "nginx", 16, a), redact_name(&one, "nginx", 16, b));
	assert_string_not_equal(redact_name(&one, "nginx", 16, a), redact_name(&other, "nginx", 16, b));
	assert_string_not_equal(redact_name(&one, "nginx", 16, a), redact_name(&one, "nginy", 16, b));
	assert_int_equal(strlen(a), REDACT_HASH - 1);
	assert_string_equal(redact_name(&key, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f", 15, a), "9ce838c68b5d");
	assert_string_equal(redact_name(NULL, "nginx", 16, a), "nginx");
	assert_string_equal(redact_name(&one, "", 16, a), "");
}

TEST(redact, keeps_the_shape_of_paths)
{
	char buf[64], hash[REDACT_HASH], want[64];

	assert_string_equal(redact_path(&key, "/", buf, sizeof(buf)), "/");
	assert_string_equal(redact_module(&key, "[kernel]", buf, sizeof(buf)), "[kernel]");
	redact_path(&key, "/bin/ls", want, sizeof(want));
	assert_string_equal(redact_module(&key, "/bin/ls", buf, sizeof(buf)), want);
	redact_name(&key, "[web].service", 13, hash); /* a unit or container can be called so */
	assert_string_equal(redact_path(&key, "[web].service", buf, sizeof(buf)), hash);
	assert_string_equal(redact_path(&key, "", buf, sizeof(buf)), "");
	snprintf(want, sizeof(want), "/%s/", redact_name(&key, "web", 3, hash));
	assert_string_equal(redact_path(&key, "/web/", buf, sizeof(buf)), want);
	snprintf(want, sizeof(want), "%s//", redact_name(&key, "web", 3, hash));
	assert_string_equal(redact_path(&key, "web//", buf, sizeof(buf)), want);
	snprintf(want, sizeof(want), "cpu:/%s", redact_name(&key, "web", 3, hash));
	assert_string_equal(redact_path(&key, "cpu:/web", buf, sizeof(buf)), want);
	assert_string_equal(redact_path(&key, "cpu:/", buf, sizeof(buf)), "cpu:/");
	redact_name(&key, "web:", 4, hash); /* a unit can be called so */
	assert_string_equal(redact_path(&key, "web:", buf, sizeof(buf)), hash);
	assert_string_equal(redact_path(NULL, "/web/api", buf, sizeof(buf)), "/web/api");
	/* too long: cut, never past the end */
	for (size_t size = 1; size < sizeof(buf); size++) {
		memset(buf, 'x', sizeof(buf));
		redact_path(&key, "cpu:/a/b/c/d/e/f/g/h", buf, size);
		assert_true(strnlen(buf, size) < size);
		assert_true(buf[size] == 'x');
	}
}

TEST(redact, keeps_kernel_threads_and_functions)
{
	struct life kernel = { .comm = "kswapd0", .flags = PF_KTHREAD }, user = { .comm = "kswapd0" };
	struct symbol named = { "main", "nginx", SYMBOL_USER, true, true }, nameless = { "nginx`fn_70c00", "nginx", SYMBOL_USER, false, true },
		      nowhere = { "[unknown]", "[unknown]", SYMBOL_USER, false, false };
	char buf[64], hash[REDACT_HASH], want[64];

	assert_string_equal(redact_comm(&key, &kernel, buf), "kswapd0");
	assert_string_equal(redact_comm(&key, &user, buf), redact_name(&key, "kswapd0", 7, hash));
	assert_string_equal(redact_function(&key, &named, buf, sizeof(buf)), "main");
	assert_string_equal(redact_function(&key, &nowhere, buf, sizeof(buf)), "[unknown]");
	snprintf(want, sizeof(want), "%s`fn_70c00", redact_name(&key, "nginx", 5, hash));
	assert_string_equal(redact_function(&key, &nameless, buf, sizeof(buf)), want);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(redact_is_keyed_and_stable), cmocka_unit_test(redact_keeps_the_shape_of_paths),
		  cmocka_unit_test(redact_keeps_kernel_threads_and_functions));
}
