/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of a trace without a special writer. */
#include "unit.h"

#include "export/perfetto/perfetto_stacks.h"
#include "export/perfetto/trace_internal.h"
#include "trace.h"

#define KIND 200

/* The track with this name; NULL: none. */
static const PB(TrackDescriptor) *track_named(const char *name)
{
	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(TracePacket) *p = trace.read->packet[i];

		if (p->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_DESCRIPTOR && p->track_descriptor->name &&
		    !strcmp(p->track_descriptor->name, name))
			return p->track_descriptor;
	}
	return NULL;
}

/* Event number @nr of a track, with its time since the start. */
static const PB(TrackEvent) *event_of(uint64_t track, int nr, uint64_t *at)
{
	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(TracePacket) *p = trace.read->packet[i];

		if (p->data_case != PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_EVENT ||
		    p->track_event->track_uuid != track || nr--)
			continue;
		*at = p->timestamp;
		return p->track_event;
	}
	return NULL;
}

static void written(struct trace *t, const struct event_row *row, const struct event *e)
{
	static const struct {
		struct trace_index head;
		struct trace_index_thread thread;
	} index = { { .threads = { sizeof(struct trace_index), 1 } }, { .tid = 77, .tgid = 77 } };

	t->index = &index.head;
	t->p = begin();
	perfetto_stacks_begin(t->p, NULL);
	trace_row_event(t, row, e);
	end(t->p);
	map_fini(&t->tracks);
	map_fini(&t->rows);
	assert_int_equal(t->err, 0);
}

static void of_a_cpu(void **state)
{
	struct trace t = { .start = START, .cpu = 3, .current = 77 };
	const struct event e = { .at = START + 500, .kind = RING_GAP, .off_ns = 200, .values = { 77, 0, 200 } };
	const PB(TrackDescriptor) *track;
	const PB(TrackEvent) *event;
	uint64_t at;

	(void)state;
	written(&t, &event_rows[RING_GAP], &e);
	track = track_named("CPU 3 timer gap");
	assert_non_null(track);
	assert_int_equal(track->parent_uuid, track_named("CPUs")->uuid);
	event = event_of(track->uuid, 0, &at);
	assert_int_equal(event->type, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
	assert_int_equal(at, 300);
	assert_int_equal(event->n_debug_annotations, 2);
	assert_string_equal(event->debug_annotations[0]->name, "tid");
	assert_int_equal(event->debug_annotations[0]->uint_value, 77);
	assert_string_equal(event->debug_annotations[1]->name, "duration_ns");
	assert_int_equal(event->debug_annotations[1]->uint_value, 200);
	event = event_of(track->uuid, 1, &at);
	assert_int_equal(event->type, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END);
	assert_int_equal(at, 500);
	forget();
}

static void of_a_thread(void **state)
{
	static const struct event_row row = { "fault", EVENT_THREAD, EVENT_INSTANT, 1, { "file", "page" } };
	struct trace t = { .start = START, .cpu = 3, .current = 77 };
	const struct event e = { .at = START + 500, .kind = KIND, .values = { 5, 6 } };
	const PB(TrackDescriptor) *track;
	const PB(TrackEvent) *event;
	uint64_t at;

	(void)state;
	written(&t, &row, &e);
	track = track_named("fault");
	assert_non_null(track);
	assert_int_equal(track->parent_uuid, track_named("blocked")->uuid);
	event = event_of(track->uuid, 0, &at);
	assert_int_equal(event->type, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT);
	assert_int_equal(event->debug_annotations[1]->uint_value, 6);
	forget();

	t = (struct trace){ .start = START, .current = 0 }; /* the CPU is idle: the event belongs to no thread */
	written(&t, &row, &e);
	assert_null(track_named("fault"));
	forget();
}

static void of_a_device(void **state)
{
	static const struct event_row row = { "queue", EVENT_DEVICE, EVENT_COUNTER, 2, { "device", NULL, "requests" } };
	struct trace t = { .start = START };
	const struct event e = { .at = START + 500, .kind = KIND, .values = { 8, 0, 1ULL << 40 } };
	const PB(TrackDescriptor) *track;
	const PB(TrackEvent) *event;
	uint64_t at;

	(void)state;
	written(&t, &row, &e);
	track = track_named("device 8 queue");
	assert_non_null(track);
	assert_non_null(track->counter);
	event = event_of(track->uuid, 0, &at);
	assert_int_equal(event->counter_value, 1ULL << 40);
	forget();
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(of_a_cpu), cmocka_unit_test(of_a_thread), cmocka_unit_test(of_a_device));
}
