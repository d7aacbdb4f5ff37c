/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/slot_values.h"

#include <string.h>
#include <unistd.h>

#include "model/aggregate.h"
#include "model/model.h"

/* A read and a write of a slot take less than 100 ns each: only a thread that switches constantly on a CPU that the
 * hypervisor takes away from us needs this many attempts. */
#define READ_TRIES 256
#define WAKER_TRIES 16

static const enum metric_id sum_metrics[SUM_COUNT] = {
	[SUM_RUN] = METRIC_RUN,         [SUM_IRQ] = METRIC_IRQ,
	[SUM_STEAL] = METRIC_STEAL,     [SUM_RUNQ] = METRIC_RUNQ,
	[SUM_D] = METRIC_D,             [SUM_SLEEP] = METRIC_SLEEP,
	[SUM_STOPPED] = METRIC_STOPPED, [SUM_THROTTLED] = METRIC_THROTTLED,
};

bool slot_read(const struct slot *slot, struct slot *copy)
{
	for (int i = 0; i < READ_TRIES; i++) {
		uint32_t seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);

		if (seq & 1)
			continue;
		memcpy(copy, slot, sizeof(*copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&slot->seq, __ATOMIC_RELAXED) != seq)
			continue;
		copy->seq = seq;
		/* Wakings do not change seq: this copy has waker and count of the same instant, if possible. */
		if (__atomic_load_n(&slot->waker_since, __ATOMIC_RELAXED) == copy->waker_since || i >= WAKER_TRIES)
			return true;
	}
	return false;
}

/* When a blocked thread was woken, if it has waited for a CPU since; 0: it was not. */
static uint64_t slot_woken(const struct slot *c)
{
	uint64_t wake = c->wake & WAKE_TIME_MASK;

	switch (c->state) {
	case SLOT_D:
	case SLOT_SLEEP:
	case SLOT_STOPPED:
		return wake > c->since ? wake : 0;
	default:
		return 0;
	}
}

bool slot_is_blocked(const struct slot *c)
{
	return (c->state == SLOT_D || c->state == SLOT_SLEEP) && !slot_woken(c);
}

enum thread_state slot_state(const struct slot *c)
{
	if (slot_woken(c))
		return STATE_RUNQUEUE;
	switch (c->state) {
	case SLOT_RUNNING:
		return STATE_RUNNING;
	case SLOT_RUNQUEUE:
		return STATE_RUNQUEUE;
	case SLOT_D:
		return STATE_D;
	case SLOT_STOPPED:
		return STATE_STOPPED;
	case SLOT_DEAD:
		return STATE_DEAD;
	default:
		return STATE_SLEEP;
	}
}

/* The cumulative times at @at, or at the slot's since if that is later: its sums and the time in the present state so
 * far. The wait of a woken thread is provisional: the switch-in decides. */
static void slot_sums(const struct slot *c, uint64_t at, const struct taken *taken, uint64_t sums[SUM_COUNT])
{
	uint64_t since = c->since, woken = slot_woken(c), blocked_end;

	if (at < since)
		at = since;
	blocked_end = woken && woken < at ? woken : at;

	sums[SUM_RUN] = c->run_ns;
	sums[SUM_IRQ] = c->irq_ns;
	sums[SUM_STEAL] = c->steal_ns;
	sums[SUM_RUNQ] = c->runq_ns;
	sums[SUM_D] = c->d_ns;
	sums[SUM_SLEEP] = c->sleep_ns;
	sums[SUM_STOPPED] = c->stopped_ns;
	sums[SUM_THROTTLED] = c->throttled_ns;
	switch (c->state) {
	case SLOT_RUNNING: {
		uint64_t ran = at - since, irq = taken->irq_ns < ran ? taken->irq_ns : ran;
		uint64_t steal = taken->steal_ns < ran - irq ? taken->steal_ns : ran - irq;

		sums[SUM_RUN] += ran - irq - steal;
		sums[SUM_IRQ] += irq;
		sums[SUM_STEAL] += steal;
		return;
	}
	case SLOT_RUNQUEUE:
		sums[SUM_RUNQ] += at - since;
		if (c->flags & SLOT_THROTTLED)
			sums[SUM_THROTTLED] += at - since;
		return;
	case SLOT_LOST: {
		uint64_t ran = c->lost_ns < at - since ? c->lost_ns : at - since;

		sums[SUM_RUN] += ran;
		sums[SUM_SLEEP] += at - since - ran;
		return;
	}
	case SLOT_FREE:
	case SLOT_DEAD:
		return;
	case SLOT_D:
		sums[SUM_D] += blocked_end - since;
		break;
	case SLOT_STOPPED:
		sums[SUM_STOPPED] += blocked_end - since;
		break;
	default:
		sums[SUM_SLEEP] += blocked_end - since;
	}
	sums[SUM_RUNQ] += at - blocked_end;
	if (c->wake & WAKE_THROTTLED)
		sums[SUM_THROTTLED] += at - blocked_end;
}

