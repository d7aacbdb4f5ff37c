/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_CLOCK_H
#define SYSTOP_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

/* clock_ns - reads a clock: CLOCK_MONOTONIC, ... */
static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

#endif
