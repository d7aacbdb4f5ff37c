/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/capture_plan.h"

#include <time.h>

#include "export/trace_index.h"
#include "model/tick.h"
#include "util/clock.h"

#define SECOND_NS 1000000000ULL

/* Time that a busy host needs to get ready. */
#define READY_NS SECOND_NS

/* Maximum number of refreshes of a recording: the model forgets threads with its oldest refreshes, and a few refreshes follow
 * the end of the recording. And the longest interval. */
#define REFRESHES_MAX (HISTORY_TICKS - 4)
#define INTERVAL_MAX_NS (60 * SECOND_NS)

static uint64_t interval_of(uint64_t duration_ns, uint64_t window_ns, uint64_t interval_ns)
{
	uint64_t least = (duration_ns ? duration_ns : window_ns) / REFRESHES_MAX, parts;

	if (least > INTERVAL_MAX_NS)
		least = INTERVAL_MAX_NS;
	if (interval_ns < least)
		interval_ns = least;
	parts = (duration_ns + interval_ns - 1) / interval_ns;
	return parts ? (duration_ns + parts - 1) / parts : interval_ns; /* the last one is not before the end */
}

void capture_plan_init(struct capture_plan *p, uint64_t interval_ns, unsigned int window_s)
{
	struct timespec now;
	uint64_t wait;

	clock_gettime(CLOCK_REALTIME, &now);
	wait = schedule_wait(&p->at, &now);
	while (p->at.kind == SCHEDULE_MULTIPLE && wait < READY_NS)
		wait += p->at.seconds * SECOND_NS;
	p->begins_ns = clock_ns(CLOCK_BOOTTIME) + wait;
	p->interval_ns = interval_of(p->duration_ns, window_s * SECOND_NS, interval_ns);
	p->window_s = ((p->duration_ns ? p->duration_ns : TRACE_INDEX_WINDOW_MAX_NS) + SECOND_NS - 1) / SECOND_NS + 1;
}

void capture_plan_begin(struct capture_plan *p)
{
	uint64_t now = clock_ns(CLOCK_BOOTTIME);

	p->from_ns = now > p->begins_ns ? now : p->begins_ns;
	p->until_ns = p->duration_ns ? p->from_ns + p->duration_ns : 0;
	p->first_ns = (p->from_ns - now + p->interval_ns - 1) % p->interval_ns + 1;
}
