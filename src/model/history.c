/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last ticks, kept small: each holds only the threads that did something, at about 60 bytes a thread; threads that
 * slept through follow from the lives. A tick is rebuilt when it is shown.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/health.h"
#include "model/history.h"
#include "util/format.h"
#include "util/vec.h"

struct history *history_new(size_t bytes)
{
	struct history *p = calloc(1, sizeof(*p));

	if (p)
		p->bytes_max = bytes;
	return p;
}

static void history_clear(struct history *p, uint64_t seq)
{
	struct history_tick *t = &p->ticks[seq % HISTORY_TICKS];

	for (size_t i = 0; i < t->head.nr_cgroups; i++)
		t->cgroups[i].cgroup->refs--;
	p->bytes -= t->bytes;
	free(t->threads);
	free(t->cgroups);
	free(t->cpus);
	free(t->irqs);
	free(t->stopped);
	tick_lists_put(t->lists);
	*t = (struct history_tick){ 0 };
}

static void history_drop(struct history *p)
{
	history_clear(p, p->first++);
}

void history_free(struct history *p)
{
	if (!p)
		return;
	while (p->first != p->next)
		history_drop(p);
	free(p->scratch);
	free(p->ends);
	free(p);
}

uint64_t history_oldest(const struct history *p)
{
	return p && p->first != p->next ? p->first : UINT64_MAX;
}

uint64_t history_kept(const struct history *p)
{
	return p && p->nr_ends ? p->ends_first : UINT64_MAX;
}

uint64_t history_end(const struct history *p, uint64_t seq)
{
	return p && seq >= p->ends_first && seq - p->ends_first < p->nr_ends ? p->ends[seq - p->ends_first] : 0;
}

static void ends_drop(struct history *p, size_t nr)
{
	p->ends_first += nr;
	p->nr_ends -= nr;
	memmove(p->ends, p->ends + nr, p->nr_ends * sizeof(*p->ends));
}

/* Drops the ends of ticks that are neither remembered nor of the recorder's window. */
static void ends_forget(struct history *p, uint64_t now)
{
	size_t nr = 0;

	while (p->ends_first + nr < p->first && p->ends[nr] + p->window_ns < now)
		nr++;
	ends_drop(p, nr);
}

void model_window(struct model *m, uint64_t ns)
{
	if (m->history)
		m->history->window_ns = ns;
}

const struct history_tick *history_find(const struct history *p, int64_t seq)
{
	return p && seq >= (int64_t)p->first && seq < (int64_t)p->next ? &p->ticks[seq % HISTORY_TICKS] : NULL;
}

const struct tick *history_head(const struct history *p, uint64_t seq)
{
	const struct history_tick *t = history_find(p, seq);

	return t ? &t->head : NULL;
}

/* Copies @nr elements and adds their size to @bytes. NULL only when out of memory. */
static void *copy(const void *from, size_t nr, size_t size, size_t *bytes)
{
	void *to = malloc(nr * size + 1);

	if (to && nr)
		memcpy(to, from, nr * size);
	*bytes += nr * size;
	return to;
}

static int remember_threads(struct history *p, struct history_tick *t, const struct tick *tick)
{
	uint8_t *at;

	if (tick->nr_active * ROW_CODEC_MAX > p->scratch_room) {
		at = realloc(p->scratch, tick->nr_active * ROW_CODEC_MAX);
		if (!at)
			return -ENOMEM;
		p->scratch = at;
		p->scratch_room = tick->nr_active * ROW_CODEC_MAX;
	}
	at = p->scratch;
	for (size_t i = 0; i < tick->nr_active; i++)
		at = row_codec_put(at, &tick->active[i]);
	t->nr_threads = tick->nr_active;
	t->len = at - p->scratch;
	t->threads = copy(p->scratch, t->len, 1, &t->bytes);
	return t->threads ? 0 : -ENOMEM;
}

static int remember_stopped(struct history_tick *t, const struct tick *tick)
{
	t->stopped = calloc(tick->nr_stopped + 1, sizeof(*t->stopped));
	if (!t->stopped)
		return -ENOMEM;
	for (size_t i = 0; i < tick->nr_stopped; i++)
		t->stopped[t->nr_stopped++] = (struct life *)tick->idle[i].thread;
	t->bytes += tick->nr_stopped * sizeof(t->stopped[0]);
	return 0;
}

