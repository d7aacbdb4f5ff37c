/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/rings.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/event.h"
#include "model/health.h"
#include "record/inner_maps.h"
#include "ring.h"
#include "slot.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/format.h"
#include "util/online.h"

#define SLOTS_LEAST 1024
#define SLOTS_MOST (1U << 30)

/* Limit for all rings together unless a size was given: the kernel cannot swap them out. */
#define BYTES_MAX (1ULL << 30)

/* Calls of rings_grow() to make all rings, and limit of memory per call: the kernel clears about 2 GiB/s. */
#define GROW_CALLS 8
#define GROW_BYTES (128U << 20)

/* Time after which a call of rings_grow() drops no more rings: before Linux 6.19 each one waits for all CPUs, about 15 ms. */
#define DROP_NS 5000000

/*
 * Marks of each CPU, one a refresh. If the window holds more refreshes, marks that are close to others are left out. In a long
 * recording, the newest ones are closer together than the rest: a window that is saved meanwhile is copied from the mark before
 * it. MARKS_APART_MAX_NS: an event's time has only RING_TIME_BITS bits, which the marks around it complete.
 */
#define MARKS 512
#define MARKS_NEWEST 64
#define MARKS_APART_MAX_NS (900 * 1000000000ULL)

/* Time until a ring that could not be made is tried again: the kernel takes long to look for memory. */
#define AGAIN_NS 60000000000ULL

struct cpu_ring {
	int fd;
	struct event_mark marks[MARKS]; /* a ring buffer, too */
	uint64_t nr_marks;
};

struct rings {
	struct rings_options o;
	struct cpu_ring *cpus;
	int made;
	bool shed;
	int held;
	int err;           /* of the last ring, 0: it was made */
	uint64_t again_at; /* CLOCK_MONOTONIC ns; after an error no ring is made before */
	struct event_mark *scratch;
	uint64_t apart_ns, newest_apart_ns; /* least time from a mark to the next but one */
	uint32_t *places; /* CPUs whose rings are being put into the map */
	int *fds;         /* and the fds of these rings */
};

uint64_t rings_room(uint64_t memory, uint64_t spare)
{
	return memory ? memory : spare < BYTES_MAX ? spare : BYTES_MAX;
}

uint32_t rings_size(unsigned int window_s, uint64_t memory, uint64_t spare, int nr_cpus)
{
	uint64_t wanted = memory ? SLOTS_MOST : (uint64_t)window_s * RINGS_EVENTS_PER_S;
	uint64_t room = rings_room(memory, spare) / sizeof(struct ring_slot) / nr_cpus;
	uint64_t slots = SLOTS_LEAST;

	if (room < SLOTS_LEAST || !window_s)
		return 0;
	while (slots < wanted && 2 * slots <= room && slots < SLOTS_MOST)
		slots *= 2;
	return slots;
}

struct rings *rings_new(const struct rings_options *o)
{
	struct rings *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->o = *o;
	r->apart_ns = o->window_s * 1000000000ULL / ((MARKS - MARKS_NEWEST) / 2 - 2);
	if (r->apart_ns > MARKS_APART_MAX_NS)
		r->apart_ns = MARKS_APART_MAX_NS;
	r->newest_apart_ns = o->save_s * 1000000000ULL / (MARKS_NEWEST / 2 - 2);
	if (r->newest_apart_ns > r->apart_ns)
		r->newest_apart_ns = r->apart_ns;
	r->cpus = calloc(o->nr_cpus, sizeof(*r->cpus));
	r->scratch = calloc(MARKS, sizeof(*r->scratch));
	r->places = calloc(o->nr_cpus, sizeof(*r->places));
	r->fds = calloc(o->nr_cpus, sizeof(*r->fds));
	if (!r->cpus || !r->scratch || !r->places || !r->fds) {
		rings_free(r);
		return NULL;
	}
	for (int cpu = 0; cpu < o->nr_cpus; cpu++)
		r->cpus[cpu].fd = -1;
	return r;
}

void rings_free(struct rings *r)
{
	if (!r)
		return;
	for (int cpu = 0; r->cpus && cpu < r->o.nr_cpus; cpu++)
		file_close(&r->cpus[cpu].fd);
	file_close(&r->o.pattern_fd);
	free(r->cpus);
	free(r->scratch);
	free(r->places);
	free(r->fds);
	free(r);
}

int rings_pattern(uint32_t slots)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ring", 4, sizeof(struct ring_slot), slots, &opts);

	return fd < 0 ? -errno : fd;
}

/* Leaves out the mark before the newest ones if those around it are close to each other. */
static void thin(struct cpu_ring *c, uint64_t apart_ns)
{
	uint64_t newest = c->nr_marks - MARKS_NEWEST;

	if (c->nr_marks < MARKS_NEWEST + 2 || c->marks[newest % MARKS].at - c->marks[(newest - 2) % MARKS].at >= apart_ns)
		return;
	for (uint64_t i = newest; i < c->nr_marks; i++)
		c->marks[(i - 1) % MARKS] = c->marks[i % MARKS];
	c->nr_marks--;
}

