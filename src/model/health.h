/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_HEALTH_H
#define SYSTOP_MODEL_HEALTH_H

#include <stddef.h>

enum health_verdict { HEALTH_ON, HEALTH_DEGRADED, HEALTH_OFF, HEALTH_FACT };

/* What works, what does not and why, how full things are: the health page. Initialise with zeroes. */
struct health {
	struct health_line {
		const char *section; /* "Probes": the same string for all lines of a section */
		char name[40];
		enum health_verdict verdict;
		char text[200];      /* safe for a terminal */
	} *lines;
	size_t nr, room;
};

/* health_add - adds a line at the end of its section; without memory it is left out. */
void health_add(struct health *h, const char *section, const char *name,
		enum health_verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

void health_fini(struct health *h);

#endif
