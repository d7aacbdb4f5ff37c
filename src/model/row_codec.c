/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Encodes a thread in a tick of the past, in about 60 bytes. */
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

/* Computed values are not kept. */
static bool is_kept(enum metric_id m)
{
	return metrics[m].kind != KIND_QUANTILE && (metrics[m].kind != KIND_LEVEL || metrics[m].level & LEVEL_OF_PROCESSES);
}

static uint8_t *put_hist(uint8_t *at, const struct hist *h, int first)
{
	uint64_t slots = 0;

	for (int i = first; i < LOG2_SLOTS; i++)
		slots |= (uint64_t)!!h->n[i] << (i - first);
	at = put_number(at, slots);
	for (int i = first; i < LOG2_SLOTS; i++)
		if (h->n[i])
			at = put_number(at, h->n[i]);
	return at;
}

static const uint8_t *get_hist(const uint8_t *at, struct hist *h, int first)
{
	uint64_t slots, n;

	at = get_number(at, &slots);
	for (int i = first; i < LOG2_SLOTS; i++) {
		if (!(slots >> (i - first) & 1))
			continue;
		at = get_number(at, &n);
		h->n[i] = n;
	}
	return at;
}

/* Length (2 bytes), life (8), state and exited (1), bitmap of the values that are not 0, each of those plus 1 (so that VALUE_NA
 * becomes 0), its ticks if there are any, for each histogram a bitmap of the slots that are not 0, and their counts. */
uint8_t *row_codec_put(uint8_t *at, const struct row *r)
{
	const struct ticked *ticked = &r->values->ticked;
	uint8_t *start = at, *known;
	uint16_t len;

	at += sizeof(len);
	memcpy(at, &r->thread, sizeof(r->thread));
	at += sizeof(r->thread);
	*at++ = r->state | r->exited << 7;
	known = memset(at, 0, ROW_CODEC_KNOWN);
	at += ROW_CODEC_KNOWN;
	for (int m = 0; m < METRIC_COUNT; m++) {
		if (!is_kept(m) || !r->values->v[m])
			continue;
		known[m / 8] |= 1 << m % 8;
		at = put_number(at, r->values->v[m] + 1);
	}
	if (ticked->user | ticked->kernel) {
		known[ROW_CODEC_TICKED / 8] |= 1 << ROW_CODEC_TICKED % 8;
		at = put_number(at, ticked->user);
		at = put_number(at, ticked->kernel);
	}
	for (int h = 0; h < HISTS_OF_THREADS; h++)
		at = put_hist(at, &r->values->hist[h], hists[h].first);
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
	const uint8_t *known = at + 2 + 8 + 1;

	*v = (struct values){ 0 };
	at = known + ROW_CODEC_KNOWN;
	for (int m = 0; m < METRIC_COUNT; m++) {
		if (!is_kept(m))
			v->v[m] = VALUE_NA;
		if (!(known[m / 8] >> m % 8 & 1))
			continue;
		at = get_number(at, &v->v[m]);
		v->v[m]--;
	}
	if (known[ROW_CODEC_TICKED / 8] >> ROW_CODEC_TICKED % 8 & 1) {
		at = get_number(at, &v->ticked.user);
		at = get_number(at, &v->ticked.kernel);
	}
	for (int h = 0; h < HISTS_OF_THREADS; h++)
		at = get_hist(at, &v->hist[h], hists[h].first);
}
