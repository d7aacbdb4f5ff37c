/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_SELFTEST_H
#define SYSTOP_COLLECT_SELFTEST_H

#include <stdbool.h>

#include "slot.h"
#include "stack.h"

struct health;

/*
 * Whether the unwinder works on this kernel: the stack of systop's own starter, which sleeps all the time,
 * is to be walked to its root. What the kernel's structures are like is no promise of anybody. Initialise
 * with zeroes.
 */
struct selftest {
	enum {
		SELFTEST_RUNS,
		SELFTEST_PASSED,
		SELFTEST_NO_WALK,  /* no address was found in the address space */
		SELFTEST_NO_TABLE, /* or the way out was not found */
	} result;
	int tries;
	int frames;                /* of the last try */
};

/* selftest_wanted - whether its stack is to be read once more. */
bool selftest_wanted(const struct selftest *t);

/* selftest_take - it was read. Tables are there some time after the first try; when they did not help for
 * long, they are switched off. */
void selftest_take(struct selftest *t, const struct blocked_record *r, struct shared *shared);

void selftest_health(const struct selftest *t, struct health *h);

#endif
