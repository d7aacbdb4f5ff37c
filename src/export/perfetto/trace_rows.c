/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes events without a writer of their own, by their rows (ring.h). */
#include <stdio.h>

#include "export/perfetto/trace_internal.h"

static uint64_t group_of(struct trace *t, uint64_t *group, const char *name)
{
	if (!*group)
		*group = perfetto_group(t->p, 0, name);
	return *group;
}

/* The number of the event's thread, CPU or device; -1: no thread in scope. */
static int64_t owner_of(const struct trace *t, const struct event_row *row, const struct event *e)
{
	switch (row->track) {
	case EVENT_THREAD:
		return t->current > 0 && t->current < PERFETTO_OUTSIDER(0) ? t->current : -1;
	case EVENT_CPU:
		return t->cpu;
	default:
		return e->values[0];
	}
}

static uint64_t make_track(struct trace *t, const struct event_row *row, const struct event *e, int64_t owner)
{
	uint64_t parent;
	char name[80];

	switch (row->track) {
	case EVENT_THREAD:
		parent = trace_thread_track(t, owner, e->at);
		snprintf(name, sizeof(name), "%s", row->name);
		break;
	case EVENT_CPU:
		parent = group_of(t, &t->cpus, "CPUs");
		snprintf(name, sizeof(name), "CPU %d %s", (int)owner, row->name);
		break;
	default:
		parent = group_of(t, &t->devices, "devices");
		snprintf(name, sizeof(name), "device %d %s", (int)owner, row->name);
	}
	if (!parent)
		return 0;
	return row->shape == EVENT_COUNTER ? perfetto_counter(t->p, parent, name, PERFETTO_COUNT)
					   : perfetto_group(t->p, parent, name);
}

static uint64_t track_of(struct trace *t, const struct event_row *row, const struct event *e)
{
	int64_t owner = owner_of(t, row, e);
	uint64_t key = (uint64_t)e->kind << 32 | (uint32_t)(owner + 1), track;

	if (owner < 0)
		return 0;
	track = (uintptr_t)map_get(&t->rows, key);
	if (!track) {
		track = make_track(t, row, e, owner);
		if (track)
			trace_remember(t, &t->rows, key, track);
	}
	return track;
}

void trace_row_event(struct trace *t, const struct event_row *row, const struct event *e)
{
	uint64_t track = track_of(t, row, e), began = e->at - e->off_ns;
	struct perfetto_argument arguments[RING_VALUES_MAX];
	struct perfetto_slice s = { .name = row->name, .category = "event", .arguments = arguments };

	if (!track)
		return;
	for (int i = 0; i < 2 * row->slots; i++)
		if (row->values[i])
			arguments[s.nr_arguments++] = (struct perfetto_argument){ row->values[i], e->values[i] };
	switch (row->shape) {
	case EVENT_COUNTER:
		perfetto_count(t->p, e->at, track, e->values[event_measure(row)]);
		break;
	case EVENT_INSTANT:
		perfetto_slice_instant(t->p, e->at, track, &s);
		break;
	case EVENT_SLICE:
		perfetto_slice_begin(t->p, began > t->start ? began : t->start, track, &s);
		perfetto_slice_end(t->p, e->at, track);
	}
}
