/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/perfetto/perfetto_stacks.h"

#include <errno.h>

#include "export/perfetto/perfetto_internal.h"
#include "util/vec.h"

/* Unit of sample times: 3 bytes instead of 4 at 99 samples per second. */
#define SAMPLE_UNIT_NS 64

/* The sequence's clock starts with the trace. */
static void begin_clock(struct perfetto *p, enum sequence sequence, bool incremental)
{
	PB(TracePacket) packet = packet_on(sequence, 0);
	PB(ClockSnapshot) snapshot = PB_INIT(CLOCK_SNAPSHOT);
	PB(ClockSnapshot__Clock) trace = PB_INIT(CLOCK_SNAPSHOT__CLOCK), own = trace, *list[] = { &trace, &own };

	PB_SET(trace, clock_id, CLOCK_OF_TRACE);
	PB_SET(trace, timestamp, p->start_ns);
	PB_SET(own, clock_id, CLOCK_OF_SEQUENCE);
	PB_SET(own, timestamp, 0);
	if (incremental) {
		PB_SET(own, is_incremental, true);
		PB_SET(own, unit_multiplier_ns, SAMPLE_UNIT_NS);
	}
	snapshot.n_clocks = 2;
	snapshot.clocks = list;
	PB_SET_DATA(packet, CLOCK_SNAPSHOT, clock_snapshot, &snapshot);
	packet_write(p, &packet);
}

static void begin_sequence(struct perfetto *p, enum sequence sequence, PB(TracePacketDefaults) *defaults)
{
	PB(TracePacket) packet = packet_on(sequence, SEQUENCE_BEGINS);

	PB_SET(*defaults, timestamp_clock_id, CLOCK_OF_SEQUENCE);
	packet.trace_packet_defaults = defaults;
	packet_write(p, &packet);
}

void perfetto_stacks_begin(struct perfetto *p, const struct perfetto_sampler *sampler)
{
	PB(TracePacketDefaults) defaults = PB_INIT(TRACE_PACKET_DEFAULTS), plain = defaults;
	PB(PerfSampleDefaults) samples = PB_INIT(PERF_SAMPLE_DEFAULTS);
	PB(PerfEvents__Timebase) timebase = PB_INIT(PERF_EVENTS__TIMEBASE);
	char name[TEXT_SIZE];

	begin_sequence(p, SEQUENCE_SLICES, &plain);
	begin_clock(p, SEQUENCE_SLICES, false);
	if (sampler) {
		PB_SET(timebase, frequency, sampler->frequency);
		PB_SET(timebase, counter, (PB(PerfEvents__Counter))sampler->event);
		timebase.name = text_of(name, sampler->name);
		PB_SET(timebase, timestamp_clock,
		       PERFETTO__PROTOS__PERF_EVENTS__PERF_CLOCK__PERF_CLOCK_BOOTTIME);
		samples.timebase = &timebase;
		defaults.perf_sample_defaults = &samples;
	}
	begin_sequence(p, SEQUENCE_SAMPLES, &defaults);
}

static uint64_t add_mapping(struct perfetto *p, enum sequence on, const struct perfetto_frame *f)
{
	PB(Mapping) mapping = PB_INIT(MAPPING);
	uint64_t path, build_id, id;
	bool is_new;

	if (!f->path)
		return 0;
	path = intern_text(p, on, INTERNED_PATH, f->path);
	build_id = f->build_id_len ? intern_bytes(p, on, INTERNED_BUILD_ID, f->build_id, f->build_id_len) : 0;
	id = intern(p, on, INTERNED_MAPPING, hash_add(hash_add(0, path), build_id), &is_new);
	if (!is_new)
		return id;
	PB_SET(mapping, iid, id);
	if (build_id)
		PB_SET(mapping, build_id, build_id);
	/* One string for the whole path: Perfetto joins several with '/'. */
	mapping.n_path_string_ids = 1;
	mapping.path_string_ids = &path;
	bytes_message(p, &p->interned[on].new, INTERNED_MAPPING, &mapping.base);
	return id;
}

static uint64_t add_frame(struct perfetto *p, enum sequence on, const struct perfetto_frame *f)
{
	PB(Frame) frame = PB_INIT(FRAME);
	uint64_t function = intern_text(p, on, INTERNED_FUNCTION, f->function), mapping, hash, id;
	bool is_new;

	mapping = add_mapping(p, on, f);
	hash = hash_add(hash_add(hash_add(hash_add(0, function), mapping), f->rel_pc), f->kind);
	id = intern(p, on, INTERNED_FRAME, hash, &is_new);
	if (!is_new)
		return id;
	PB_SET(frame, iid, id);
	if (function)
		PB_SET(frame, function_name_id, function);
	if (mapping) {
		PB_SET(frame, mapping_id, mapping);
		PB_SET(frame, rel_pc, f->rel_pc);
	}
	PB_SET(frame, kind, (PB(Frame__Kind))f->kind);
	bytes_message(p, &p->interned[on].new, INTERNED_FRAME, &frame.base);
	return id;
}

