/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last ticks, kept small: of each only the threads that did something, about 60 bytes a thread;
 * who slept through is known from the lives. They are built anew when somebody looks at them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/internal.h"
#include "model/sums.h"
#include "util/vec.h"

struct past_cgroup {
	struct cgroup *cgroup;
	struct cgroup_limit limit;
};

struct past_tick {
	struct tick head;  /* its arrays are those below */
	bool incomplete;
	uint8_t *threads;  /* records, see put_thread() */
	size_t len, nr_threads;
	struct past_cgroup *cgroups;
	struct cpu_values *cpus;
	struct life **stopped; /* stood stopped all the time; the other idle ones slept */
	size_t nr_stopped;
	struct sample_block *samples;
	size_t bytes;
};

struct past {
	size_t bytes, bytes_max;
	uint64_t first, next; /* seq of the oldest one, and of the one to come */
	struct past_tick ticks[PAST_TICKS]; /* [seq % PAST_TICKS] */
	uint8_t *scratch;
	size_t scratch_room;
};

/* The most a thread takes: length, life, flags, two bitmaps, a varint for each value and count. */
#define RECORD_MAX (2 + 8 + 1 + 5 + 10 * FIELD_COUNT + 5 + 5 * HIST_SLOTS)

struct past *past_new(size_t bytes)
{
	struct past *p = calloc(1, sizeof(*p));

	if (p)
		p->bytes_max = bytes;
	return p;
}

static void past_drop(struct past *p)
{
	struct past_tick *t = &p->ticks[p->first++ % PAST_TICKS];

	for (size_t i = 0; i < t->head.nr_cgroups; i++)
		t->cgroups[i].cgroup->refs--;
	p->bytes -= t->bytes;
	free(t->threads);
	free(t->cgroups);
	free(t->cpus);
	free(t->stopped);
	samples_put(t->samples);
	*t = (struct past_tick){ 0 };
}

void past_free(struct past *p)
{
	if (!p)
		return;
	while (p->first != p->next)
		past_drop(p);
	free(p->scratch);
	free(p);
}

uint64_t past_oldest(const struct past *p)
{
	return p && p->first != p->next ? p->first : UINT64_MAX;
}

struct sample_block *past_samples(const struct past *p, uint64_t seq)
{
	return seq >= p->first && seq < p->next ? p->ticks[seq % PAST_TICKS].samples : NULL;
}

const struct tick *past_head(const struct past *p, uint64_t seq)
{
	return seq >= p->first && seq < p->next ? &p->ticks[seq % PAST_TICKS].head : NULL;
}

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
static uint8_t *put_thread(uint8_t *at, const struct row *r)
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

static struct life *record_life(const uint8_t *at)
{
	struct life *l;

	memcpy(&l, at + 2, sizeof(l));
	return l;
}

static const uint8_t *record_next(const uint8_t *at)
{
	uint16_t len;

	memcpy(&len, at, sizeof(len));
	return at + len;
}

static void record_values(const uint8_t *at, struct values *v)
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

/* A copy of @nr elements, and what it takes. NULL only when out of memory. */
static void *copy(const void *from, size_t nr, size_t size, size_t *bytes)
{
	void *to = malloc(nr * size + 1);

	if (to && nr)
		memcpy(to, from, nr * size);
	*bytes += nr * size;
	return to;
}

static int remember_threads(struct past *p, struct past_tick *t, const struct tick *tick)
{
	uint8_t *at;

	if (tick->nr_active * RECORD_MAX > p->scratch_room) {
		at = realloc(p->scratch, tick->nr_active * RECORD_MAX);
		if (!at)
			return -ENOMEM;
		p->scratch = at;
		p->scratch_room = tick->nr_active * RECORD_MAX;
	}
	at = p->scratch;
	for (size_t i = 0; i < tick->nr_active; i++)
		at = put_thread(at, &tick->active[i]);
	t->nr_threads = tick->nr_active;
	t->len = at - p->scratch;
	t->threads = copy(p->scratch, t->len, 1, &t->bytes);
	return t->threads ? 0 : -ENOMEM;
}

