/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CLOCKSOURCE_H
#define SYSTOP_APP_CLOCKSOURCE_H

#include <stdbool.h>
#include <stddef.h>

/* What the kernel's clocks read, and so every BPF program at every event. */
struct clocksource {
	char name[32];  /* "tsc", of /sys; "-": not known; fit for a terminal */
	double read_ns; /* of one read, the least of some: measured */
	bool counter;   /* it is one of the CPU's, or not known: it costs little, and CPUs do not wait for each other */
};

/* clocksource_read - takes some 2 ms where it is slow. clocksource_text - "hpet, 1.3 us a read". */
void clocksource_read(struct clocksource *c);
void clocksource_text(const struct clocksource *c, char *buf, size_t size);

/* clocksource_check - refuses a slow one, unless @force. 0, or -EOPNOTSUPP after fail(). */
int clocksource_check(const struct clocksource *c, bool force);

#endif
