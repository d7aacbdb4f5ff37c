/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/window.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "record/rings.h"
#include "record/snapshot.h"
#include "slot.h"
#include "util/clock.h"

struct window {
	int cpu;
	uint64_t to, first;
	window_fn *fn;
	void *arg;
};

static int on_event(void *arg, const struct event *e)
{
	struct window *w = arg;

	if (!w->first)
		w->first = e->at;
	return e->at < w->to ? w->fn(w->arg, w->cpu, e) : 0;
}

/* Sets the part of a CPU's ring to read. False: there is none. */
static bool place(const struct rings *rings, const struct cpu_slot *cpu, int nr, uint64_t from, uint64_t most,
		  struct snapshot_ring *ring)
{
	ring->nr = rings_slots(rings);
	ring->head = (const uint64_t *)&cpu->records;
	ring->end = __atomic_load_n(ring->head, __ATOMIC_ACQUIRE);
	ring->at = clock_ns(CLOCK_BOOTTIME);
	ring->from = rings_place(rings, nr, from);
	ring->marks = rings_marks(rings, nr, &ring->nr_marks);
	if (ring->end > most && ring->from < ring->end - most)
		ring->from = ring->end - most;
	return ring->from < ring->end && ring->nr_marks;
}

int window_read(const struct rings *rings, const struct cpu_slot *cpus, int nr_cpus, uint64_t from, uint64_t to,
		uint64_t most, uint64_t *since, window_fn *fn, void *arg)
{
	size_t bytes = (size_t)rings_slots(rings) * sizeof(struct ring_slot);
	struct window w = { .to = to, .fn = fn, .arg = arg };
	int err = 0;

	*since = from;
	for (w.cpu = 0; w.cpu < nr_cpus && bytes && !err; w.cpu++) {
		struct snapshot_ring ring = { 0 };
		struct event_loss loss = { 0 };
		int fd = rings_fd(rings, w.cpu);
		void *slots;

		if (fd < 0 || !place(rings, &cpus[w.cpu], w.cpu, from, most / nr_cpus, &ring))
			continue;
		slots = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
		if (slots == MAP_FAILED)
			return -errno;
		ring.slots = slots;
		w.first = 0;
		err = snapshot_read(&ring, from, on_event, &w, &loss);
		munmap(slots, bytes);
		if ((ring.from > rings_place(rings, w.cpu, from) || loss.overwritten) && w.first > *since)
			*since = w.first;
	}
	return err;
}