static int remember_stopped(struct past_tick *t, const struct tick_node *n)
{
	const struct tick *tick = &n->tick;
	size_t room = 0;
	int err = 0;

	/* Most often there are none among 50,000. */
	for (size_t i = 0; !err && t->nr_stopped < n->nr_stopped && i < tick->nr_idle; i++)
		if (tick->idle[i].state == STATE_STOPPED)
			err = VEC_PUSH(t->stopped, t->nr_stopped, room,
				       (struct life *)tick->idle[i].thread);
	t->bytes += room * sizeof(t->stopped[0]);
	return err;
}

static int remember_cgroups(struct past_tick *t, const struct tick *tick)
{
	t->cgroups = calloc(tick->nr_cgroups + 1, sizeof(*t->cgroups));
	if (!t->cgroups)
		return -ENOMEM;
	t->bytes += tick->nr_cgroups * sizeof(*t->cgroups);
	for (size_t i = 0; i < tick->nr_cgroups; i++) {
		const struct row *r = &tick->cgroups[i];

		t->cgroups[i] = (struct past_cgroup){ (struct cgroup *)r->cgroup, *r->limit };
		t->cgroups[i].cgroup->refs++;
		t->head.nr_cgroups++;
	}
	return 0;
}

int past_remember(struct model *m, const struct tick_node *n)
{
	const struct tick *tick = &n->tick;
	struct past *p = m->past;
	struct past_tick *t;
	int err;

	if (p->first == p->next)
		p->first = p->next = tick->seq;
	if (p->next - p->first == PAST_TICKS)
		past_drop(p);
	t = &p->ticks[p->next++ % PAST_TICKS];
	t->head = *tick;
	t->head.nr_cgroups = 0;
	t->incomplete = n->incomplete;
	t->bytes = sizeof(*t);
	err = remember_threads(p, t, tick);
	if (!err)
		err = remember_stopped(t, n);
	if (!err)
		err = remember_cgroups(t, tick);
	if (!err) {
		t->cpus = copy(tick->cpus, tick->nr_cpus, sizeof(*t->cpus), &t->bytes);
		err = t->cpus ? 0 : -ENOMEM;
	}
	if (n->samples) {
		t->samples = n->samples;
		t->samples->holders++;
		t->bytes += t->samples->room * sizeof(*t->samples->at);
	}
	p->bytes += t->bytes;
	/* The dead stay for as long as one of these ticks shows them. */
	while (p->next - p->first > 1 &&
	       p->bytes + m->nr_ended * sizeof(struct life_node) > p->bytes_max) {
		past_drop(p);
		lives_forget(m);
	}
	return err;
}

size_t tick_past(const struct tick *t, uint64_t *oldest)
{
	const struct past *p = ((const struct tick_node *)t)->model->past;

	*oldest = p && p->first != p->next ? p->first : t->seq;
	return p ? p->bytes : 0;
}

/* Everybody who was there in a tick and did nothing. */
static int past_idle(struct model *m, struct tick_node *n, const struct past_tick *t)
{
	struct life_node *const lists[] = { m->living, m->ended };
	uint64_t seq = n->tick.seq, active = n->build, stopped = ++m->builds;
	int err = 0;

	for (size_t i = 0; i < t->nr_stopped; i++)
		((struct life_node *)t->stopped[i])->mark = stopped;
	for (size_t i = 0; i < 2; i++)
		for (struct life_node *l = lists[i]; !err && l; l = l->next)
			if (l->first && l->first <= seq && l->last >= seq && l->mark != active)
				err = node_idle(n, &l->life, l->mark == stopped ? STATE_STOPPED
										: STATE_SLEEP);
	return err;
}

