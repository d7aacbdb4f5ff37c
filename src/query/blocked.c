/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/blocked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/sample.h"
#include "model/wait.h"
#include "query/latency.h"
#include "query/stack_walk.h"
#include "util/format.h"
#include "util/text.h"
#include "util/vec.h"

/* Holds the waiter's stacks, so that they outlive their refreshes, as a paused screen does; with @held false, releases them. */
static void hold(const struct waiter *w, bool held)
{
	const struct stack *stacks[] = { w->at.kernel, w->at.user };

	for (int i = 0; i < 2; i++) {
		if (stacks[i] && held)
			model_stack_hold(stacks[i]);
		else if (stacks[i])
			model_stack_release(stacks[i]);
	}
}

static void forget(struct blocked *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		hold(s->at[i], false);
		wakers_fini(&s->at[i]->wakers);
		free(s->at[i]);
	}
	s->nr = s->now = 0;
	map_fini(&s->of);
}

static void name_after(struct waiter *w, const struct life *life)
{
	w->row.thread = life;
	w->row.process = life->process;
	w->row.cgroup = life->cgroup;
}

/* All lives of a thread are one waiter: a thread gets a new life with each name and cgroup. */
static struct waiter *waiter_of(struct blocked *s, const struct life *life)
{
	uint64_t key = latency_thread_key(life);
	struct waiter *w = map_get(&s->of, key);

	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w || VEC_PUSH(s->at, s->nr, s->room, w) || map_put(&s->of, key, w))
		return NULL; /* the waiter is freed with the others */
	w->row = (struct row){ .kind = ROW_THREAD, .state = STATE_SLEEP, .number = life->tid };
	name_after(w, life);
	return w;
}

static void note_stacks(struct waiter *w, const struct stack *kernel, const struct stack *user, uint8_t notes)
{
	hold(w, false);
	w->at = (struct stack_sample){ .life = w->row.thread, .kernel = kernel, .user = user, .flags = notes };
	hold(w, true);
}

static int add_sample(void *arg, const struct stack_sample *sample)
{
	struct blocked *s = arg;
	struct waiter *w;

	if (sample->metric != METRIC_D)
		return 0;
	w = waiter_of(s, sample->life);
	if (!w)
		return -ENOMEM;
	w->total_ns += sample->weight;
	w->reported += !(sample->flags & NOTE_GOES_ON) && sample->whole >> w->slot == 1;
	wakers_add(&w->wakers, sample);
	if (sample->whole < w->longest_ns)
		return 0;
	w->longest_ns = sample->whole;
	if (sample->kernel || sample->user)
		note_stacks(w, sample->kernel, sample->user, sample->flags);
	return 0;
}

static void add_to_slot(struct waiter *w, const struct away *a)
{
	if (a->slot > w->slot) {
		w->slot = a->slot;
		w->in_slot = w->alone = w->alone_ns = 0;
	}
	if (a->slot < w->slot)
		return;
	w->in_slot += a->count;
	w->alone += a->count == 1;
	if (a->count == 1 && a->ns > w->alone_ns)
		w->alone_ns = a->ns;
}

/* Adds all ended blocks, including those beyond the limit of blocks with a stack of their own. */
static int add_ended(struct blocked *s, const struct tick *t)
{
	for (size_t i = 0; i < t->nr_aways; i++) {
		const struct away *a = &t->aways[i];
		struct waiter *w;

		if (a->kind != HIST_D)
			continue;
		w = waiter_of(s, a->life);
		if (!w)
			return -ENOMEM;
		name_after(w, a->life);
		w->count += a->count;
		w->ended_ns += a->ns;
		add_to_slot(w, a);
	}
	return 0;
}

static int add_counts(struct blocked *s, const struct tick *shown)
{
	uint64_t oldest;
	int err = 0;

	tick_past(shown, &oldest);
	s->refreshes = shown->seq >= oldest ? shown->seq - oldest + 1 : 1;
	for (uint64_t seq = oldest; !err && seq < shown->seq; seq++) {
		const struct tick *t = tick_head(shown, seq);

		err = t ? add_ended(s, t) : 0;
	}
	return err ? err : add_ended(s, shown);
}

/* The D state of a thread at the end of a refresh. NULL: not known. */
static const struct block *block_of(const struct row *r, const struct tick *t)
{
	const struct block *b = r->thread->block;

	while (b && !(b->metric == METRIC_D && b->since < t->awake_ns && t->awake_ns <= b->until))
		b = b->before;
	return b;
}

