/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_CAPTURE_PLAN_H
#define SYSTOP_SAVE_CAPTURE_PLAN_H

#include <stdint.h>

struct options;

/* -w without a screen: when it begins and ends. Refreshes divide its time, the last one is its end. */
struct recording {
	uint64_t interval_ns;       /* between refreshes */
	uint64_t begins_ns;         /* not before; CLOCK_BOOTTIME, as are all */
	uint64_t from_ns, until_ns; /* what is saved of it; 0: no end */
	uint64_t first_ns;          /* from now to the first refresh */
};

/* recording_plan - before systop is ready. Sets the refreshes that @o asks for, and a window that holds them. */
void recording_plan(struct recording *r, struct options *o);

/* recording_begin - now that it is: says what will be saved, and when to refresh. */
void recording_begin(struct recording *r, const struct options *o);

#endif