static int past_build(struct model *m, struct tick_node *n, const struct past_tick *t)
{
	const uint8_t *at = t->threads;
	int err = 0;

	n->tick = t->head;
	n->tick.nr_cgroups = n->tick.nr_cpus = n->tick.nr_active = n->tick.nr_idle = 0;
	n->tick.nr_processes = n->tick.total_d = 0;
	n->tick.total = (struct values){ 0 };
	n->incomplete = t->incomplete;
	for (size_t i = 0; !err && i < t->nr_threads; i++, at = record_next(at)) {
		struct life *l = record_life(at);
		struct values v;

		record_values(at, &v);
		((struct life_node *)l)->mark = n->build;
		err = node_thread(n, l, at[10] & 0x7f, at[10] >> 7, &v);
	}
	if (!err)
		err = past_idle(m, n, t);
	for (size_t i = 0; !err && i < t->head.nr_cpus; i++)
		err = node_cpu(n, &t->cpus[i]);
	for (size_t i = 0; !err && i < t->head.nr_cgroups; i++)
		err = node_cgroup(n, t->cgroups[i].cgroup, &t->cgroups[i].limit);
	return err ? err : node_finish(n);
}

/* The remembered tick with this number, NULL: there is none. */
static const struct past_tick *past_find(const struct past *p, int64_t seq)
{
	if (seq < (int64_t)p->first || seq >= (int64_t)p->next)
		return NULL;
	return &p->ticks[seq % PAST_TICKS];
}

const struct tick *tick_at(const struct tick *any, uint64_t seq)
{
	struct model *m = ((const struct tick_node *)any)->model;
	const struct past *p = m->past;
	const struct past_tick *t;
	struct tick_node *n;

	for (n = m->held; n; n = n->next)
		if (n->tick.seq == seq)
			return tick_get(&n->tick);
	t = p ? past_find(p, seq) : NULL;
	n = t ? node_new(m) : NULL;
	if (n && t->samples) {
		n->samples = t->samples;
		n->samples->holders++;
	}
	if (n && past_build(m, n, t)) {
		node_release(n);
		n = NULL;
	}
	return n ? &n->tick : NULL;
}

/* --- What rows did in the last ticks, without building these */

struct history {
	const struct row *const *rows;
	size_t nr, ticks;
	struct values *out;
	int64_t first;     /* seq of the first tick wanted */
	struct map places; /* of a thread, process or cgroup: its place in rows, plus 1 */
	uint32_t *idle;    /* [row][tick]: its threads that did nothing */
};

static uint64_t thread_key(const struct life *l)
{
	return ((l->start_ns << 8) ^ ((uint64_t)l->tid << 1)) | 1;
}

static uint64_t row_key(const struct row *r)
{
	switch (r->kind) {
	case ROW_THREAD:
		return thread_key(r->thread);
	case ROW_PROCESS:
		return (uintptr_t)r->process;
	default:
		return (uintptr_t)r->cgroup;
	}
}

/* Calls for each row that @l is, or is a part of: its place in @h->rows. */
#define FOR_EACH_ROW_OF(h, l, place)                                                              	for (struct walk w_ = walk_first(h, l); (place = walk_next(h, &w_)) != SIZE_MAX;)

struct walk {
	const struct life *life;
	uint64_t key;
	const struct cgroup *cgroup; /* the next one up */
};

static struct walk walk_first(const struct history *h, const struct life *l)
{
	switch (h->rows[0]->kind) {
	case ROW_THREAD:
		return (struct walk){ l, thread_key(l), NULL };
	case ROW_PROCESS:
		return (struct walk){ l, (uintptr_t)l->process, NULL };
	default:
		return (struct walk){ l, 0, l->cgroup };
	}
}

/* Two threads can have the same key. */
static bool is_row_of(const struct row *r, const struct life *l)
{
	return r->kind != ROW_THREAD ||
	       (r->thread->tid == l->tid && r->thread->start_ns == l->start_ns);
}

