/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/perfetto/perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "export/perfetto/perfetto_internal.h"

struct perfetto *perfetto_new(FILE *to, uint64_t start_ns)
{
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->to = to;
	p->start_ns = start_ns;
	return p;
}

int perfetto_error(const struct perfetto *p)
{
	return p->err;
}

int perfetto_end(struct perfetto *p, uint64_t *bytes)
{
	out_write(p, true);
	errno = 0;
	if (!p->err && fflush(p->to))
		perfetto_fail(p, errno ? -errno : -EIO);
	if (bytes)
		*bytes = p->written;
	return p->err;
}

void perfetto_free(struct perfetto *p)
{
	if (!p)
		return;
	for (int sequence = 0; sequence < SEQUENCE_END; sequence++) {
		for (int i = 0; i < INTERNED_END; i++)
			map_fini(&p->interned[sequence].ids[i]);
		free(p->interned[sequence].new.data);
	}
	free(p->out.data);
	free(p->tree.data);
	free(p->labels.data);
	free(p->frame_ids);
	cpu_free(p->cpu);
	free(p);
}

void perfetto_clocks(struct perfetto *p, const struct perfetto_clocks *c)
{
	/* BOOTTIME, the trace's clock, then REALTIME, MONOTONIC, MONOTONIC_RAW */
	static const uint32_t ids[] = { 6, 1, 3, 5 };
	const uint64_t times[] = { c->boottime_ns, c->realtime_ns, c->monotonic_ns, c->monotonic_raw_ns };
	PB(TracePacket) packet = packet_on(SEQUENCE_REST, 0);
	PB(ClockSnapshot) snapshot = PB_INIT(CLOCK_SNAPSHOT);
	PB(ClockSnapshot__Clock) clocks[4], *list[4];

	for (int i = 0; i < 4; i++) {
		clocks[i] = (PB(ClockSnapshot__Clock))PB_INIT(CLOCK_SNAPSHOT__CLOCK);
		PB_SET(clocks[i], clock_id, ids[i]);
		PB_SET(clocks[i], timestamp, times[i]);
		list[i] = &clocks[i];
	}
	snapshot.n_clocks = c->monotonic_ns ? 4 : 2;
	snapshot.clocks = list;
	PB_SET_DATA(packet, CLOCK_SNAPSHOT, clock_snapshot, &snapshot);
	packet_write(p, &packet);
}

void perfetto_system(struct perfetto *p, const struct perfetto_system *s)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_REST, 0);
	PB(SystemInfo) info = PB_INIT(SYSTEM_INFO);
	PB(Utsname) uname = PB_INIT(UTSNAME);
	char host[TEXT_SIZE];

	uname.sysname = (char *)s->uname->sysname;
	uname.version = (char *)s->uname->version;
	uname.release = (char *)s->uname->release;
	uname.machine = (char *)s->uname->machine;
	info.utsname = &uname;
	PB_SET(info, hz, s->hz);
	PB_SET(info, page_size, s->page_size);
	PB_SET(info, timezone_off_mins, s->utc_offset_min);
	PB_SET(info, num_cpus, s->nr_cpus);
	PB_SET(info, system_ram_bytes, s->ram_bytes);
	info.machine_name = text_of(host, s->host);
	PB_SET_DATA(packet, SYSTEM_INFO, system_info, &info);
	packet_write(p, &packet);
}

void perfetto_uuid(struct perfetto *p, uint64_t high, uint64_t low)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_NONE, 0);
	PB(TraceUuid) uuid = PB_INIT(TRACE_UUID);

	PB_SET(uuid, msb, high);
	PB_SET(uuid, lsb, low);
	PB_SET_DATA(packet, TRACE_UUID, trace_uuid, &uuid);
	packet_write(p, &packet);
}

static void add_attribute(struct perfetto *p, struct bytes *to, const struct perfetto_value *v)
{
	static const uint32_t attribute_field = 1; /* of TraceAttributes */
	PB(TraceAttributes__Attribute) attribute = PB_INIT(TRACE_ATTRIBUTES__ATTRIBUTE);
	char text[TEXT_SIZE];

	attribute.key = (char *)v->key;
	if (v->text) {
		attribute.value_case = PERFETTO__PROTOS__TRACE_ATTRIBUTES__ATTRIBUTE__VALUE_STRING_VALUE;
		attribute.string_value = text_of(text, v->text);
	} else {
		attribute.value_case = PERFETTO__PROTOS__TRACE_ATTRIBUTES__ATTRIBUTE__VALUE_LONG_VALUE;
		attribute.long_value = v->number;
	}
	bytes_message(p, to, attribute_field, &attribute.base);
}

void perfetto_attributes(struct perfetto *p, const struct perfetto_value *values, size_t nr)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_NONE, 0);
	struct bytes attributes = { 0 };

	for (size_t i = 0; i < nr; i++)
		add_attribute(p, &attributes, &values[i]);
	packet_write_body(p, &packet, PB_DATA(TRACE_ATTRIBUTES), &attributes);
	free(attributes.data);
}

static uint64_t add_track(struct perfetto *p, PB(TrackDescriptor) *track, uint64_t parent, const char *name)
{
	char text[TEXT_SIZE];

	if (parent)
		PB_SET(*track, parent_uuid, parent);
	track->name = text_of(text, name);
	return track_write(p, packet_on(SEQUENCE_REST, 0), track);
}

uint64_t perfetto_group(struct perfetto *p, uint64_t parent, const char *name)
{
	PB(TrackDescriptor) track = PB_INIT(TRACK_DESCRIPTOR);

	PB_SET(track, child_ordering,
	       PERFETTO__PROTOS__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__LEXICOGRAPHIC);
	return add_track(p, &track, parent, name);
}

uint64_t perfetto_counter(struct perfetto *p, uint64_t parent, const char *name, enum perfetto_unit unit)
{
	PB(TrackDescriptor) track = PB_INIT(TRACK_DESCRIPTOR);
	PB(CounterDescriptor) counter = PB_INIT(COUNTER_DESCRIPTOR);

	PB_SET(counter, unit, (PB(CounterDescriptor__Unit))unit);
	track.counter = &counter;
	return add_track(p, &track, parent, name);
}

static void write_event(struct perfetto *p, uint64_t t, PB(TrackEvent) *event)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_REST, 0);

	PB_SET(packet, timestamp, t);
	event_write(p, packet, event);
}

void perfetto_count(struct perfetto *p, uint64_t t, uint64_t track, int64_t value)
{
	PB(TrackEvent) event = PB_INIT(TRACK_EVENT);

	PB_SET(event, type, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_COUNTER);
	PB_SET(event, track_uuid, track);
	PB_SET(event, counter_value, value);
	write_event(p, t, &event);
}

void perfetto_instant(struct perfetto *p, uint64_t t, uint64_t track, const char *name)
{
	PB(TrackEvent) event = PB_INIT(TRACK_EVENT);
	char text[TEXT_SIZE];

	PB_SET(event, type, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT);
	PB_SET(event, track_uuid, track);
	event.name = text_of(text, name);
	write_event(p, t, &event);
}
