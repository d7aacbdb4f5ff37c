/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_PERFETTO_PERFETTO_INTERNAL_H
#define SYSTOP_EXPORT_PERFETTO_PERFETTO_INTERNAL_H

/* What the files of the trace's writer share. Messages are packed by protobuf-c; those that hold very many
 * others are put together from packed ones, so that only their bytes are kept. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "perfetto.pb-c.h"
#include "util/map.h"

/* Generated names without their package: PB(TracePacket) packet = PB_INIT(TRACE_PACKET). */
#define PB(message) Perfetto__Protos__##message
#define PB_INIT(message) PERFETTO__PROTOS__##message##__INIT

/* PB_DATA(TRACK_EVENT) - what is in a packet: its data_case, and the number of that field. */
#define PB_DATA(field) PERFETTO__PROTOS__TRACE_PACKET__DATA_##field

/* PB_SET - a field of a message that is written, also if it is 0. */
#define PB_SET(message, field, to) ((message).has_##field = true, (message).field = (to))

/* Longest safe text, and that of a comm's 15 bytes: each may become four. */
#define TEXT_SIZE 4096
#define COMM_SIZE 64

/* Interned ids are of one of them, and so are clocks: samples count their time from each to the next, slices from the
 * start of the trace, and no packet of theirs says so. */
enum sequence { SEQUENCE_NONE, SEQUENCE_CPUS, SEQUENCE_SLICES, SEQUENCE_REST, SEQUENCE_SAMPLES, SEQUENCE_END };

/* TracePacket.sequence_flags. Never is a packet written that says data of a sequence was lost: all that comes
 * later on it would be skipped. */
enum { SEQUENCE_BEGINS = 1, SEQUENCE_GOES_ON = 2 };

/* What is interned: fields of InternedData. */
enum interned {
	INTERNED_CATEGORY = 1,
	INTERNED_EVENT = 2,
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_STACK = 7,
	INTERNED_BUILD_ID = 16,
	INTERNED_PATH = 17,
	INTERNED_SOURCE = 18,
	INTERNED_MAPPING = 19,
	INTERNED_SYMBOL = 26, /* the only one on SEQUENCE_CPUS */
	INTERNED_END
};

struct bytes {
	uint8_t *data;
	size_t len, room;
};

/* What is interned on a sequence. */
struct interning {
	struct map ids[INTERNED_END]; /* hash of contents -> id */
	struct bytes new;             /* InternedData of what no packet has told yet */
};

struct perfetto {
	FILE *to;
	uint64_t start_ns;
	int err;                      /* the first one */
	uint64_t written;
	struct bytes out;             /* packets */
	uint64_t last_track;
	struct interning interned[SEQUENCE_END];
	struct bytes tree, labels;    /* ProcessTree; packets to follow it */
	uint64_t tree_ns;
	bool has_outsiders;
	struct cpu *cpu;              /* perfetto_cpu.c */
	uint64_t *frame_ids;
	size_t frame_room;
	bool has_samples;
	uint64_t sampled;             /* time of the last one, as its clock has it */
};

/* Clocks: BOOTTIME, and that of a sequence. */
enum { CLOCK_OF_TRACE = 6, CLOCK_OF_SEQUENCE = 64 };

/* perfetto_fail - keeps the first error. */
void perfetto_fail(struct perfetto *p, int err);

/* bytes_append - appends bytes; bytes_fields - a packed message; bytes_message - the same as a field of the
 * message that @to is. */
void bytes_append(struct perfetto *p, struct bytes *to, const void *data, size_t len);
void bytes_fields(struct perfetto *p, struct bytes *to, const ProtobufCMessage *message);
void bytes_message(struct perfetto *p, struct bytes *to, uint32_t field, const ProtobufCMessage *message);

/* packet_on - a packet with nothing in it; @flags: SEQUENCE_ or 0. */
PB(TracePacket) packet_on(enum sequence sequence, unsigned int flags);

/* packet_append - appends a packet. @body: packed message, its field @field; NULL: none. */
void packet_append(struct perfetto *p, struct bytes *to, const PB(TracePacket) *packet, uint32_t field,
		   const struct bytes *body);

/* packet_write, packet_write_body - to the file; @body is empty after. */
void packet_write(struct perfetto *p, const PB(TracePacket) *packet);
void packet_write_body(struct perfetto *p, const PB(TracePacket) *packet, uint32_t field, struct bytes *body);

/* out_write - what is in the buffer, if that is much, or @all. */
void out_write(struct perfetto *p, bool all);

/* hash_add - for what is interned: a hash of all that was added. hash_bytes - the same of some bytes. */
uint64_t hash_add(uint64_t hash, uint64_t value);
uint64_t hash_bytes(const void *data, size_t len);

/* intern - the id of what has this hash, of 64 bits that stand for it; @is_new: it has yet to be added to
 * what is new there. 0 after an error. */
uint64_t intern(struct perfetto *p, enum sequence sequence, enum interned kind, uint64_t hash, bool *is_new);
/* intern_text - of text, made safe; intern_bytes - of any bytes. NULL has id 0. */
uint64_t intern_text(struct perfetto *p, enum sequence sequence, enum interned kind, const char *text);
uint64_t intern_bytes(struct perfetto *p, enum sequence sequence, enum interned kind, const void *data, size_t len);
/* intern_write - a packet with what is new, if there is any, before those that use it. */
void intern_write(struct perfetto *p, enum sequence sequence);

/* text_of - safe text in @buf, of TEXT_SIZE, NULL of NULL; comm_of - a comm, of COMM_SIZE. */
char *text_of(char *buf, const char *text);
char *comm_of(char *buf, const char *comm);

/* cpu_free - perfetto_cpu.c's part of struct perfetto. */
void cpu_free(struct cpu *c);

#endif
