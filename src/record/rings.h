/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_RECORD_RINGS_H
#define SYSTOP_RECORD_RINGS_H

#include <stdbool.h>
#include <stdint.h>

struct cpu_slot;
struct event_mark;
struct health;
struct online;

/* The recorder's rings (ring.h), one per CPU, and how far each was at every refresh. */
struct rings;

/* Events per second and CPU for which a window is sized. */
#define RINGS_EVENTS_PER_S 20000

/* rings_room - bytes that all rings together may use: @memory if given, else @spare, at most 1 GiB. */
uint64_t rings_room(uint64_t memory, uint64_t spare);

/*
 * rings_size - slots of each CPU's ring, a power of two. @memory: bytes to fill with all rings together; 0: as much as
 * RINGS_EVENTS_PER_S need in a window of @window_s s, within rings_room(). @nr_cpus: online CPUs. 0: not even 1,024
 * fit, or there is no window.
 */
uint32_t rings_size(unsigned int window_s, uint64_t memory, uint64_t spare, int nr_cpus);

/* rings_pattern - the ring with which a map of rings is loaded; all others are like it, and it becomes the first
 * one. Its fd, or -errno. */
int rings_pattern(uint32_t slots);

struct rings_options {
	int map_fd;                    /* the map of rings */
	int pattern_fd;                /* the map of rings was loaded with it; ownership passes */
	const struct cpu_slot *cpus;   /* mapped, one per possible CPU */
	int nr_cpus;
	const struct online *online;   /* borrowed */
	uint64_t max_bytes;            /* rings_room(): limits the rings of CPUs that come online later */
	uint32_t slots;                /* same as for the programs; 0: nothing is recorded */
	unsigned int window_s;         /* all that is recorded, */
	unsigned int save_s;           /* and what is saved of it at its end, at any time */
};

/* rings_new - @o->cpus is borrowed. NULL: no memory. */
struct rings *rings_new(const struct rings_options *o);
void rings_free(struct rings *r);

/* rings_grow - makes rings for online CPUs that have none, an eighth of them or 128 MiB per call: with a call every 250 ms all
 * exist after 2 s. An offline CPU keeps its ring unless there is no room for that of an online one. Returns 1: some were made, 0:
 * none were made, -errno: one could not be made, and for a minute no more are tried. Drops rings instead while they are shed.
 * rings_missing - whether there is something to do for it. */
bool rings_missing(const struct rings *r);
int rings_grow(struct rings *r);

/* rings_shed - @shed: nothing is recorded any more, and rings_grow() frees the rings, a few per call; else it makes new
 * ones. rings_hold - @held: none is freed until it has been called as often with false. rings_stop - nothing is recorded any more;
 * what is recorded stays. rings_bytes - memory of all rings. */
void rings_shed(struct rings *r, bool shed);
void rings_hold(struct rings *r, bool held);
void rings_stop(struct rings *r);
uint64_t rings_bytes(const struct rings *r);

/* rings_without - online CPUs that get no ring now; @why: set to the reason. */
int rings_without(const struct rings *r, const char **why);

/* rings_tick - notes how far each ring is at @boottime_ns: slots need it for their full time. */
void rings_tick(struct rings *r, uint64_t boottime_ns);

/* rings_held - ns of the window that every online CPU still has, at most the window; 0: none yet. CPUs for whose rings
 * there is no room do not count. */
uint64_t rings_held(const struct rings *r, uint64_t boottime_ns);

/* rings_marks - of a CPU, oldest first: valid until the next call. rings_place - the first slot that may be later than
 * @boottime_ns, or the oldest with a known time. rings_fd - the map of its ring, -1: it has none. rings_slots - slots of each
 * ring; 0: nothing is recorded, or the rings are being dropped. */
const struct event_mark *rings_marks(const struct rings *r, int cpu, uint32_t *nr);
uint64_t rings_place(const struct rings *r, int cpu, uint64_t boottime_ns);
int rings_fd(const struct rings *r, int cpu);
uint32_t rings_slots(const struct rings *r);

void rings_health(const struct rings *r, struct health *h);

#endif
