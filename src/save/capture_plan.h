/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_CAPTURE_PLAN_H
#define SYSTOP_SAVE_CAPTURE_PLAN_H

#include <stdint.h>

#include "save/schedule.h"

/* -w without a screen: when it begins and ends. Refreshes divide its time, the last one is its end. */
struct capture_plan {
	struct schedule at;         /* when it begins, */
	uint64_t duration_ns;       /* and for how long; 0: until stopped */
	uint64_t interval_ns;       /* between refreshes, */
	uint64_t refreshes;         /* and how many there are; 0: until stopped */
	unsigned int window_s;      /* a window that holds it, s */
	uint64_t begins_ns;         /* not before; CLOCK_BOOTTIME, as are all */
	uint64_t from_ns, until_ns; /* what is saved of it; 0: no end */
	uint64_t first_ns;          /* from now to the first refresh */
};

/* capture_plan_init - before systop is ready. p->at and p->duration_ns are there. @interval_ns: between refreshes,
 * about. */
void capture_plan_init(struct capture_plan *p, uint64_t interval_ns);

/* capture_plan_begin - now that it is: says what will be saved, and when to refresh. */
void capture_plan_begin(struct capture_plan *p);

#endif
