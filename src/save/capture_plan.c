/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/capture_plan.h"

#include <time.h>

#include "app/options.h"
#include "save/schedule.h"
#include "util/clock.h"

#define SECOND_NS 1000000000ULL

/* A busy host needs so long to get ready. */
#define READY_NS SECOND_NS

static uint64_t interval_of(const struct options *o)
{
	uint64_t parts = (o->duration_ns + o->interval_ns - 1) / o->interval_ns;

	return parts ? o->duration_ns / parts : o->interval_ns;
}

void recording_plan(struct recording *r, struct options *o)
{
	uint64_t seconds = (o->duration_ns + SECOND_NS - 1) / SECOND_NS, wait;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	wait = start_time_wait(&o->at, &now);
	while (o->at.kind == START_MULTIPLE && wait < READY_NS)
		wait += o->at.seconds * SECOND_NS;
	r->begins_ns = clock_ns(CLOCK_BOOTTIME) + wait;
	r->interval_ns = interval_of(o);
	if (o->duration_ns)
		o->iterations = o->duration_ns / r->interval_ns;
	if (o->window_s < seconds + 1)
		o->window_s = seconds + 1;
}

void recording_begin(struct recording *r, const struct options *o)
{
	uint64_t now = clock_ns(CLOCK_BOOTTIME);

	r->from_ns = now > r->begins_ns ? now : r->begins_ns;
	r->until_ns = o->duration_ns ? r->from_ns + o->duration_ns : 0;
	r->first_ns = r->interval_ns + r->from_ns - now;
}
