/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_SCHEDULE_H
#define SYSTOP_SAVE_SCHEDULE_H

#include <stdint.h>
#include <time.h>

/* When a recording begins, so that several hosts can record the same seconds. */
struct schedule {
	enum { SCHEDULE_NOW, SCHEDULE_CLOCK, SCHEDULE_IN, SCHEDULE_MULTIPLE } kind;
	unsigned int seconds; /* since midnight, from now, or the divisor of the time */
};

/* schedule_parse - "@14:30:00" or "@14:30", local time; "+10"; "/60". 0 or -EINVAL. */
int schedule_parse(const char *text, struct schedule *t);

/* schedule_wait - ns from @now, CLOCK_REALTIME, until the recording begins; at most a day, which can have 25 hours, and, except
 * for SCHEDULE_NOW, more than 0. */
uint64_t schedule_wait(const struct schedule *t, const struct timespec *now);

#endif