static size_t walk_next(const struct history *h, struct walk *w)
{
	for (;;) {
		uintptr_t place;

		if (!w->key) {
			if (!w->cgroup)
				return SIZE_MAX;
			w->key = (uintptr_t)w->cgroup;
			w->cgroup = w->cgroup->parent;
		}
		place = (uintptr_t)map_get(&h->places, w->key);
		w->key = 0;
		if (place && is_row_of(h->rows[place - 1], w->life))
			return place - 1;
	}
}

/* Counts a life's idle threads: 1 in every tick that shows it, less what add_records() takes. */
static void count_life(struct history *h, const struct life_node *l)
{
	uint64_t end = h->first + h->ticks - 1; /* of the ticks wanted, which may begin before 1 */
	uint64_t to = l->last < end ? l->last : end;
	size_t place, from, count;

	if (!l->first || l->first > end || (int64_t)to < h->first)
		return;
	from = (int64_t)l->first > h->first ? l->first - h->first : 0;
	count = to - h->first + 1;
	FOR_EACH_ROW_OF(h, &l->life, place)
		for (size_t tick = from; tick < count; tick++)
			h->idle[place * h->ticks + tick]++;
}

static void add_records(struct history *h, const struct past_tick *t, size_t tick)
{
	const uint8_t *at = t->threads;

	for (size_t i = 0; i < t->nr_threads; i++, at = record_next(at)) {
		struct values v;
		size_t place;

		FOR_EACH_ROW_OF(h, record_life(at), place) {
			record_values(at, &v);
			values_add(&h->out[place * h->ticks + tick], &v);
			h->idle[place * h->ticks + tick]--;
		}
	}
	for (size_t i = 0; i < t->nr_stopped; i++) {
		size_t place;

		FOR_EACH_ROW_OF(h, t->stopped[i], place) {
			values_add_idle(&h->out[place * h->ticks + tick], STATE_STOPPED, 1,
					t->head.interval_ns);
			h->idle[place * h->ticks + tick]--;
		}
	}
}

/* Those that live: for rows of threads, which are such lives themselves, no need to look at all. */
static void count_living(struct history *h, struct model *m)
{
	bool same = h->rows[0]->kind == ROW_THREAD;

	for (size_t i = 0; same && i < h->nr; i++)
		same = ((const struct life_node *)h->rows[i]->thread)->last == LIFE_ON;
	for (size_t i = 0; same && i < h->nr; i++)
		count_life(h, (const struct life_node *)h->rows[i]->thread);
	for (struct life_node *l = same ? NULL : m->living; l; l = l->next)
		count_life(h, l);
}

static void add_ticks(struct history *h, struct model *m)
{
	count_living(h, m);
	for (struct life_node *l = m->ended; l; l = l->next)
		count_life(h, l);
	for (size_t tick = 0; tick < h->ticks; tick++) {
		const struct past_tick *t = past_find(m->past, h->first + tick);

		if (t)
			add_records(h, t, tick);
		for (size_t i = 0; i < h->nr; i++) {
			size_t at = i * h->ticks + tick;

			if (t && h->idle[at])
				values_add_idle(&h->out[at], STATE_SLEEP, h->idle[at],
						t->head.interval_ns);
			values_split(&h->out[at]);
			if (!t)
				h->out[at].v[FIELD_ALIVE] = VALUE_NA;
		}
	}
}

int tick_history(const struct tick *t, const struct row *const *rows, size_t nr, size_t ticks,
		 struct values *out)
{
	struct model *m = ((const struct tick_node *)t)->model;
	struct history h = { .rows = rows, .nr = nr, .ticks = ticks, .out = out };
	int err = 0;

	h.first = (int64_t)(t->seq + 1) - (int64_t)ticks;
	memset(out, 0, nr * ticks * sizeof(*out));
	h.idle = calloc(nr * ticks + 1, sizeof(*h.idle));
	if (!h.idle)
		return -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++)
		err = map_put(&h.places, row_key(rows[i]), (void *)(uintptr_t)(i + 1));
	if (!err && nr && m->past)
		add_ticks(&h, m);
	map_fini(&h.places);
	free(h.idle);
	return err;
}