static void mark(struct rings *r, int cpu, uint64_t boottime_ns)
{
	struct cpu_ring *c = &r->cpus[cpu];
	uint64_t head = __atomic_load_n(&r->o.cpus[cpu].records, __ATOMIC_ACQUIRE);

	/* At most one mark is removed for each new one: the place of the oldest has been used again. */
	if (c->nr_marks >= 2 && boottime_ns - c->marks[(c->nr_marks - 2) % MARKS].at < r->newest_apart_ns)
		c->nr_marks--; /* the last one */
	else
		thin(c, r->apart_ns);
	c->marks[c->nr_marks++ % MARKS] = (struct event_mark){ boottime_ns, head };
}

static uint64_t ring_bytes(const struct rings *r)
{
	return (uint64_t)r->o.slots * sizeof(struct ring_slot);
}

/* Lists online CPUs without a ring in r->places, at most @most. */
static int find_without(const struct rings *r, int most)
{
	int nr = 0;

	for (int cpu = 0; cpu < r->o.nr_cpus && nr < most; cpu++)
		if (r->cpus[cpu].fd < 0 && online_is(r->o.online, cpu))
			r->places[nr++] = cpu;
	return nr;
}

/* Makes rings for the CPUs in r->places, into r->fds. Returns how many, or -errno: none. */
static int make_rings(struct rings *r, int nr)
{
	int made = 0, err = 0;

	for (; made < nr && !err; made += !err) {
		int fd = r->o.pattern_fd >= 0 ? r->o.pattern_fd : rings_pattern(r->o.slots);

		r->o.pattern_fd = -1;
		r->fds[made] = fd;
		err = fd < 0 ? fd : 0;
	}
	return made ? made : err;
}

static void drop_ring(struct rings *r, uint32_t cpu)
{
	bpf_map_delete_elem(r->o.map_fd, &cpu);
	file_close(&r->cpus[cpu].fd);
	r->cpus[cpu].nr_marks = 0;
	r->made--;
}

/* Puts the rings into the map: events are recorded from now on. */
static int put_rings(struct rings *r, int nr)
{
	int err;

	/* Before the rings are in the map: a CPU without a ring does not count events. */
	for (int i = 0; i < nr; i++)
		mark(r, r->places[i], clock_ns(CLOCK_BOOTTIME));
	err = inner_maps_put(r->o.map_fd, r->places, r->fds, nr);
	for (int i = 0; i < nr; i++)
		r->cpus[r->places[i]].fd = r->fds[i];
	r->made += nr;
	for (int i = 0; err && i < nr; i++)
		drop_ring(r, r->places[i]);
	return err;
}

/* Whether the rings are to be dropped: nobody reads them any more. */
static bool is_gone(const struct rings *r)
{
	return r->shed && !r->held;
}

/* Number of further rings within the limit. */
static int room_left(const struct rings *r)
{
	return (int)(r->o.max_bytes / ring_bytes(r)) - r->made;
}

/* An offline CPU with a ring, -1: none. */
static int find_offline(const struct rings *r)
{
	for (int cpu = 0; cpu < r->o.nr_cpus; cpu++)
		if (r->cpus[cpu].fd >= 0 && !online_is(r->o.online, cpu))
			return cpu;
	return -1;
}

static bool may_grow(const struct rings *r)
{
	return r->o.slots && (!r->err || clock_ns(CLOCK_MONOTONIC) >= r->again_at) && !r->shed &&
	       (room_left(r) > 0 || (!r->held && find_offline(r) >= 0));
}

bool rings_missing(const struct rings *r)
{
	return is_gone(r) ? r->made : may_grow(r) && find_without(r, 1);
}

/* Whether CPUs that have no ring get none now. */
static bool is_stuck(const struct rings *r)
{
	return r->err || !may_grow(r);
}

int rings_without(const struct rings *r, const char **why)
{
	int nr = 0;

	for (int cpu = 0; is_stuck(r) && cpu < r->o.nr_cpus; cpu++)
		nr += online_is(r->o.online, cpu) && r->cpus[cpu].fd < 0;
	*why = r->err ? strerror(-r->err) : "the memory limit is reached (--window-mem)";
	return nr;
}

static void drop_rings(struct rings *r)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + DROP_NS;

	for (int cpu = 0; r->made && cpu < r->o.nr_cpus; cpu++) {
		if (r->cpus[cpu].fd < 0)
			continue;
		drop_ring(r, cpu);
		if (clock_ns(CLOCK_MONOTONIC) >= until)
			break;
	}
}

