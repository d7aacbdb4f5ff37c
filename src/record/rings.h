/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORD_RINGS_H
#define SYSTOP_RECORD_RINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cpu_slot;
struct health;

/* The recorder's rings (ring.h), one a CPU, and how far each had come at every refresh. */
struct rings;

/* Events a second on a CPU that a window is made for. */
#define RINGS_EVENTS_PER_S 20000

/*
 * rings_size - slots of each CPU's ring, a power of two. @memory: bytes for all of them together, which are filled; 0:
 * what RINGS_EVENTS_PER_S need in a window of @window_s s, if @spare bytes are enough. 0: not even 1,024 fit, or there
 * is no window.
 */
uint32_t rings_size(unsigned int window_s, uint64_t memory, uint64_t spare, int nr_cpus);

/* rings_pattern - a ring like all others, which a map of rings is loaded with: the first CPU's. Its fd, or -errno. */
int rings_pattern(uint32_t slots);

struct rings_options {
	int map_fd;                    /* the map of rings */
	int pattern_fd;                /* what it was loaded with: closed with the rings */
	const struct cpu_slot *cpus;   /* mapped, one a possible CPU */
	int nr_cpus;
	uint32_t slots;                /* as the programs were loaded with; 0: nothing is recorded */
	unsigned int window_s;
};

/* rings_new - @o->cpus is borrowed. NULL: no memory. */
struct rings *rings_new(const struct rings_options *o);
void rings_free(struct rings *r);

/* rings_grow - makes the next CPU's ring: 5 ms for 8 MiB. Returns 1: there are more to be made, 0: all are there,
 * -errno: this one could not be made, and none is any more. */
int rings_grow(struct rings *r);

/* rings_tick - notes how far each ring is at @boottime_ns: what tells the whole time of a slot. */
void rings_tick(struct rings *r, uint64_t boottime_ns);

/* rings_held - ns of the window that the CPU with the fewest still has, at most the window; 0: none yet. */
uint64_t rings_held(const struct rings *r, uint64_t boottime_ns);

/* How far a CPU's ring had come: @head slots written. */
struct rings_mark {
	uint64_t at; /* CLOCK_BOOTTIME ns */
	uint64_t head;
};

/* rings_marks - of a CPU, oldest first: good until the next call. rings_place - the slot from which on it has what
 * came after @boottime_ns, or the oldest that it knows the time of. rings_fd - of its ring's map, -1: it has none. */
const struct rings_mark *rings_marks(const struct rings *r, int cpu, uint32_t *nr);
uint64_t rings_place(const struct rings *r, int cpu, uint64_t boottime_ns);
int rings_fd(const struct rings *r, int cpu);
uint32_t rings_slots(const struct rings *r);

void rings_health(const struct rings *r, struct health *h);

#endif
