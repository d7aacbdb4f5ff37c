/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/rings.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/health.h"
#include "ring.h"
#include "slot.h"
#include "util/clock.h"
#include "util/format.h"

#define SLOTS_LEAST 1024
#define SLOTS_MOST (1U << 30)

/* Marks of each CPU: the window, and some more where refreshes are short. */
#define MARKS 512

struct cpu_ring {
	int fd;
	struct rings_mark marks[MARKS]; /* a ring, too */
	uint64_t nr_marks;
};

struct rings {
	struct rings_options o;
	struct cpu_ring *cpus;
	int made;
	int err;
	struct rings_mark *scratch;
};

uint32_t rings_size(unsigned int window_s, uint64_t memory, uint64_t spare, int nr_cpus)
{
	uint64_t wanted = memory ? SLOTS_MOST : (uint64_t)window_s * RINGS_EVENTS_PER_S;
	uint64_t room = (memory ? memory : spare) / sizeof(struct ring_slot) / nr_cpus;
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
	r->cpus = calloc(o->nr_cpus, sizeof(*r->cpus));
	r->scratch = calloc(MARKS, sizeof(*r->scratch));
	if (!r->cpus || !r->scratch) {
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
	for (int cpu = 1; r->cpus && cpu < r->o.nr_cpus; cpu++)
		if (r->cpus[cpu].fd >= 0)
			close(r->cpus[cpu].fd);
	if (r->o.pattern_fd >= 0)
		close(r->o.pattern_fd);
	free(r->cpus);
	free(r->scratch);
	free(r);
}

int rings_pattern(uint32_t slots)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ring", 4, sizeof(struct ring_slot), slots, &opts);

	return fd < 0 ? -errno : fd;
}

static void mark(struct rings *r, int cpu, uint64_t boottime_ns)
{
	struct cpu_ring *c = &r->cpus[cpu];
	uint64_t head = __atomic_load_n(&r->o.cpus[cpu].records, __ATOMIC_ACQUIRE);

	c->marks[c->nr_marks++ % MARKS] = (struct rings_mark){ boottime_ns, head };
}

/* From now on it has all that happens. */
static int make(struct rings *r, uint32_t cpu)
{
	int fd = cpu ? rings_pattern(r->o.slots) : r->o.pattern_fd;

	if (fd < 0)
		return fd;
	if (bpf_map_update_elem(r->o.map_fd, &cpu, &fd, BPF_ANY)) {
		int err = -errno;

		if (cpu)
			close(fd);
		return err;
	}
	r->cpus[cpu].fd = fd;
	r->cpus[cpu].marks[r->cpus[cpu].nr_marks++] = (struct rings_mark){ clock_ns(CLOCK_BOOTTIME), 0 };
	return 0;
}

int rings_grow(struct rings *r)
{
	if (!r->o.slots || r->err || r->made == r->o.nr_cpus)
		return r->err;
	r->err = make(r, r->made);
	if (r->err)
		return r->err;
	return ++r->made < r->o.nr_cpus;
}

void rings_tick(struct rings *r, uint64_t boottime_ns)
{
	for (int cpu = 0; cpu < r->made; cpu++)
		mark(r, cpu, boottime_ns);
}

/* Since when a CPU's ring has all: @now where nothing is in it yet. */
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
		uint64_t held = boottime_ns - held_since(r, &r->cpus[cpu], boottime_ns);

		if (held < least)
			least = held;
	}
	return least;
}

const struct rings_mark *rings_marks(const struct rings *r, int cpu, uint32_t *nr)
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
	return r->o.slots;
}

void rings_health(const struct rings *r, struct health *h)
{
	char bytes[16];

	if (!r->o.slots) {
		health_add(h, "Maps", "recorder", HEALTH_OFF, "there is no memory for it, or --window 0 was asked for");
	} else if (r->err) {
		health_add(h, "Maps", "recorder", HEALTH_DEGRADED, "%d of %d CPUs have a ring: %s", r->made, r->o.nr_cpus,
			   strerror(-r->err));
	} else {
		format_value(bytes, sizeof(bytes), UNIT_BYTES,
			     (uint64_t)r->made * r->o.slots * sizeof(struct ring_slot), 0);
		health_add(h, "Maps", "recorder", HEALTH_ON, "%u events a CPU, %s on %d CPUs", r->o.slots, bytes, r->made);
	}
}
