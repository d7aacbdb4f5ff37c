/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_CAPTURE_PLAN_H
#define SYSTOP_SAVE_CAPTURE_PLAN_H

#include <stdint.h>

#include "save/schedule.h"

/* -w without a screen: when the recording begins and ends. Refreshes divide its time into equal parts; the last one is at its
 * end. */
struct capture_plan {
	struct schedule at;         /* when it begins */
	uint64_t duration_ns;       /* how long it lasts; 0: until stopped */
	uint64_t interval_ns;       /* between refreshes */
	unsigned int window_s;      /* a window that holds all of it, s */
	uint64_t begins_ns;         /* earliest beginning; CLOCK_BOOTTIME, like all below */
	uint64_t from_ns, until_ns; /* the part that is saved; 0: no end */
	uint64_t first_ns;          /* from now to the first refresh, such that one is at from_ns */
};

/* capture_plan_init - call before systop is ready, with p->at and p->duration_ns set. @interval_ns: approximate time
 * between refreshes; longer if the model would not remember all of them, or of the last @window_s seconds if there is no
 * duration */
void capture_plan_init(struct capture_plan *p, uint64_t interval_ns, unsigned int window_s);

/* capture_plan_begin - call when it is ready: sets the part that is saved, and the first refresh. */
void capture_plan_begin(struct capture_plan *p);

#endif
