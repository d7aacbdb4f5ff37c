/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_UNIT_H
#define SYSTOP_TESTS_UNIT_H

/* Needed by every test in tests/unit: cmocka, with the headers that it omits, and names of cases. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* fail is systop's own; a skipped case would print as a failed one (see tests/run). */
#undef fail
#undef skip
/* cmocka's calls the fail() that is in scope. */
#undef fail_msg
#define fail_msg(text, ...) (print_error("ERROR: " text "\n", ##__VA_ARGS__), _fail(__FILE__, __LINE__))

/* assert_within - fails unless @least <= @value <= @most. cmocka 2 has two such macros, by sign, and 1 has another one. */
#define assert_within(value, least, most) check_within(value, least, most, #value, __FILE__, __LINE__)

static inline void check_within(int64_t value, int64_t least, int64_t most, const char *what, const char *file, int line)
{
	if (value >= least && value <= most)
		return;
	print_error("ERROR: %s is %lld, not %lld to %lld\n", what, (long long)value, (long long)least, (long long)most);
	_fail(file, line);
}

/* TEST(hist, quantile_of_empty_is_unknown) { ... } */
#define TEST(module, name) static void module##_##name(void **unused_state __attribute__((unused)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define FOR_EACH(item, array)                                               \
	for (size_t item##_i = 0; item##_i < ARRAY_SIZE(array); item##_i++) \
		for (const __typeof__((array)[0]) *item = &(array)[item##_i]; item; item = NULL)

/* RUN_TESTS(a, b, ...) - main()'s body: runs the cases in this order. */
#define RUN_TESTS(...)                                             \
	do {                                                       \
		const struct CMUnitTest cases[] = { __VA_ARGS__ }; \
		return cmocka_run_group_tests(cases, NULL, NULL);  \
	} while (0)

#endif
