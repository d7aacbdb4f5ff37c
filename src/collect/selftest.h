/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SELFTEST_H
#define SYSTOP_COLLECT_SELFTEST_H

#include <stdbool.h>

#include "slot.h"

struct health;
struct peek_answer;
struct unwind_file;

/*
 * Tests whether the unwinder works on this kernel: the stack of systop's own starter, which sleeps all the time, must
 * be walked to its root. The layout of the kernel's structures is not a stable interface. Initialise with zeroes.
 */
struct selftest {
	enum {
		SELFTEST_RUNS,
		SELFTEST_PASSED,
		SELFTEST_NO_WALK,  /* no address was found in the address space */
		SELFTEST_NO_TABLE, /* or no unwind table covered it */
		SELFTEST_NOT_POSSIBLE,
	} result;
	int tries, attempts;       /* attempts that count, and all attempts */
	int frames;                /* of the last attempt */
};

/* selftest_wanted - whether to read the starter's stack once more. */
bool selftest_wanted(const struct selftest *t);

/* selftest_take - evaluates the starter's stack. @files: UNWIND_FILES. Attempts without the unwind tables of all its files, which
 * come late on a busy host, do not count; if the unwinder still fails after TRIES_MAX others, tables are switched off. After
 * ATTEMPTS_MAX it gives up. */
void selftest_take(struct selftest *t, const struct peek_answer *a, const struct unwind_file *files, struct shared *shared);

void selftest_health(const struct selftest *t, struct health *h);

#endif
