/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CLOCKSOURCE_H
#define SYSTOP_APP_CLOCKSOURCE_H

#include <stdbool.h>

/* The clock that the kernel reads for its times, as does every BPF program at every event. */
struct clocksource {
	char name[32]; /* "tsc", from /sys; "-": not known; fit for a terminal */
	char text[80]; /* "hpet, 1.3 us a read": measured, the minimum over several reads */
	bool counter;  /* a counter of the CPU, or not known: cheap to read, and CPUs do not wait for each other */
};

/* clocksource_now - measured again only if the kernel has taken another clock, which takes about 2 ms if that is slow. */
const struct clocksource *clocksource_now(void);

/* clocksource_check - refuses a slow clock, unless @force. 0, or -EOPNOTSUPP after fail(). */
int clocksource_check(bool force);

#endif
