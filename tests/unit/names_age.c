/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that no frame has any more are freed a while later, whatever happens to others meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sym/names_internal.h"
#include "unit.h"

#define S 1000000000ULL

static uint64_t now;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	*ts = (struct timespec){ .tv_sec = (time_t)(now / S), .tv_nsec = (long)(now % S) };
	return 0;
}

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct names));
	now = 1000 * S;
	return !*state;
}

static int tear_down(void **state)
{
	age_fini(*state);
	free(*state);
	return 0;
}

static void show(struct names *n, struct frame *f, const char *name)
{
	const struct symbol *s = symbol_hold(n, name, "module", 0, SYMBOL_USER, NAME_NONE);

	assert_non_null(s);
	symbol_change(n, f, s);
}

static size_t kept_after(struct names *n, uint64_t seconds)
{
	now += seconds * S;
	age_work(n);
	return n->symbols_by_name.nr;
}

/* A placeholder is replaced by the function's name. */
static void names_age_replaced(void **state)
{
	struct names *n = *state;
	struct frame f = { 0 };

	show(n, &f, "module+0x10");
	show(n, &f, "alpha");
	assert_int_equal(kept_after(n, 119), 2);
	assert_int_equal(kept_after(n, 1), 1);
	assert_string_equal(f.symbol->name, "alpha");
}

static void names_age_shown_by_two_frames(void **state)
{
	struct names *n = *state;
	struct frame one = { 0 }, two = { 0 };

	show(n, &one, "alpha");
	show(n, &two, "alpha");
	show(n, &one, "beta");
	assert_int_equal(kept_after(n, 1000), 2);
	show(n, &two, "beta");
	assert_int_equal(kept_after(n, 119), 2);
	assert_int_equal(kept_after(n, 1), 1);
}

/* It is freed neither while a frame has it again nor too early afterwards. */
static void names_age_back_in_time(void **state)
{
	struct names *n = *state;
	struct frame f = { 0 };

	show(n, &f, "alpha");
	show(n, &f, "beta");
	assert_int_equal(kept_after(n, 100), 2);
	show(n, &f, "alpha");
	assert_int_equal(kept_after(n, 1000), 1);
	show(n, &f, "beta");
	assert_int_equal(kept_after(n, 119), 2);
	assert_int_equal(kept_after(n, 1), 1);
	assert_string_equal(f.symbol->name, "beta");
}

/* The oldest one comes and goes each minute, as a place in a program that is built again and again: the others go. */
static void names_age_one_comes_and_goes(void **state)
{
	struct names *n = *state;
	struct frame steady = { 0 }, others[100] = { { 0 } };

	for (int i = 0; i < 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "other%d", i);
		show(n, &steady, "program+0x10");
		show(n, &steady, "main");
		show(n, &others[i], name);
		show(n, &others[i], "main");
		kept_after(n, 60);
	}
	assert_in_range(n->symbols_by_name.nr, 3, 6);
}

#define CASE(name) cmocka_unit_test_setup_teardown(names_age_##name, set_up, tear_down)

int main(void)
{
	RUN_TESTS(CASE(replaced), CASE(shown_by_two_frames), CASE(back_in_time), CASE(one_comes_and_goes));
}