int rings_grow(struct rings *r)
{
	int most = online_count(r->o.online) / GROW_CALLS + 1, nr;

	if (is_gone(r))
		drop_rings(r);
	if (!may_grow(r))
		return r->err;
	if (most > (int)(GROW_BYTES / ring_bytes(r)) + 1)
		most = GROW_BYTES / ring_bytes(r) + 1;
	nr = find_without(r, most);
	if (!nr)
		return 0;
	if (room_left(r) <= 0)
		drop_ring(r, find_offline(r));
	nr = make_rings(r, nr < room_left(r) ? nr : room_left(r));
	r->err = nr < 0 ? nr : put_rings(r, nr);
	if (r->err)
		r->again_at = clock_ns(CLOCK_MONOTONIC) + AGAIN_NS;
	return r->err ? r->err : 1;
}

void rings_shed(struct rings *r, bool shed)
{
	r->shed = shed;
}

void rings_hold(struct rings *r, bool held)
{
	r->held += held ? 1 : -1;
}

void rings_stop(struct rings *r)
{
	for (uint32_t cpu = 0; cpu < (uint32_t)r->o.nr_cpus; cpu++)
		if (r->cpus[cpu].fd >= 0)
			bpf_map_delete_elem(r->o.map_fd, &cpu);
}

uint64_t rings_bytes(const struct rings *r)
{
	return r->made * ring_bytes(r);
}

void rings_tick(struct rings *r, uint64_t boottime_ns)
{
	for (int cpu = 0; cpu < r->o.nr_cpus; cpu++)
		if (r->cpus[cpu].fd >= 0)
			mark(r, cpu, boottime_ns);
}

/* From when on a CPU's ring is complete; @now if it is empty. */
static uint64_t held_since(const struct rings *r, const struct cpu_ring *c, uint64_t now)
{
	uint64_t head = c->nr_marks ? c->marks[(c->nr_marks - 1) % MARKS].head : 0;
	uint64_t oldest = c->nr_marks > MARKS ? c->nr_marks - MARKS : 0;

	for (uint64_t i = oldest; i < c->nr_marks; i++)
		if (c->marks[i % MARKS].head + r->o.slots >= head)
			return c->marks[i % MARKS].at;
	return now;
}

uint64_t rings_held(const struct rings *r, uint64_t boottime_ns)
{
	uint64_t least = (uint64_t)r->o.window_s * 1000000000ULL;

	for (int cpu = 0; cpu < r->o.nr_cpus; cpu++) {
		uint64_t held;

		if (!online_is(r->o.online, cpu) || (r->cpus[cpu].fd < 0 && r->made && is_stuck(r)))
			continue;
		held = boottime_ns - held_since(r, &r->cpus[cpu], boottime_ns);
		if (held < least)
			least = held;
	}
	return least;
}

const struct event_mark *rings_marks(const struct rings *r, int cpu, uint32_t *nr)
{
	const struct cpu_ring *c = &r->cpus[cpu];
	uint64_t oldest = c->nr_marks > MARKS ? c->nr_marks - MARKS : 0;

	*nr = c->nr_marks - oldest;
	for (uint32_t i = 0; i < *nr; i++)
		r->scratch[i] = c->marks[(oldest + i) % MARKS];
	return r->scratch;
}

uint64_t rings_place(const struct rings *r, int cpu, uint64_t boottime_ns)
{
	const struct cpu_ring *c = &r->cpus[cpu];
	uint64_t oldest = c->nr_marks > MARKS ? c->nr_marks - MARKS : 0, place = 0;

	for (uint64_t i = oldest; i < c->nr_marks; i++)
		if (i == oldest || c->marks[i % MARKS].at <= boottime_ns)
			place = c->marks[i % MARKS].head;
	return place;
}

int rings_fd(const struct rings *r, int cpu)
{
	return r->cpus[cpu].fd;
}

uint32_t rings_slots(const struct rings *r)
{
	return is_gone(r) ? 0 : r->o.slots;
}

void rings_health(const struct rings *r, struct health *h)
{
	const char *why;
	int online = online_count(r->o.online), without = rings_without(r, &why);

	if (!r->o.slots) {
		health_add(h, "Maps", "recorder", HEALTH_OFF, "no memory, or off by --window 0");
		return;
	}
	if (r->shed) {
		health_add(h, "Maps", "recorder", HEALTH_DEGRADED, "left out for --max-cpu or --max-mem");
		return;
	}
	if (without) {
		health_add(h, "Maps", "recorder", HEALTH_DEGRADED, "%d of %d CPUs have a ring: %s", online - without, online,
			   why);
		return;
	}
	health_add(h, "Maps", "recorder", HEALTH_ON, "%u events per CPU, %s on %d CPUs", r->o.slots,
		   BYTES_TEXT(r->made * ring_bytes(r)), r->made);
}
