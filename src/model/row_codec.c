/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread in a tick of the past, in about 60 bytes. */
#include <string.h>

#include "model/history.h"

static uint8_t *put_number(uint8_t *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*to++ = v | 0x80;
	*to++ = v;
	return to;
}

static const uint8_t *get_number(const uint8_t *from, uint64_t *v)
{
	int shift = 0;

	for (*v = 0; *from & 0x80; from++, shift += 7)
		*v |= (uint64_t)(*from & 0x7f) << shift;
	*v |= (uint64_t)*from++ << shift;
	return from;
}

/* What is computed and not kept. */
static bool is_kept(enum field_id f)
{
	return fields[f].kind != FIELD_KIND_QUANTILE;
}

/* Length (2 bytes), life (8), state and exited (1), which values are not 0, those plus 1 (so that
 * not known is 0), which slots of the histogram are not 0, those. */
uint8_t *row_codec_put(uint8_t *at, const struct row *r)
{
	uint8_t *start = at;
	uint64_t known = 0, slots = 0;
	uint16_t len;

	at += sizeof(len);
	memcpy(at, &r->thread, sizeof(r->thread));
	at += sizeof(r->thread);
	*at++ = r->state | r->exited << 7;
	for (int f = 0; f < FIELD_COUNT; f++)
		known |= (uint64_t)(is_kept(f) && r->values->v[f]) << f;
	at = put_number(at, known);
	for (int f = 0; f < FIELD_COUNT; f++)
		if (known >> f & 1)
			at = put_number(at, r->values->v[f] + 1);
	for (int i = 0; i < HIST_SLOTS; i++)
		slots |= (uint64_t)!!r->values->runq.n[i] << i;
	at = put_number(at, slots);
	for (int i = 0; i < HIST_SLOTS; i++)
		if (slots >> i & 1)
			at = put_number(at, r->values->runq.n[i]);
	len = at - start;
	memcpy(start, &len, sizeof(len));
	return at;
}

struct life *row_codec_life(const uint8_t *at)
{
	struct life *l;

	memcpy(&l, at + 2, sizeof(l));
	return l;
}

const uint8_t *row_codec_next(const uint8_t *at)
{
	uint16_t len;

	memcpy(&len, at, sizeof(len));
	return at + len;
}

void row_codec_values(const uint8_t *at, struct values *v)
{
	uint64_t known, slots, n;

	*v = (struct values){ 0 };
	at = get_number(at + 2 + 8 + 1, &known);
	for (int f = 0; f < FIELD_COUNT; f++) {
		if (!is_kept(f))
			v->v[f] = VALUE_NA;
		if (!(known >> f & 1))
			continue;
		at = get_number(at, &v->v[f]);
		v->v[f]--;
	}
	at = get_number(at, &slots);
	for (int i = 0; i < HIST_SLOTS; i++) {
		if (!(slots >> i & 1))
			continue;
		at = get_number(at, &n);
		v->runq.n[i] = n;
	}
}
