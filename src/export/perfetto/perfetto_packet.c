/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/perfetto/perfetto_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

/* Trace.packet, the only field of a file. */
#define TRACE_PACKET 1

/* Output buffer; larger writes bypass stdio's. */
#define OUT_SIZE (256 << 10)

/* Maximum size of a field's key and length. */
#define PREFIX_MAX (5 + 10)

void perfetto_fail(struct perfetto *p, int err)
{
	if (!p->err)
		p->err = err;
}

/* Makes room for @len more bytes and returns it, NULL after an error. */
static uint8_t *bytes_room(struct perfetto *p, struct bytes *b, size_t len)
{
	uint8_t *grown;
	size_t room;

	if (p->err)
		return NULL;
	if (b->len + len > b->room) {
		room = 2 * (b->len + len);
		grown = realloc(b->data, room);
		if (!grown) {
			perfetto_fail(p, -ENOMEM);
			return NULL;
		}
		b->data = grown;
		b->room = room;
	}
	return b->data + b->len;
}

static uint8_t *varint(uint8_t *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = v | 0x80;
	*at++ = v;
	return at;
}

/* Writes key and length of a message field. */
static uint8_t *prefix(uint8_t *at, uint32_t field, size_t len)
{
	return varint(varint(at, (uint64_t)field << 3 | PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED), len);
}

void bytes_append(struct perfetto *p, struct bytes *to, const void *data, size_t len)
{
	uint8_t *at = bytes_room(p, to, len);

	if (!at || !len)
		return;
	memcpy(at, data, len);
	to->len += len;
}

void bytes_fields(struct perfetto *p, struct bytes *to, const ProtobufCMessage *message)
{
	uint8_t *at = bytes_room(p, to, protobuf_c_message_get_packed_size(message));

	if (at)
		to->len += protobuf_c_message_pack(message, at);
}

void bytes_message(struct perfetto *p, struct bytes *to, uint32_t field, const ProtobufCMessage *message)
{
	size_t len = protobuf_c_message_get_packed_size(message);
	uint8_t *at = bytes_room(p, to, PREFIX_MAX + len);

	if (!at)
		return;
	at = prefix(at, field, len);
	to->len = at + protobuf_c_message_pack(message, at) - to->data;
}

PB(TracePacket) packet_on(enum sequence sequence, unsigned int flags)
{
	PB(TracePacket) packet = PB_INIT(TRACE_PACKET);

	if (sequence)
		PB_SET(packet, trusted_packet_sequence_id, sequence);
	if (flags)
		PB_SET(packet, sequence_flags, flags);
	if (flags == SEQUENCE_BEGINS)
		PB_SET(packet, first_packet_on_sequence, true);
	return packet;
}

void packet_append(struct perfetto *p, struct bytes *to, const PB(TracePacket) *packet, uint32_t field,
		   const struct bytes *body)
{
	uint8_t before[PREFIX_MAX], *at;
	size_t body_prefix = body ? prefix(before, field, body->len) - before : 0,
	       len = protobuf_c_message_get_packed_size(&packet->base) + body_prefix + (body ? body->len : 0);

	at = bytes_room(p, to, PREFIX_MAX + len);
	if (!at)
		return;
	at = prefix(at, TRACE_PACKET, len);
	at += protobuf_c_message_pack(&packet->base, at);
	if (body) {
		memcpy(at, before, body_prefix);
		at += body_prefix;
	}
	if (body && body->len) {
		memcpy(at, body->data, body->len);
		at += body->len;
	}
	to->len = at - to->data;
}

void packet_write(struct perfetto *p, const PB(TracePacket) *packet)
{
	packet_append(p, &p->out, packet, 0, NULL);
	out_write(p, false);
}

void packet_write_body(struct perfetto *p, const PB(TracePacket) *packet, uint32_t field, struct bytes *body)
{
	packet_append(p, &p->out, packet, field, body);
	body->len = 0;
	out_write(p, false);
}

uint64_t track_write(struct perfetto *p, PB(TracePacket) packet, PB(TrackDescriptor) *track)
{
	PB_SET(*track, uuid, ++p->last_track);
	PB_SET_DATA(packet, TRACK_DESCRIPTOR, track_descriptor, track);
	packet_write(p, &packet);
	return p->last_track;
}

void event_write(struct perfetto *p, PB(TracePacket) packet, PB(TrackEvent) *event)
{
	PB_SET_DATA(packet, TRACK_EVENT, track_event, event);
	packet_write(p, &packet);
}

void out_write(struct perfetto *p, bool all)
{
	if (p->err || !p->out.len || (p->out.len < OUT_SIZE && !all))
		return;
	errno = 0;
	if (fwrite(p->out.data, 1, p->out.len, p->to) != p->out.len)
		perfetto_fail(p, errno ? -errno : -EIO);
	p->written += p->out.len;
	p->out.len = 0;
}

uint64_t intern(struct perfetto *p, enum sequence sequence, enum interned kind, uint64_t hash, bool *is_new)
{
	struct map *ids = &p->interned[sequence].ids[kind];
	uintptr_t id;

	*is_new = false;
	if (p->err)
		return 0;
	hash |= !hash;
	id = (uintptr_t)map_get(ids, hash);
	if (id)
		return id;
	id = ids->nr + 1;
	if (map_put(ids, hash, (void *)id)) {
		perfetto_fail(p, -ENOMEM);
		return 0;
	}
	*is_new = true;
	return id;
}

/* Interns a string. @data: text to be made safe, or raw bytes. */
static uint64_t intern_string(struct perfetto *p, enum sequence sequence, enum interned kind, const void *data,
			      size_t len, bool is_text)
{
	PB(InternedString) string = PB_INIT(INTERNED_STRING);
	char safe[TEXT_SIZE];
	bool is_new;
	uint64_t id = intern(p, sequence, kind, hash_bytes(0, data, len), &is_new);

	if (!is_new)
		return id;
	PB_SET(string, iid, id);
	string.has_str = true;
	string.str.data = is_text ? (uint8_t *)safe : (uint8_t *)data;
	string.str.len = is_text ? text_safe(safe, sizeof(safe), data, len) : len;
	bytes_message(p, &p->interned[sequence].new, kind, &string.base);
	return id;
}

uint64_t intern_text(struct perfetto *p, enum sequence sequence, enum interned kind, const char *text)
{
	return text ? intern_string(p, sequence, kind, text, strlen(text), true) : 0;
}

uint64_t intern_bytes(struct perfetto *p, enum sequence sequence, enum interned kind, const void *data, size_t len)
{
	return data ? intern_string(p, sequence, kind, data, len, false) : 0;
}

void intern_write(struct perfetto *p, enum sequence sequence)
{
	static const uint32_t interned_data = 12; /* of TracePacket */
	PB(TracePacket) packet = packet_on(sequence, SEQUENCE_GOES_ON);

	if (p->interned[sequence].new.len)
		packet_write_body(p, &packet, interned_data, &p->interned[sequence].new);
}

char *text_of(char *buf, const char *text)
{
	if (!text)
		return NULL;
	text_safe(buf, TEXT_SIZE, text, strlen(text));
	return buf;
}

char *comm_of(char *buf, const char *comm)
{
	text_safe(buf, COMM_SIZE, comm, strlen(comm));
	return buf;
}
