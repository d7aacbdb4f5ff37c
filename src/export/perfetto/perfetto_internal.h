/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PERFETTO_PERFETTO_INTERNAL_H
#define SYSTOP_EXPORT_PERFETTO_PERFETTO_INTERNAL_H

/* Shared by the files of the trace writer. protobuf-c packs the messages; messages with very many submessages are
 * assembled from packed ones, so that only bytes are kept. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "perfetto.pb-c.h"
#include "util/hash.h"
#include "util/map.h"

/* Generated names without their package: PB(TracePacket) packet = PB_INIT(TRACE_PACKET). */
#define PB(message) Perfetto__Protos__##message
#define PB_INIT(message) PERFETTO__PROTOS__##message##__INIT

/* PB_DATA(TRACK_EVENT) - the contents of a packet: its data_case, and the number of that field. */
#define PB_DATA(field) PERFETTO__PROTOS__TRACE_PACKET__DATA_##field

/* PB_SET_DATA - sets the contents of a packet. */
#define PB_SET_DATA(packet, data, field, to) ((packet).data_case = PB_DATA(data), (packet).field = (to))

/* PB_SET - sets a field so that it is written even if it is 0. */
#define PB_SET(message, field, to) ((message).has_##field = true, (message).field = (to))

/* Maximum length of safe text, and of a safe comm of 15 bytes: each byte may become four. */
#define TEXT_SIZE 4096
#define COMM_SIZE 64

/* Interned ids belong to a sequence, and so do clocks: timestamps of samples are deltas to the previous sample, those of slices
 * count from the start of the trace. Their packets need no field for the clock. */
enum sequence { SEQUENCE_NONE, SEQUENCE_CPUS, SEQUENCE_SLICES, SEQUENCE_REST, SEQUENCE_SAMPLES, SEQUENCE_END };

/* TracePacket.sequence_flags. No packet ever reports lost data of a sequence: Perfetto would skip the rest of the
 * sequence. */
enum { SEQUENCE_BEGINS = 1, SEQUENCE_GOES_ON = 2 };

/* Kinds of interned data: fields of InternedData. */
enum interned {
	INTERNED_CATEGORY = 1,
	INTERNED_EVENT = 2,
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_STACK = 7,
	INTERNED_BUILD_ID = 16,
	INTERNED_PATH = 17,
	INTERNED_MAPPING = 19,
	INTERNED_SYMBOL = 26, /* the only kind on SEQUENCE_CPUS */
	INTERNED_END
};

struct bytes {
	uint8_t *data;
	size_t len, room;
};

/* Interned data of a sequence. */
struct interning {
	struct map ids[INTERNED_END]; /* hash of contents -> id */
	struct bytes new;             /* InternedData that no packet contains yet */
};

struct perfetto {
	FILE *to;
	uint64_t start_ns;
	int err;                      /* the first error */
	uint64_t written;
	struct bytes out;             /* packets */
	uint64_t last_track;
	struct interning interned[SEQUENCE_END];
	struct bytes tree, labels;    /* ProcessTree; packets that follow it */
	uint64_t tree_ns;
	bool has_outsiders;
	struct cpu *cpu;              /* perfetto_cpu.c */
	uint64_t *frame_ids;
	size_t frame_room;
	bool has_samples;
	uint64_t sampled;             /* time of the last sample, as stored in units of its clock */
};

/* Ids of clocks: BOOTTIME, and the clock of a sequence. */
enum { CLOCK_OF_TRACE = 6, CLOCK_OF_SEQUENCE = 64 };

/* perfetto_fail - keeps the first error. */
void perfetto_fail(struct perfetto *p, int err);

/* bytes_append - appends bytes; bytes_fields - appends a packed message; bytes_message - appends it as a field of the
 * message @to. */
void bytes_append(struct perfetto *p, struct bytes *to, const void *data, size_t len);
void bytes_fields(struct perfetto *p, struct bytes *to, const ProtobufCMessage *message);
void bytes_message(struct perfetto *p, struct bytes *to, uint32_t field, const ProtobufCMessage *message);

/* packet_on - an empty packet; @flags: SEQUENCE_ or 0. */
PB(TracePacket) packet_on(enum sequence sequence, unsigned int flags);

/* packet_append - appends a packet. @body: a packed message, as its field @field; NULL: none. */
void packet_append(struct perfetto *p, struct bytes *to, const PB(TracePacket) *packet, uint32_t field,
		   const struct bytes *body);

/* packet_write, packet_write_body - write to the file; @body is empty afterwards. */
void packet_write(struct perfetto *p, const PB(TracePacket) *packet);
void packet_write_body(struct perfetto *p, const PB(TracePacket) *packet, uint32_t field, struct bytes *body);

/* track_write - writes a track, and returns its id; event_write - an event on one. @packet: empty, but for its
 * sequence and time. */
uint64_t track_write(struct perfetto *p, PB(TracePacket) packet, PB(TrackDescriptor) *track);
void event_write(struct perfetto *p, PB(TracePacket) packet, PB(TrackEvent) *event);

/* out_write - writes the buffer if it holds much, or if @all. */
void out_write(struct perfetto *p, bool all);

/* intern - the id of the contents with this 64-bit hash, which identifies them; @is_new: the caller must add the
 * contents to `new` of the sequence. 0 after an error. */
uint64_t intern(struct perfetto *p, enum sequence sequence, enum interned kind, uint64_t hash, bool *is_new);
/* intern_text - interns text, made safe; intern_bytes - any bytes. NULL has id 0. */
uint64_t intern_text(struct perfetto *p, enum sequence sequence, enum interned kind, const char *text);
uint64_t intern_bytes(struct perfetto *p, enum sequence sequence, enum interned kind, const void *data, size_t len);
/* intern_write - writes a packet with new interned data, if any; call it before packets that use them. */
void intern_write(struct perfetto *p, enum sequence sequence);

/* text_of - safe text in @buf (TEXT_SIZE), NULL for NULL; comm_of - a safe comm (COMM_SIZE). */
char *text_of(char *buf, const char *text);
char *comm_of(char *buf, const char *comm);

/* cpu_free - frees perfetto_cpu.c's part of struct perfetto; NULL: nothing. */
void cpu_free(struct cpu *c);

#endif