void slot_take_longest(struct shown *shown, struct slot *slot, const struct slot *copy)
{
	uint64_t ns = copy->runq_max_ns, now = ns;

	if (ns > shown->longest_wait)
		shown->longest_wait = ns;
	if (ns) /* a longer one stays for the next time */
		__atomic_compare_exchange_n(&slot->runq_max_ns, &now, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* The longest wait since the last time, including one in progress; @h: the waits that ended. A shorter one that ended just before
 * slot_take_longest() took a longer one was lost with that: then only its place in the histogram is known. */
static uint64_t show_longest(struct shown *shown, const struct slot *c, uint64_t at, const struct hist *h)
{
	uint64_t max = shown->longest_wait, since = c->state == SLOT_RUNQUEUE ? c->since : slot_woken(c);
	int slot = hists[HIST_RUNQ].last;

	shown->longest_wait = 0;
	while (slot > hists[HIST_RUNQ].first && !h->n[slot])
		slot--;
	if (slot > hists[HIST_RUNQ].first && max < 1ULL << slot)
		max = 1ULL << slot;
	return since && since < at && at - since > max ? at - since : max;
}

/* Deducts up to @owed from the growth of some states, the largest first. Returns the rest of @owed. */
static uint64_t take_back(struct values *v, uint32_t states, uint64_t owed)
{
	while (owed) {
		enum metric_id largest = METRIC_COUNT;
		uint64_t most = 0;

		for (int i = 0; i < SUM_STATES; i++) {
			if (!(states >> i & 1) || v->v[sum_metrics[i]] <= most)
				continue;
			largest = sum_metrics[i];
			most = v->v[largest];
		}
		if (!most)
			break;
		most = most < owed ? most : owed;
		v->v[largest] -= most;
		owed -= most;
	}
	return owed;
}

/*
 * Advances the shown sums to @now, which reach @early ns too far, and puts the growth into @v. A provisional wait that
 * turned out shorter would make a time shrink: the shown value stays, and the excess is deducted from the growth of
 * others. A switch that came while the slot was read closed a state after the interval's end: @early is deducted from time on a
 * CPU if the thread does not run now, from time off it otherwise.
 */
static void show_sums(struct shown *r, const uint64_t now[SUM_COUNT], uint64_t early, bool runs, struct values *v)
{
	const uint32_t on_cpu = 1 << SUM_RUN | 1 << SUM_IRQ | 1 << SUM_STEAL, all = (1 << SUM_STATES) - 1;
	uint64_t owed = 0;
	int i;

	for (i = 0; i < SUM_COUNT; i++) {
		uint64_t grown = 0;

		if (now[i] >= r->sums[i])
			grown = now[i] - r->sums[i];
		else if (i < SUM_STATES)
			owed += r->sums[i] - now[i];
		v->v[sum_metrics[i]] = grown;
	}
	take_back(v, all, owed + take_back(v, runs ? all & ~on_cpu : on_cpu, early));
	if (v->v[METRIC_THROTTLED] > v->v[METRIC_RUNQ])
		v->v[METRIC_THROTTLED] = v->v[METRIC_RUNQ];
	for (i = 0; i < SUM_COUNT; i++)
		r->sums[i] += v->v[sum_metrics[i]];
}

/* User and kernel time: the kernel's tick-based split, scaled to the exact running time. */
static void show_split(struct shown *r, const struct slot *c, struct values *v)
{
	uint64_t user = c->utime_ns - r->utime_ns, kernel = c->stime_ns - r->stime_ns;

	r->utime_ns = c->utime_ns;
	r->stime_ns = c->stime_ns;
	if (user + kernel) {
		if (!r->split_known)
			v->ticked = (struct ticked){ user, kernel };
		r->user_share = (float)user / (user + kernel);
		r->split_known = true;
	}
	values_split_by(v, r->user_share, r->split_known);
}

static void show_counts(struct shown *r, const struct slot *c, struct values *v)
{
#define _(field, member, metric)                                                                                         \
	v->v[METRIC_##metric] = c->field == COUNT_UNKNOWN ? VALUE_NA : (typeof(c->field))(c->field - r->field);          \
	r->field = c->field;
	SLOT_COUNTS(_)
#undef _
	v->v[METRIC_MIGRATIONS] = (uint32_t)(c->migrations - r->migrations);
	r->migrations = c->migrations;
	hist_grew(&v->hist[HIST_RUNQ], HIST_SHIFT, c->runq_hist, r->runq_hist, HIST_SLOTS);
}

/* Adds the idle time that ticks showed since the sums were last advanced. */
static void show_idle(const struct reader *r, struct shown *shown)
{
	if (r->end > shown->end)
		shown->sums[r->idle == STATE_STOPPED ? SUM_STOPPED : SUM_SLEEP] += r->end - shown->end;
}

void slot_show(struct reader *r, struct shown *shown, const struct slot *c, uint64_t at, const struct taken *taken,
	       struct values *v)
{
	uint64_t sums[SUM_COUNT];

	*v = (struct values){ 0 };
	show_idle(r, shown);
	slot_sums(c, at, taken, sums);
	show_sums(shown, sums, c->since > at ? c->since - at : 0, c->state == SLOT_RUNNING, v);
	if (!taken->steal_known)
		v->v[METRIC_STEAL] = VALUE_NA;
	v->v[METRIC_ALIVE] = at > r->end ? at - r->end : 0;
	show_split(shown, c, v);
	v->v[METRIC_WAKEUPS] = (uint32_t)(c->wakeups - r->wakeups);
	show_counts(shown, c, v);
	v->v[METRIC_RUNQ_MAX] = show_longest(shown, c, at, &v->hist[HIST_RUNQ]);
	r->wakeups = c->wakeups;
	r->seq = c->seq;
	r->end = shown->end = at;
	r->life->limiter->acted = true;
}

static uint64_t grown(__u64 *shown, uint64_t now)
{
	uint64_t before = *shown;

	if (now == USAGE_UNKNOWN)
		return VALUE_NA;
	*shown = now > before ? now : before;
	return *shown - before;
}

void slot_io_unknown(struct model *m, bool unknown)
{
	model_unknown(m, METRIC_READ, unknown);
	model_unknown(m, METRIC_WRITE, unknown);
}

void slot_show_io(struct shown *shown, const struct usage_io *io, struct values *v)
{
	v->v[METRIC_READ] = v->v[METRIC_WRITE] = 0;
	if (!io)
		return;
	if (shown->io_begins) {
		shown->io = *io;
		shown->io_begins = false;
	}
	v->v[METRIC_READ] = grown(&shown->io.read_bytes, io->read_bytes);
	v->v[METRIC_WRITE] = grown(&shown->io.write_bytes, io->write_bytes);
}

void slot_show_memory(const struct life *l, uint32_t index, const struct usage_memory *pages, uint64_t at)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	bool counted = pages->rss < USAGE_NONE, none = pages->rss == USAGE_NONE && model_lives_alone(l);
	struct levels levels;

	levels_unknown(&levels);
	if (counted) {
		levels.v[METRIC_RSS - METRIC_LEVELS] = pages->rss * page;
		levels.v[METRIC_SWAP - METRIC_LEVELS] = pages->swap * page;
	}
	model_levels(l, counted || none ? &levels : NULL, at, index);
}

static bool nothing(uint64_t v)
{
	return !v || v == VALUE_NA;
}

bool values_quiet(const struct values *v)
{
	return !(v->v[METRIC_RUN] | v->v[METRIC_RUNQ] | v->v[METRIC_D] | v->v[METRIC_VOLUNTARY] |
		 v->v[METRIC_INVOLUNTARY] | v->v[METRIC_WAKEUPS] | v->v[METRIC_MIGRATIONS]) &&
	       nothing(v->v[METRIC_READ]) && nothing(v->v[METRIC_WRITE]);
}
