/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks that ticks show, each stored once, and the samples that refer to them. A tick's samples are in its lists,
 * which the past also holds.
 */
#include "model/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/history.h"
#include "util/vec.h"

/* Stacks that no tick shows any more are searched for every FORGET_EVERY ticks. If all stacks together take more memory than the
 * past may, growth by 1 / FORGET_PART of that is enough: stacks that a paused screen keeps cause no search in each tick. */
#define FORGET_EVERY 16
#define FORGET_PART 8

bool sample_lacks_user(const struct stack_sample *s)
{
	return s->flags & (NOTE_NO_USER | NOTE_USER_LOST) && s->kernel && !(s->life->flags & PF_KTHREAD);
}

static size_t stack_bytes(const struct stack *s)
{
	return sizeof(*s) + s->nr * sizeof(s->frames[0]);
}

/* The tick that uses a stack now: the one being built, or between two ticks the next one. */
static uint64_t using(const struct model *m)
{
	return m->now ? m->seq : m->seq + 1;
}

/* Only the last tick that uses a stack counts its bytes, as dropping the others makes no room. */
static void stack_use(struct model *m, struct stack *s)
{
	struct history_tick *last = (struct history_tick *)history_find(m->history, s->seq);

	if (s->seq == using(m))
		return;
	if (last) {
		last->bytes -= stack_bytes(s);
		m->history->bytes -= stack_bytes(s);
	}
	m->stack_bytes_now += stack_bytes(s);
	s->seq = using(m);
}

uint64_t model_stack_key(const struct stack *s)
{
	return stack_key(s->hash, s->check);
}

const struct stack *model_stack_again(struct model *m, uint64_t key)
{
	struct stack *s = map_get(&m->stacks, key);

	if (s)
		stack_use(m, s);
	return s;
}

const struct stack *model_stack(struct model *m, const struct stack_entry *e, const uint64_t *frames)
{
	uint64_t key = stack_key(e->hash, e->check);
	const struct stack *known = model_stack_again(m, key);
	struct stack *s = known ? NULL : malloc(sizeof(*s) + e->nr * sizeof(*frames));

	if (!s)
		return known;
	*s = (struct stack){ .hash = e->hash, .check = e->check, .tgid = e->tgid, .nr = e->nr, .end = e->end, .flags = e->flags };
	memcpy(s->frames, frames, e->nr * sizeof(*frames));
	if (map_put(&m->stacks, key, s)) {
		free(s);
		return NULL;
	}
	s->first = using(m);
	m->stack_bytes += stack_bytes(s);
	stack_use(m, s);
	return s;
}

void model_stack_hold(const struct stack *s)
{
	((struct stack *)s)->held++;
}

void model_stack_release(const struct stack *s)
{
	((struct stack *)s)->held--;
}

static void mark_files(const struct stack *s, uint64_t *bits, uint32_t max)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		uint64_t file = s->frames[i] >> FRAME_FILE_SHIFT; /* frames without a file give numbers above all
								   * files */

		if (file < max)
			bits[file / 64] |= 1ULL << file % 64;
	}
}

void model_files(const struct model *m, uint64_t *bits, uint32_t max)
{
	const struct stack *s;

	memset(bits, 0, (max + 63) / 64 * sizeof(*bits));
	MAP_EACH (&m->stacks, s)
		mark_files(s, bits, max);
}

int model_sample(struct model *m, const struct stack_sample *s)
{
	struct tick_lists *b = tick_lists_now(m);

	return b ? VEC_PUSH(b->samples, b->nr_samples, b->samples_room, *s) : -ENOMEM;
}

static int64_t beginning(const struct tick *t)
{
	return t->awake_ns - (int64_t)t->interval_ns;
}

/* When the oldest remembered tick began. */
static int64_t oldest_time(const struct model *m)
{
	const struct tick *head = history_head(m->history, history_oldest(m->history));

	return head ? beginning(head) : m->awake_ns;
}