uint64_t perfetto_stack(struct perfetto *p, enum perfetto_use use, const struct perfetto_frame *frames, size_t nr)
{
	enum sequence on = use == PERFETTO_OF_SAMPLE ? SEQUENCE_SAMPLES : SEQUENCE_SLICES;
	PB(Callstack) stack = PB_INIT(CALLSTACK);
	uint64_t hash = nr, id;
	bool is_new;

	if (!nr || p->err)
		return 0;
	for (size_t i = 0; i < nr;) {
		uint64_t frame = add_frame(p, on, &frames[i]);

		if (VEC_PUSH(p->frame_ids, i, p->frame_room, frame)) {
			perfetto_fail(p, -ENOMEM);
			return 0;
		}
		hash = hash_add(hash, frame);
	}
	id = intern(p, on, INTERNED_STACK, hash, &is_new);
	if (is_new) {
		PB_SET(stack, iid, id);
		stack.n_frame_ids = nr;
		stack.frame_ids = p->frame_ids;
		bytes_message(p, &p->interned[on].new, INTERNED_STACK, &stack.base);
	}
	intern_write(p, on);
	return id;
}

void perfetto_sample(struct perfetto *p, const struct perfetto_sample *s)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_SAMPLES, 0);
	PB(PerfSample) sample = PB_INIT(PERF_SAMPLE);
	uint64_t at = s->t > p->start_ns ? (s->t - p->start_ns) / SAMPLE_UNIT_NS : 0;

	if (!p->has_samples || at < p->sampled) {
		begin_clock(p, SEQUENCE_SAMPLES, true);
		p->has_samples = true;
		p->sampled = 0;
	}
	PB_SET(packet, timestamp, at - p->sampled);
	p->sampled = at;
	PB_SET(sample, cpu, s->cpu);
	PB_SET(sample, pid, s->pid);
	PB_SET(sample, tid, s->tid);
	if (s->stack)
		PB_SET(sample, callstack_iid, s->stack);
	PB_SET(sample, cpu_mode, (PB(PerfSample__CpuMode))s->mode);
	PB_SET_DATA(packet, PERF_SAMPLE, perf_sample, &sample);
	packet_write(p, &packet);
}

void perfetto_samples_lost(struct perfetto *p, uint64_t t, unsigned int cpu, uint64_t nr)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_SAMPLES, 0);
	PB(PerfSample) lost = PB_INIT(PERF_SAMPLE);

	PB_SET(packet, timestamp, t);
	PB_SET(packet, timestamp_clock_id, CLOCK_OF_TRACE);
	PB_SET(lost, cpu, cpu);
	PB_SET(lost, kernel_records_lost, nr);
	PB_SET_DATA(packet, PERF_SAMPLE, perf_sample, &lost);
	packet_write(p, &packet);
}

/* The time of a track makes Perfetto read it after the thread's birth. */
static PB(TracePacket) packet_at(const struct perfetto *p, uint64_t t)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_SLICES, 0);

	PB_SET(packet, timestamp, t > p->start_ns ? t - p->start_ns : 0);
	return packet;
}

uint64_t perfetto_thread_track(struct perfetto *p, uint64_t t, int32_t pid, int32_t tid)
{
	PB(TrackDescriptor) of_thread = PB_INIT(TRACK_DESCRIPTOR), track = PB_INIT(TRACK_DESCRIPTOR);
	PB(ThreadDescriptor) thread = PB_INIT(THREAD_DESCRIPTOR);

	PB_SET(thread, pid, pid);
	PB_SET(thread, tid, tid);
	of_thread.thread = &thread;
	PB_SET(track, parent_uuid, track_write(p, packet_at(p, t), &of_thread));
	track.name = "blocked";
	return track_write(p, packet_at(p, t), &track);
}

static void write_named(struct perfetto *p, uint64_t t, uint64_t track, const struct perfetto_slice *s,
			PB(TrackEvent__Type) type)
{
	PB(TrackEvent) event = PB_INIT(TRACK_EVENT);
	PB(DebugAnnotation) arguments[PERFETTO_ARGUMENTS], *list[PERFETTO_ARGUMENTS];
	uint64_t category = intern_text(p, SEQUENCE_SLICES, INTERNED_CATEGORY, s->category);

	PB_SET(event, type, type);
	PB_SET(event, track_uuid, track);
	PB_SET(event, name_iid, intern_text(p, SEQUENCE_SLICES, INTERNED_EVENT, s->name));
	event.n_category_iids = !!category;
	event.category_iids = &category;
	if (s->stack)
		PB_SET(event, callstack_iid, s->stack);
	for (size_t i = 0; i < s->nr_arguments; i++) {
		arguments[i] = (PB(DebugAnnotation))PB_INIT(DEBUG_ANNOTATION);
		arguments[i].name = (char *)s->arguments[i].name;
		PB_SET(arguments[i], uint_value, s->arguments[i].value);
		list[i] = &arguments[i];
	}
	event.n_debug_annotations = s->nr_arguments;
	event.debug_annotations = list;
	intern_write(p, SEQUENCE_SLICES);
	event_write(p, packet_at(p, t), &event);
}

void perfetto_slice_begin(struct perfetto *p, uint64_t t, uint64_t track, const struct perfetto_slice *s)
{
	write_named(p, t, track, s, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
}

void perfetto_slice_instant(struct perfetto *p, uint64_t t, uint64_t track, const struct perfetto_slice *s)
{
	write_named(p, t, track, s, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT);
}

void perfetto_slice_end(struct perfetto *p, uint64_t t, uint64_t track)
{
	PB(TrackEvent) event = PB_INIT(TRACK_EVENT);

	PB_SET(event, type, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END);
	PB_SET(event, track_uuid, track);
	event_write(p, packet_at(p, t), &event);
}
