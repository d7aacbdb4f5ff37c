/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input of a trace: the recorder's rings, and the index that explains them. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/capture.h"
#include "export/exporter.h"
#include "export/trace_index.h"
#include "record/keep.h"
#include "record/snapshot.h"
#include "save/kept.h"

#define SLOTS 64U

/* --- Rings */

struct told {
	uint64_t from, last;
};

static int check_event(void *arg, const struct event *e)
{
	struct told *t = arg;

	fuzz_check(e->at >= t->from, "an event of %lu, before %lu", (long)e->at, (long)t->from);
	fuzz_check(e->kind > 0 && e->kind < RING_KINDS, "kind %d", e->kind);
	t->last = e->at;
	return 0;
}

/* Slots of a ring, whose laps may be wrong: the first byte selects those that get the right one. */
static void fill_ring(struct feed *f, struct ring_slot *slots, uint32_t nr, uint64_t end)
{
	uint8_t right = feed_number(f, 1);

	for (uint32_t i = 0; i < nr && f->left; i++) {
		uint64_t place = end > nr ? end - nr + i : i, lap = (place / nr & 0xff) << RING_LAP_SHIFT;
		struct ring_slot *s = &slots[place % nr];

		feed_copy(f, s, sizeof(*s));
		if (right & 1 << i % 8)
			continue;
		s->a = (s->a & ~(0xffULL << RING_LAP_SHIFT)) | lap;
		s->b = (s->b & ~(0xffULL << RING_LAP_SHIFT)) | lap;
	}
}

void fuzz_rings(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	struct ring_slot *slots = calloc(SLOTS, sizeof(*slots));
	struct event_mark marks[3];
	struct told told = { .from = feed_number(&f, 8) };
	uint64_t end = feed_number(&f, 8) & 0xffff, head = end + feed_number(&f, 1) % SLOTS;
	struct snapshot_ring ring = { .slots = slots, .nr = SLOTS, .head = &head, .end = end, .marks = marks,
				      .nr_marks = feed_number(&f, 1) % 4 };
	struct event_loss loss = { 0 };

	fuzz_check(slots, "no memory");
	ring.from = feed_number(&f, 2);
	for (int i = 0; i < 3; i++) {
		marks[i].at = feed_number(&f, 8);
		marks[i].head = feed_number(&f, 2);
	}
	fill_ring(&f, slots, SLOTS, end);
	snapshot_read(&ring, told.from, check_event, &told, &loss);
	free(slots);
}

/* --- Images */

static bool go_on(void *arg, int percent)
{
	(void)arg;
	fuzz_check(percent >= 0 && percent <= 100, "%d %%", percent);
	return true;
}

static void write_trace(const struct trace_index *index, const struct ring_slot *slots, const uint64_t *head)
{
	struct keep_ring *rings = calloc(index->cpus.nr + 1, sizeof(*rings));
	static FILE *null;
	struct capture c = { .progress = go_on };
	struct kept kept = { index, rings };
	struct capture_result result;

	if (!null)
		null = fopen("/dev/null", "we");
	fuzz_check(rings && null, "no memory");
	for (uint32_t cpu = 0; cpu < index->cpus.nr && cpu < 2; cpu++)
		rings[cpu] = (struct keep_ring){ .slots = slots, .head = head, .end = *head };
	kept_capture(&c, &kept);
	export_trace.window(null, &c, &result);
	free(rings);
}

static void look_up(const struct trace_index *index)
{
	for (uint32_t i = 0; i < 8; i++) {
		fuzz_check(strlen(trace_index_string(index, i * i)) < index->bytes, "a text without an end");
		trace_index_who(index, i, i);
		trace_index_find_process(index, i);
		trace_index_find_stack(index, i);
	}
}

/* The two bytes before the index are the number of slots that follow it: 16 bytes each. */
void fuzz_image(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size }, rest;
	uint32_t nr = feed_number(&f, 2) % SLOTS;
	size_t behind = nr * sizeof(struct ring_slot) + 1, len = f.left > behind ? f.left - behind : f.left;
	struct ring_slot *slots = calloc(SLOTS, sizeof(*slots));
	int fd = fuzz_fd_again(f.at, len);
	const struct trace_index *index = trace_index_open(fd);
	uint64_t head = nr;

	fuzz_check(slots, "no memory");
	rest = (struct feed){ f.at + len, f.left - len };
	fill_ring(&rest, slots, SLOTS, head);
	if (index) {
		look_up(index);
		if (index->ring_slots == SLOTS)
			write_trace(index, slots, &head);
	}
	trace_index_close(index);
	close(fd);
	free(slots);
}
