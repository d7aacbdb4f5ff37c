/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORD_RINGS_H
#define SYSTOP_RECORD_RINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cpu_slot;
struct event_mark;
struct health;
struct online;

/* The recorder's rings (ring.h), one a CPU, and how far each had come at every refresh. */
struct rings;

/* Events a second on a CPU that a window is made for. */
#define RINGS_EVENTS_PER_S 20000

/* rings_room - bytes that all rings may take together: @memory, if that was asked for, else @spare, and 1 GiB at most. */
uint64_t rings_room(uint64_t memory, uint64_t spare);

/*
 * rings_size - slots of each CPU's ring, a power of two. @memory: bytes for all of them together, which are filled; 0:
 * what RINGS_EVENTS_PER_S need in a window of @window_s s, within rings_room(). @nr_cpus: those that are online. 0: not
 * even 1,024 fit, or there is no window.
 */
uint32_t rings_size(unsigned int window_s, uint64_t memory, uint64_t spare, int nr_cpus);

/* rings_pattern - a ring like all others, which a map of rings is loaded with: the first one that is made. Its fd, or -errno. */
int rings_pattern(uint32_t slots);

struct rings_options {
	int map_fd;                    /* the map of rings */
	int pattern_fd;                /* what it was loaded with: taken over */
	const struct cpu_slot *cpus;   /* mapped, one a possible CPU */
	int nr_cpus;
	const struct online *online;   /* borrowed */
	uint64_t max_bytes;            /* rings_room(): CPUs that come later have rings within this */
	uint32_t slots;                /* as the programs were loaded with; 0: nothing is recorded */
	unsigned int window_s;
};

/* rings_new - @o->cpus is borrowed. NULL: no memory. */
struct rings *rings_new(const struct rings_options *o);
void rings_free(struct rings *r);

/* rings_grow - makes rings for CPUs that are online and have none, an eighth of them or 128 MiB in each call: every 250 ms,
 * all are there after 2 s. Returns 1: some were made, 0: there are none to be made, -errno: one could not be made, and
 * none is any more. */
int rings_grow(struct rings *r);

/* rings_tick - notes how far each ring is at @boottime_ns: what tells the whole time of a slot. */
void rings_tick(struct rings *r, uint64_t boottime_ns);

/* rings_held - ns of the window that the online CPU with the fewest still has, at most the window; 0: none yet. */
uint64_t rings_held(const struct rings *r, uint64_t boottime_ns);

/* rings_marks - of a CPU, oldest first: good until the next call. rings_place - the slot from which on it has what
 * came after @boottime_ns, or the oldest that it knows the time of. rings_fd - of its ring's map, -1: it has none. */
const struct event_mark *rings_marks(const struct rings *r, int cpu, uint32_t *nr);
uint64_t rings_place(const struct rings *r, int cpu, uint64_t boottime_ns);
int rings_fd(const struct rings *r, int cpu);
uint32_t rings_slots(const struct rings *r);

void rings_health(const struct rings *r, struct health *h);

#endif