/* Whether a tick that is remembered, from @oldest on, or held shows the block. */
static bool is_shown(const struct model *m, const struct block *b, int64_t oldest)
{
	bool shown = b->until >= oldest;

	for (const struct tick_node *n = m->held; n && !shown; n = n->next)
		shown = b->from < n->tick.awake_ns && b->until >= beginning(&n->tick);
	return shown;
}

/* Frees the blocks that no tick shows; keeps the stacks of the others. These stay counted at the tick that used them, as dropping
 * ticks does not free them. */
static void blocks_prune(struct model *m, int64_t oldest)
{
	struct block **at = &m->blocks_known, *b;

	for (b = m->blocks_known; b; b = b->next)
		while (b->before && !is_shown(m, b->before, oldest))
			b->before = b->before->before;
	while ((b = *at)) {
		bool shown = is_shown(m, b, oldest);

		if (b->life && !shown && b->life->block == b)
			((struct life *)b->life)->block = b->before;
		if (!b->life || !shown) {
			*at = b->next;
			free(b);
			continue;
		}
		if (b->user)
			((struct stack *)b->user)->needed = m->seq;
		if (b->kernel)
			((struct stack *)b->kernel)->needed = m->seq;
		at = &b->next;
	}
}

/* @oldest: the oldest remembered tick. A paused screen may have lists made from all ticks that were remembered when its own tick
 * was built, but not from later ones. */
static bool is_kept(const struct model *m, const struct stack *s, uint64_t oldest)
{
	bool kept = s->held || s->needed == m->seq || s->seq >= oldest;

	for (const struct tick_node *n = m->held; n && !kept; n = n->next)
		kept = s->first <= n->tick.seq && s->seq >= n->oldest;
	return kept;
}

static bool stacks_grew(const struct model *m)
{
	size_t max = m->history ? m->history->bytes_max : SIZE_MAX;

	return m->stack_bytes > max && m->stack_bytes - m->stack_bytes_kept > max / FORGET_PART;
}

/* Frees the stacks that no shown or remembered tick uses. */
void model_stacks_forget(struct model *m)
{
	uint64_t oldest = history_oldest(m->history);
	struct map kept = { 0 };
	struct stack *s;

	if (m->seq % FORGET_EVERY && !stacks_grew(m))
		return;
	oldest = oldest < m->seq ? oldest : m->seq;
	blocks_prune(m, oldest_time(m));
	MAP_EACH (&m->stacks, s) {
		if (is_kept(m, s, oldest) && map_put(&kept, model_stack_key(s), s)) {
			map_fini(&kept);
			return; /* tries again next time */
		}
	}
	MAP_EACH (&m->stacks, s) {
		if (is_kept(m, s, oldest))
			continue;
		m->stack_bytes -= stack_bytes(s);
		free(s);
	}
	m->stack_bytes_kept = m->stack_bytes;
	map_fini(&m->stacks);
	m->stacks = kept;
}

void model_stacks_free(struct model *m)
{
	map_free(&m->stacks);
	while (m->blocks_known) {
		struct block *next = m->blocks_known->next;

		free(m->blocks_known);
		m->blocks_known = next;
	}
}

/* --- Blocks */

int model_block(struct model *m, struct life *l, enum metric_id metric, uint64_t age_ns, bool at_most)
{
	int64_t since = m->awake_ns - (int64_t)age_ns, moved = ((struct life_node *)l)->since;
	struct block *b = malloc(sizeof(*b));

	if (!b)
		return -ENOMEM;
	*b = (struct block){
		.life = l,
		.since = since,
		.from = moved && moved > since ? moved : since,
		.until = BLOCK_ON,
		.metric = metric,
		.flags = NOTE_NO_STACK,
		.at_most = at_most,
		.before = l->block,
		.next = m->blocks_known,
	};
	l->block = b;
	m->blocks_known = b;
	return 0;
}

