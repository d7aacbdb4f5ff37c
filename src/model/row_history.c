/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rows did in the last ticks, without rebuilding these. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/history.h"
#include "model/aggregate.h"

struct row_history {
	const struct row *const *rows;
	size_t nr, ticks;
	bool own;          /* of cgroups, only their own threads */
	struct values *out;
	int64_t first;     /* seq of the first requested tick */
	struct map indexes; /* thread, process or cgroup -> index in rows, plus 1 */
	uint32_t *idle;    /* [row][tick]: number of its idle threads */
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

/* Loops over the rows that @l is, or is a part of: @index is the index in @h->rows. */
#define FOR_EACH_ROW_OF(h, l, index) \
	for (struct walk w_ = walk_first(h, l); (index = walk_next(h, &w_)) != SIZE_MAX;)

struct walk {
	const struct life *life;
	uint64_t key;
	const struct cgroup *cgroup; /* the next one upwards */
	const struct cgroup *aside;  /* where to continue after the root */
};

static struct walk walk_first(const struct row_history *h, const struct life *l)
{
	switch (h->rows[0]->kind) {
	case ROW_THREAD:
		return (struct walk){ .life = l, .key = thread_key(l) };
	case ROW_PROCESS:
		return (struct walk){ .life = l, .key = (uintptr_t)l->process };
	default:
		return (struct walk){ .life = l, .cgroup = l->cgroup, .aside = l->limiter != l->cgroup ? l->limiter : NULL };
	}
}

/* Two threads can have the same key. */
static bool is_row_of(const struct row *r, const struct life *l)
{
	return r->kind != ROW_THREAD ||
	       (r->thread->tid == l->tid && r->thread->start_ns == l->start_ns);
}

static size_t walk_next(const struct row_history *h, struct walk *w)
{
	for (;;) {
		uintptr_t index;

		if (!w->key) {
			if (!w->cgroup) {
				w->cgroup = w->aside;
				w->aside = NULL;
			}
			if (!w->cgroup)
				return SIZE_MAX;
			w->key = (uintptr_t)w->cgroup;
			w->cgroup = h->own ? NULL : w->cgroup->parent;
		}
		index = (uintptr_t)map_get(&h->indexes, w->key);
		w->key = 0;
		if (index && is_row_of(h->rows[index - 1], w->life))
			return index - 1;
	}
}

/* Counts a life as idle in every tick that shows it; add_records() subtracts the ticks in which it was not. */
static void count_life(struct row_history *h, const struct life_node *l)
{
	uint64_t end = h->first + h->ticks - 1; /* of the requested ticks, which may begin before 1 */
	uint64_t to = l->last < end ? l->last : end;
	size_t index, from, count;

	if (!l->first || l->first > end || (int64_t)to < h->first)
		return;
	from = (int64_t)l->first > h->first ? l->first - h->first : 0;
	count = to - h->first + 1;
	FOR_EACH_ROW_OF(h, &l->life, index)
		for (size_t tick = from; tick < count; tick++)
			h->idle[index * h->ticks + tick]++;
}

static void add_records(struct row_history *h, const struct history_tick *t, size_t tick)
{
	const uint8_t *at = t->threads;

	for (size_t i = 0; i < t->nr_threads; i++, at = row_codec_next(at)) {
		struct values v;
		bool decoded = false;
		size_t index;

		FOR_EACH_ROW_OF(h, row_codec_life(at), index) {
			if (!decoded)
				row_codec_values(at, &v);
			decoded = true;
			values_add_thread(&h->out[index * h->ticks + tick], &v);
			h->idle[index * h->ticks + tick]--;
		}
	}
	for (size_t i = 0; i < t->nr_stopped; i++) {
		size_t index;

		FOR_EACH_ROW_OF(h, t->stopped[i], index) {
			values_add_idle(&h->out[index * h->ticks + tick], STATE_STOPPED, 1,
					t->head.interval_ns);
			h->idle[index * h->ticks + tick]--;
		}
	}
}

/* Counts the living. If the rows are living threads themselves, no others need to be visited. */
static void count_living(struct row_history *h, struct model *m)
{
	bool same = h->rows[0]->kind == ROW_THREAD;

	for (size_t i = 0; same && i < h->nr; i++)
		same = ((const struct life_node *)h->rows[i]->thread)->last == LIFE_ON;
	for (size_t i = 0; same && i < h->nr; i++)
		count_life(h, (const struct life_node *)h->rows[i]->thread);
	for (struct life_node *l = same ? NULL : m->living; l; l = l->next)
		count_life(h, l);
}

/* What is not remembered, or not known of any thread, is not 0. */
static void hide_unknown(const struct model *m, bool remembered, struct values *v)
{
	for (int f = 0; f < METRIC_COUNT; f++) {
		bool kept = metrics[f].kind != KIND_QUANTILE && metrics[f].kind != KIND_LEVEL;

		if (!remembered || !kept || (m->unknown[f] && !v->v[f]))
			v->v[f] = VALUE_NA;
	}
}

static void add_ticks(struct row_history *h, struct model *m)
{
	count_living(h, m);
	for (struct life_node *l = m->ended.first; l; l = l->next)
		count_life(h, l);
	for (size_t tick = 0; tick < h->ticks; tick++) {
		const struct history_tick *t = history_find(m->history, h->first + tick);

		if (t)
			add_records(h, t, tick);
		for (size_t i = 0; i < h->nr; i++) {
			size_t at = i * h->ticks + tick;

			if (t && h->idle[at])
				values_add_idle(&h->out[at], STATE_SLEEP, h->idle[at],
						t->head.interval_ns);
			values_split(&h->out[at]);
			hide_unknown(m, t, &h->out[at]);
		}
	}
}

/* A thread that was moved has several rows, of which the map has only the last: copies that one's values to the others. */
static void fill_repeated(const struct row_history *h)
{
	for (size_t i = 0; i < h->nr; i++) {
		size_t index = (uintptr_t)map_get(&h->indexes, row_key(h->rows[i])) - 1;

		if (index != i && is_row_of(h->rows[index], h->rows[i]->thread))
			memcpy(&h->out[i * h->ticks], &h->out[index * h->ticks], h->ticks * sizeof(*h->out));
	}
}

int tick_history(const struct tick *t, const struct row *const *rows, size_t nr, size_t ticks, bool own, struct values *out)
{
	struct model *m = ((const struct tick_node *)t)->model;
	struct row_history h = { .rows = rows, .nr = nr, .ticks = ticks, .own = own, .out = out };
	int err = 0;

	h.first = (int64_t)(t->seq + 1) - (int64_t)ticks;
	memset(out, 0, nr * ticks * sizeof(*out));
	h.idle = calloc(nr * ticks + 1, sizeof(*h.idle));
	if (!h.idle)
		return -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++)
		err = map_put(&h.indexes, row_key(rows[i]), (void *)(uintptr_t)(i + 1));
	if (!err && nr)
		add_ticks(&h, m);
	if (!err)
		fill_repeated(&h);
	map_fini(&h.indexes);
	free(h.idle);
	return err;
}