static int remember_cgroups(struct history_tick *t, const struct tick_node *n)
{
	const struct tick *tick = &n->tick;

	t->cgroups = calloc(tick->nr_cgroups + 1, sizeof(*t->cgroups));
	if (!t->cgroups)
		return -ENOMEM;
	t->bytes += tick->nr_cgroups * sizeof(*t->cgroups);
	for (size_t i = 0; i < tick->nr_cgroups; i++) {
		const struct row *r = &tick->cgroups[i];

		t->cgroups[i] = (struct history_cgroup){ (struct cgroup *)r->cgroup, *r->limit, n->cgroup_totals[i].levels };
		t->cgroups[i].cgroup->refs++;
		t->head.nr_cgroups++;
	}
	return 0;
}

/* Dead threads stay as long as one of these ticks shows them; those kept only by a paused screen are not counted here, nor
 * are the command lines of their processes. */
static size_t past_bytes(const struct model *m)
{
	return m->history->bytes + (m->nr_ended - m->nr_held) * sizeof(struct life_node) + m->cmdline_bytes_ended -
	       m->cmdline_bytes_held;
}

/* Whether earlier ticks were dropped to make room. */
static bool is_short(const struct history *p)
{
	return p && p->first > 1 && p->next - p->first < HISTORY_TICKS;
}

bool tick_past_short(const struct tick *t)
{
	return is_short(((const struct tick_node *)t)->model->history);
}

void model_health(const struct model *m, struct health *h)
{
	const struct history *p = m->history;
	char early[128] = "";

	if (!p)
		return;
	if (p->nr_early)
		snprintf(early, sizeof(early),
			 "; %" PRIu64 " ended threads of the window dropped early: a trace lacks their names", p->nr_early);
	health_add(h, "Maps", "past", is_short(p) || p->nr_early ? HEALTH_DEGRADED : HEALTH_ON,
		   "%s of %s: %s%" PRIu64 " refreshes, and threads that have ended%s", BYTES_TEXT(past_bytes(m)),
		   BYTES_TEXT(p->bytes_max),
		   is_short(p) ? "room for only " : "", p->next - p->first, early);
}

/* What only the recorder's window needs goes first, a quarter of it at a time, then the oldest ticks. nr_early counts a thread
 * when it is dropped from these, even if a held tick keeps its memory. */
static void make_room(struct model *m)
{
	struct history *p = m->history;

	if (past_bytes(m) > p->bytes_max)
		threads_forget(m); /* those that are not needed any more without dropping anything */
	while (past_bytes(m) > p->bytes_max && (p->ends_first < p->first || p->next - p->first > 1)) {
		bool of_window = p->ends[0] + p->window_ns >= p->ends[p->nr_ends - 1];
		size_t nr_held = m->nr_held, nr_freed;

		if (p->ends_first < p->first)
			ends_drop(p, 1 + (p->first - p->ends_first) / 4);
		else
			history_drop(p);
		nr_freed = threads_forget(m);
		if (of_window)
			p->nr_early += nr_freed + m->nr_held - nr_held;
	}
}

int history_remember(struct model *m, const struct tick_node *n)
{
	const struct tick *tick = &n->tick;
	struct history *p = m->history;
	struct history_tick *t;
	int err;

	if (p->first == p->next)
		p->first = p->next = tick->seq;
	if (p->next - p->first == HISTORY_TICKS)
		history_drop(p);
	t = &p->ticks[p->next++ % HISTORY_TICKS];
	t->head = *tick;
	t->head.nr_cgroups = 0;
	t->incomplete = n->incomplete;
	t->bytes = sizeof(*t) + m->stack_bytes_now;
	err = remember_threads(p, t, tick);
	if (!err)
		err = remember_stopped(t, tick);
	if (!err)
		err = remember_cgroups(t, n);
	if (!err) {
		t->cpus = copy(tick->cpus, tick->nr_cpus, sizeof(*t->cpus), &t->bytes);
		t->irqs = copy(tick->irqs, tick->nr_irqs, sizeof(*t->irqs), &t->bytes);
		err = t->cpus && t->irqs ? 0 : -ENOMEM;
	}
	t->head.cpus = t->cpus;
	t->head.irqs = t->irqs;
	if (n->lists) {
		t->lists = n->lists;
		t->lists->holders++;
		t->bytes += tick_lists_bytes(t->lists);
	}
	p->bytes += t->bytes;
	if (!p->nr_ends)
		p->ends_first = tick->seq;
	if (!err)
		err = VEC_PUSH(p->ends, p->nr_ends, p->ends_room, tick->boottime_ns);
	if (err) { /* an incomplete tick is not remembered */
		history_clear(p, --p->next);
		return err;
	}
	m->stack_bytes_now = 0;
	ends_forget(p, tick->boottime_ns);
	make_room(m);
	return 0;
}

