/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/schedule.h"

#include <errno.h>
#include <stdlib.h>

#define SEC 1000000000ULL
#define DAY 86400

static int parse_clock(const char *text, struct schedule *t)
{
	struct tm tm = { 0 };
	const char *end = strptime(text, "%H:%M", &tm);

	if (end && *end == ':')
		end = strptime(end, ":%S", &tm);
	if (!end || *end || tm.tm_sec > 59)
		return -EINVAL;
	*t = (struct schedule){ SCHEDULE_CLOCK, tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec };
	return 0;
}

int schedule_parse(const char *text, struct schedule *t)
{
	unsigned long seconds;
	char *end;

	if (*text == '@')
		return parse_clock(text + 1, t);
	if ((*text != '+' && *text != '/') || text[1] < '0' || text[1] > '9')
		return -EINVAL;
	seconds = strtoul(text + 1, &end, 10);
	if (*end || !seconds || seconds >= DAY)
		return -EINVAL;
	*t = (struct schedule){ *text == '+' ? SCHEDULE_IN : SCHEDULE_MULTIPLE, seconds };
	return 0;
}

/* That time of day @days after today: days can have 23 or 25 hours. */
static uint64_t clock_time(const struct schedule *t, const struct timespec *now, int days)
{
	struct tm tm;

	localtime_r(&now->tv_sec, &tm);
	tm.tm_mday += days;
	tm.tm_hour = t->seconds / 3600;
	tm.tm_min = t->seconds / 60 % 60;
	tm.tm_sec = t->seconds % 60;
	tm.tm_isdst = -1;
	return mktime(&tm) * SEC;
}

uint64_t schedule_wait(const struct schedule *t, const struct timespec *now)
{
	uint64_t at = now->tv_sec * SEC + now->tv_nsec, then;

	switch (t->kind) {
	case SCHEDULE_CLOCK:
		then = clock_time(t, now, 0);
		return (then > at ? then : clock_time(t, now, 1)) - at;
	case SCHEDULE_IN:
		return t->seconds * SEC;
	case SCHEDULE_MULTIPLE:
		return t->seconds * SEC - at % (t->seconds * SEC);
	default:
		return 0;
	}
}
