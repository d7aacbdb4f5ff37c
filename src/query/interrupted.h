/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_INTERRUPTED_H
#define SYSTOP_QUERY_INTERRUPTED_H

/* Whom one source of interrupts interrupted, by what the recorder has: every single one. */

#include "query/irq_history.h"
#include "util/map.h"

struct event;
struct source;

struct interrupted_thread {
	struct interrupted_who who;   /* when: the last time */
	uint64_t ns, longest_ns, count;
};

/* Threads of one cgroup together. */
struct interrupted_cgroup {
	char path[128];       /* fit for a terminal; "": not known */
	uint64_t ns;
};

/* Initialise with zeroes. */
struct interrupted {
	const struct irq_source *source;
	uint64_t from, to;    /* CLOCK_BOOTTIME ns: everything between is here */
	uint64_t ns, count;   /* of all; an idle CPU is a victim, too */
	struct interrupted_thread *at; /* the one that lost most first */
	size_t nr, room;
	struct map of;        /* number + 1 -> place + 1 */
	struct interrupted_cgroup *cgroups; /* the one that lost most first, without idle CPUs */
	size_t nr_cgroups, cgroups_room;
	struct irq_bursts bursts;
};

/*
 * interrupted_read - asks the recorder for what it has, on all CPUs, of the remembered refreshes up to the one shown:
 * 10 ns for each of its events, whatever it is of. What was there before is forgotten. 0 or -ENOMEM; a recorder that is
 * off has nothing: count is 0.
 */
int interrupted_read(struct interrupted *v, const struct irq_source *irq, const struct source *source,
		     const struct tick *shown, const struct tick *newest);
void interrupted_fini(struct interrupted *v);

/* interrupted_event - counts an event, if it is one of the source's: what interrupted_read() gives to the recorder.
 * interrupted_done - puts them in order, by way of @t's lives with their names. 0 or -ENOMEM. */
int interrupted_event(void *victims, int cpu, const struct event *e);
int interrupted_done(struct interrupted *v, const struct tick *t);

#endif
