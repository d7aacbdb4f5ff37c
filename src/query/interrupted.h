/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_INTERRUPTED_H
#define SYSTOP_QUERY_INTERRUPTED_H

/* Threads that one source of interrupts interrupted, from the recorder, which has every single interrupt. */

#include "query/irq_history.h"
#include "util/map.h"

struct event;
struct source;

struct interrupted_thread {
	struct interrupted_who who;   /* at: the last time */
	uint64_t ns, longest_ns, count;
};

/* All interrupted threads of a cgroup. */
struct interrupted_cgroup {
	char path[128];       /* fit for a terminal; "": not known */
	uint64_t ns;
};

/* The last interrupts of one CPU, the latest last: enough for all that can interrupt a single one. */
#define INTERRUPTED_PAST 64

struct interrupted_past {
	int cpu;
	uint64_t first, next; /* numbers of interrupts; number n is in at[n % INTERRUPTED_PAST] */
	struct {
		uint64_t began, ns;
	} at[INTERRUPTED_PAST];
};

/* Initialise with zeroes. */
struct interrupted {
	const struct irq_source *source;
	uint64_t from, to;    /* CLOCK_BOOTTIME ns: complete between them */
	uint64_t ns, count;   /* totals; an idle CPU is a victim, too */
	struct interrupted_thread *at; /* most time lost first */
	size_t nr, room;
	struct map of;        /* number + 1 -> place + 1 */
	struct interrupted_cgroup *cgroups; /* most time lost first, without idle CPUs */
	size_t nr_cgroups, cgroups_room;
	struct irq_bursts bursts;
	struct interrupted_past past;
};

/*
 * interrupted_read - reads the recorder's events of all CPUs for the remembered refreshes up to @shown. @newest: the newest
 * refresh, for how far back the recorder reaches. Costs 10 ns for each recorded event, of any kind. Replaces the contents. 0 or
 * -ENOMEM; if the recorder is off, count is 0.
 */
int interrupted_read(struct interrupted *v, const struct irq_source *irq, const struct source *source,
		     const struct tick *shown, const struct tick *newest);
void interrupted_fini(struct interrupted *v);

/* interrupted_event - counts an event if it belongs to the source: the callback that interrupted_read() gives to the
 * recorder.
 * interrupted_done - sorts the victims and adds their names, from the lives that @t knows. 0 or -ENOMEM. */
int interrupted_event(void *victims, int cpu, const struct event *e);
int interrupted_done(struct interrupted *v, const struct tick *t);

#endif
