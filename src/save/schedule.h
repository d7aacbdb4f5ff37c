/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_SCHEDULE_H
#define SYSTOP_SAVE_SCHEDULE_H

#include <stdint.h>
#include <time.h>

/* When a recording begins, so that several hosts can record the same seconds. */
struct start_time {
	enum { START_NOW, START_CLOCK, START_IN, START_MULTIPLE } kind;
	unsigned int seconds; /* of the day, from now on, or of what the time is a multiple */
};

/* start_time_parse - "@14:30:00" or "@14:30", local time; "+10"; "/60". 0 or -EINVAL. */
int start_time_parse(const char *text, struct start_time *t);

/* start_time_wait - ns from @now, CLOCK_REALTIME, until then; less than a day and, but for START_NOW, more than 0. */
uint64_t start_time_wait(const struct start_time *t, const struct timespec *now);

#endif
