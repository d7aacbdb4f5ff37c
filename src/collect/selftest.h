/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SELFTEST_H
#define SYSTOP_COLLECT_SELFTEST_H

#include <stdbool.h>

#include "slot.h"
#include "stack.h"

struct health;

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
	} result;
	int tries;
	int frames;                /* of the last attempt */
};

/* selftest_wanted - whether to read its stack once more. */
bool selftest_wanted(const struct selftest *t);

/* selftest_take - evaluates its stack. Unwind tables appear some time after the first attempt; if the unwinder still
 * fails after TRIES_MAX attempts, they are switched off. */
void selftest_take(struct selftest *t, const struct blocked_record *r, struct shared *shared);

void selftest_health(const struct selftest *t, struct health *h);

#endif