size_t tick_past(const struct tick *t, uint64_t *oldest)
{
	const struct history *p = ((const struct tick_node *)t)->model->history;

	*oldest = p && p->first != p->next ? p->first : t->seq;
	return p ? p->bytes : 0;
}

/* Adds every thread that existed in a tick and did nothing, those that were stopped first. */
static int history_idle(struct model *m, struct tick_node *n, const struct history_tick *t)
{
	struct life_node *const lists[] = { m->living, m->ended.first };
	uint64_t seq = n->tick.seq;
	int err = 0;

	for (size_t i = 0; !err && i < t->nr_stopped; i++) {
		((struct life_node *)t->stopped[i])->mark = n->build;
		err = node_idle(n, t->stopped[i], STATE_STOPPED);
	}
	for (size_t i = 0; i < 2; i++)
		for (struct life_node *l = lists[i]; !err && l; l = l->next)
			if (l->first && l->first <= seq && l->last >= seq && l->mark != n->build)
				err = node_idle(n, &l->life, STATE_SLEEP);
	return err;
}

static int history_build(struct model *m, struct tick_node *n, const struct history_tick *t)
{
	const uint8_t *at = t->threads;
	int err = 0;

	n->resting_shown = 0;
	n->tick = t->head;
	n->tick.nr_cgroups = n->tick.nr_aside = n->tick.nr_cpus = n->tick.nr_irqs = n->tick.nr_active = n->tick.nr_idle = 0;
	n->tick.nr_stopped = n->tick.nr_processes = n->tick.total_d = 0;
	n->tick.total = (struct values){ 0 };
	n->incomplete = t->incomplete;
	for (size_t i = 0; !err && i < t->nr_threads; i++, at = row_codec_next(at)) {
		struct life *l = row_codec_life(at);
		struct values v;

		row_codec_values(at, &v);
		((struct life_node *)l)->mark = n->build;
		err = node_thread(n, l, at[10] & 0x7f, at[10] >> 7, &v);
	}
	if (!err)
		err = levels_room(n);
	if (!err)
		err = history_idle(m, n, t);
	for (size_t i = 0; !err && i < t->head.nr_cpus; i++)
		err = node_cpu(n, &t->cpus[i]);
	for (size_t i = 0; !err && i < t->head.nr_irqs; i++)
		err = node_irq(n, &t->irqs[i]);
	for (size_t i = 0; !err && i < t->head.nr_cgroups; i++)
		err = node_cgroup(n, t->cgroups[i].cgroup, &t->cgroups[i].limit, &t->cgroups[i].levels);
	return err ? err : node_finish(n);
}

const struct tick *tick_head(const struct tick *any, uint64_t seq)
{
	const struct model *m = ((const struct tick_node *)any)->model;

	return seq == any->seq ? any : history_head(m->history, seq);
}

uint64_t tick_length(const struct tick *t, uint64_t back)
{
	const struct tick *then = back < t->seq ? tick_head(t, t->seq - back) : NULL;

	return then ? then->interval_ns : 0;
}

const struct tick *tick_at(const struct tick *any, uint64_t seq)
{
	struct model *m = ((const struct tick_node *)any)->model;
	const struct history_tick *t;
	struct tick_node *n;

	for (n = m->held; n; n = n->next)
		if (n->tick.seq == seq)
			return tick_get(&n->tick);
	t = history_find(m->history, seq);
	n = t ? node_new(m) : NULL;
	if (n && t->lists) {
		n->lists = t->lists;
		n->lists->holders++;
	}
	if (n && history_build(m, n, t)) {
		node_release(n);
		n = NULL;
	}
	return n ? &n->tick : NULL;
}

int tick_threads(const struct tick *any, uint64_t seq, thread_fn *fn, void *arg)
{
	const struct model *m = ((const struct tick_node *)any)->model;
	const struct history_tick *t = history_find(m->history, seq);
	const uint8_t *at;
	int err = 0;

	for (const struct tick_node *n = m->held; n; n = n->next) {
		if (n->tick.seq != seq)
			continue;
		for (size_t i = 0; !err && i < n->tick.nr_active; i++)
			err = fn(arg, n->tick.active[i].thread, n->tick.active[i].values);
		return err;
	}
	if (!t)
		return -ENOENT;
	at = t->threads;
	for (size_t i = 0; !err && i < t->nr_threads; i++, at = row_codec_next(at)) {
		struct values v;

		row_codec_values(at, &v);
		err = fn(arg, row_codec_life(at), &v);
	}
	return err;
}
