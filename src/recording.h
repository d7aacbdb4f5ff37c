/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORDING_H
#define SYSTOP_RECORDING_H

#include <stdint.h>

struct options;

/* -w without a screen: when it begins and ends. Refreshes divide its time, the last one is its end. */
struct recording {
	uint64_t interval_ns;      /* between refreshes */
	uint64_t from_ns, until_ns; /* of --at: CLOCK_BOOTTIME; 0: all of it */
	uint64_t begins_ns;        /* CLOCK_MONOTONIC */
};

/* recording_plan - from now on. Sets the refreshes that @o asks for, and a window that holds them. */
void recording_plan(struct recording *r, struct options *o);

/* recording_first - ns from now to its first refresh. */
uint64_t recording_first(const struct recording *r);

#endif