/* Adds the threads that are in D state at the end of the refresh. */
static int add_now(struct blocked *s, const struct tick *t)
{
	for (size_t i = 0; i < t->nr_active; i++) {
		const struct row *r = &t->active[i];
		const struct block *b;
		struct waiter *w;

		if (r->state != STATE_D)
			continue;
		w = waiter_of(s, r->thread);
		if (!w)
			return -ENOMEM;
		name_after(w, r->thread);
		s->now++;
		w->now = true;
		w->row.state = STATE_D;
		b = block_of(r, t);
		if (!b)
			continue;
		w->now_ns = t->awake_ns - b->since;
		w->count += w->now_ns >= AWAY_D_NS;
		w->at_most = b->at_most;
		note_stacks(w, b->kernel, b->user, b->flags);
		if (w->now_ns > w->longest_ns)
			w->longest_ns = w->now_ns;
	}
	return 0;
}

/* Stacks of present blocks are read after the end of the refresh. */
static void add_late_stacks(const struct blocked *s, const struct tick *t)
{
	for (size_t i = 0; i < t->nr_active; i++) {
		const struct row *r = &t->active[i];
		const struct block *b = r->state == STATE_D ? block_of(r, t) : NULL;
		struct waiter *w = b ? map_get(&s->of, latency_thread_key(r->thread)) : NULL;

		if (w)
			note_stacks(w, b->kernel, b->user, b->flags);
	}
}

/* Blocks that began before the oldest refresh, and blocks without a stack, add their whole length when they end. */
static uint64_t total_of(const struct waiter *w)
{
	uint64_t least = w->ended_ns > w->longest_ns ? w->ended_ns : w->longest_ns;

	return w->total_ns > least ? w->total_ns : least;
}

/* The end of a block that was seen while it lasted may be lost: it still counts as one. */
static uint64_t count_of(const struct waiter *w)
{
	if (!w->count)
		return w->longest_ns >= AWAY_D_NS ? 1 : VALUE_NA;
	return w->count;
}

int blocked_find(struct blocked *b, const struct tick *t, uint64_t shown)
{
	int err;

	if (b->shown == shown) {
		add_late_stacks(b, t);
		return 0;
	}
	forget(b);
	err = add_counts(b, t); /* first: the samples are compared with the slot of the longest */
	if (!err)
		err = tick_samples(t, HISTORY_TICKS, add_sample, b);
	if (!err)
		err = add_now(b, t);
	for (size_t i = 0; !err && i < b->nr; i++) {
		struct waiter *w = b->at[i];

		wakers_sort(&w->wakers);
		if (w->alone_ns > w->longest_ns)
			w->longest_ns = w->alone_ns;
		w->total_ns = total_of(w);
		w->count = count_of(w);
		if (!w->now_ns)
			w->now_ns = VALUE_NA;
	}
	b->shown = err ? 0 : shown;
	return err;
}

void blocked_fini(struct blocked *b)
{
	forget(b);
	free(b->at);
}

bool blocked_before(const void *a, const void *b, const void *arg)
{
	const struct waiter *x = a, *y = b;

	(void)arg;
	if (x->now != y->now)
		return x->now;
	if (x->now_ns != y->now_ns)
		return y->now_ns == VALUE_NA || (x->now_ns != VALUE_NA && x->now_ns > y->now_ns);
	return x->total_ns > y->total_ns;
}

/* --- Texts about one waiter */

void waiter_where(const struct waiter *w, const struct source *source, char *buf, size_t size)
{
	const struct stack_sample at = { .kernel = w->at.kernel };
	const char *name = NULL;
	struct stack_walk walk;

	stack_walk(&walk, source, &at, WALK_INNERMOST);
	while (stack_walk_next(&walk)) {
		name = stack_walk_name(&walk);
		if (!wait_functions_has(name))
			break;
	}
	if (name)
		text_safe(buf, size, name, strlen(name));
	else
		snprintf(buf, size, "-");
}

void waiter_now(const struct waiter *w, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s", w->at_most ? "<=" : "", NS_TEXT(w->now_ns));
}

void waiter_longest(const struct waiter *w, char *buf, size_t size)
{
	uint64_t below_ns = w->in_slot ? 2ULL << w->slot : AWAY_D_NS;
	bool all = w->alone == w->in_slot || w->reported >= w->in_slot;
	bool exact = w->longest_ns && (all || w->longest_ns >= below_ns);

	snprintf(buf, size, "%s%s", exact ? "" : "<", NS_TEXT(exact ? w->longest_ns : below_ns));
}