void model_block_stacks(struct block *b, const struct stack *user, const struct stack *kernel,
			uint8_t flags)
{
	b->user = user;
	b->kernel = kernel;
	b->flags = flags | (user || kernel ? 0 : NOTE_NO_STACK);
}

/* End of the last tick that is complete. */
static int64_t last_end(const struct model *m)
{
	return m->awake_ns - (m->now ? (int64_t)m->now->tick.interval_ns : 0);
}

void model_block_end(struct model *m, struct life *l)
{
	l->block->until = last_end(m);
}

void blocks_forget(struct life *l)
{
	for (struct block *b = l->block; b; b = b->before)
		b->life = NULL;
	l->block = NULL;
}

void blocks_move(struct model *m, struct life *from, struct life *to, uint64_t after_ns)
{
	struct block *b = from->block, *past;
	int64_t since = last_end(m) + (int64_t)after_ns;

	to->block = NULL;
	((struct life_node *)to)->since = since;
	if (!b || b->until != BLOCK_ON)
		return;
	past = malloc(sizeof(*past)); /* without memory, it is the new life's as a whole */
	from->block = past ? past : b->before;
	if (past) {
		*past = *b;
		past->until = last_end(m);
		b->next = past;
		b->from = since;
	}
	b->before = NULL;
	b->life = to;
	to->block = b;
}

/* --- Everything that ticks show */

/* A remembered or held tick, perhaps without rows; NULL: neither. @b: its lists, NULL: they are empty. */
static const struct tick *find(const struct model *m, uint64_t seq, const struct tick_lists **b)
{
	const struct history_tick *t;

	for (const struct tick_node *n = m->held; n; n = n->next) {
		if (n->tick.seq != seq)
			continue;
		*b = n->lists;
		return &n->tick;
	}
	t = history_find(m->history, seq);
	*b = t ? t->lists : NULL;
	return t ? &t->head : NULL;
}

/* Whether a block includes this sample, so that it is reported with that. @end: of its tick. */
static bool in_block(const struct stack_sample *s, int64_t end)
{
	if (!(s->flags & NOTE_GOES_ON))
		return false;
	for (const struct block *b = s->life->block; b; b = b->before)
		if (b->metric == s->metric && b->from < end && end <= b->until)
			return true;
	return false;
}

static int report_blocks(const struct model *m, int64_t from, int64_t to, sample_fn *fn, void *arg)
{
	int err = 0;

	for (const struct block *b = m->blocks_known; !err && b; b = b->next) {
		int64_t since = b->from > from ? b->from : from, until = b->until < to ? b->until : to;
		struct stack_sample s = {
			.life = b->life,
			.user = b->user,
			.kernel = b->kernel,
			.weight = until - since,
			.whole = until - b->since,
			.metric = b->metric,
			.flags = b->flags | NOTE_GOES_ON,
		};

		if (b->life && until > since)
			err = fn(arg, &s);
	}
	return err;
}

int tick_samples_of(const struct tick *any, uint64_t first, uint64_t last, sample_fn *fn, void *arg)
{
	const struct model *m = ((const struct tick_node *)any)->model;
	const struct tick_lists *b;
	const struct tick *t = find(m, last, &b);
	int64_t end = t ? t->awake_ns : 0, to = end;
	int err = 0;

	for (uint64_t seq = last; !err && t && seq && seq >= first; t = find(m, --seq, &b)) {
		for (size_t i = 0; b && !err && i < b->nr_samples; i++)
			if (!in_block(&b->samples[i], end))
				err = fn(arg, &b->samples[i]);
		end -= t->interval_ns;
	}
	return err ? err : report_blocks(m, end, to, fn, arg);
}

int tick_samples(const struct tick *t, uint64_t ticks, sample_fn *fn, void *arg)
{
	return tick_samples_of(t, t->seq >= ticks ? t->seq - ticks + 1 : 1, t->seq, fn, arg);
}
