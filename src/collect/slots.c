/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/slots.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collect/slots_internal.h"
#include "model/model.h"
#include "proc/cgroup.h"

/* A writer can be preempted by the hypervisor for ms: torn slots are read again after all others, AGAIN_TIMES with a
 * nap of AGAIN_NAP_NS each. */
#define AGAIN_TIMES 10
#define AGAIN_NAP_NS 300000

struct slots *slots_new(const struct slots_memory *mem, struct model *model, struct cgroups *cgroups,
			const struct collector_set *with)
{
	struct slots *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->mem = *mem;
	s->until = UINT64_MAX;
	s->model = model;
	s->cgroups = cgroups;
	s->limits = cgroups_limits(cgroups);
	s->with = with;
	s->readers = calloc(mem->max, sizeof(*s->readers));
	s->resting = calloc(mem->max, sizeof(*s->resting));
	s->shown = calloc(mem->max, sizeof(*s->shown));
	s->queued = calloc(mem->nr_cpus + 1, sizeof(*s->queued));
	s->running = calloc(mem->nr_cpus + 1, sizeof(*s->running));
	s->active = calloc(mem->max, sizeof(*s->active));
	s->captures = calloc(CAPTURES_MAX, sizeof(*s->captures));
	if (s->readers && s->resting && s->shown && s->queued && s->running && s->active && s->captures)
		return s;
	slots_free(s);
	return NULL;
}

void slots_free(struct slots *s)
{
	if (!s)
		return;
	for (uint32_t i = 1; s->readers && i <= slots_used(s->mem.shared, s->mem.max); i++)
		if (s->readers[i].life)
			model_life_end(s->model, s->readers[i].life);
	slots_forget_exited(s);
	free(s->exited);
	free(s->queued);
	free(s->running);
	free(s->readers);
	free(s->resting);
	free(s->shown);
	free(s->active);
	free(s->captures);
	free(s);
}

void slots_loss(const struct slots *s, uint64_t loss[LOSS_COUNT])
{
	for (int cause = 0; cause < LOSS_COUNT; cause++)
		loss[cause] += s->loss[cause];
}

/* --- The collectors */

int slots_drain(struct slots *s)
{
	int err = 0;

	COLLECTOR_EACH (s->with, i, drain)
		err = err ? err : s->with->rows[i]->drain(s->with->states[i]);
	return err;
}

int slots_take(struct slots *s, uint32_t index, const struct slot *c, bool over, uint32_t *taken)
{
	int err = 0;

	*taken = 0;
	COLLECTOR_EACH (s->with, i, thread_take)
		err = err ? err : s->with->rows[i]->thread_take(s->with->states[i], index, c, over, taken);
	return err;
}

int slots_met(struct slots *s, const struct collector_thread *t)
{
	int err = 0;

	COLLECTOR_EACH (s->with, i, thread_met)
		err = err ? err : s->with->rows[i]->thread_met(s->with->states[i], t);
	return err;
}

int slots_shown(struct slots *s, const struct collector_thread *t)
{
	int err = 0;

	COLLECTOR_EACH (s->with, i, thread_shown)
		err = err ? err : s->with->rows[i]->thread_shown(s->with->states[i], t);
	return err;
}

void slots_gone(struct slots *s, uint32_t index, struct life *life)
{
	COLLECTOR_EACH (s->with, i, thread_gone)
		s->with->rows[i]->thread_gone(s->with->states[i], index, life);
}

/* Calls all hooks even if some fail: data that was not shown must be discarded. */
static int threads_end(struct slots *s, uint64_t now, bool baseline)
{
	int err = 0;

	COLLECTOR_EACH (s->with, i, threads_end) {
		int one = s->with->rows[i]->threads_end(s->with->states[i], now, baseline);

		err = err ? err : one;
	}
	return err;
}

/* --- Threads */

/* The slot was being written during all attempts to read it. */
static void look_again(struct slots *s, uint32_t index)
{
	if (s->last_time || s->nr_again == AGAIN_MAX)
		s->loss[LOSS_TORN]++;
	else
		s->again[s->nr_again++] = index;
}

/* Whether the thread existed at @now. Dead threads come from the ring, except those that died while we read. */
static bool slot_lives(const struct slot *slot, uint64_t now)
{
	return slot->state != SLOT_FREE && slot->born_ns <= now && (slot->state != SLOT_DEAD || slot->since > now);
}

int slots_read_moved(struct slots *s)
{
	return s->ask_moved && !s->baseline ? s->ask_moved(s->moved_arg) : 0;
}

/* A consistent copy of a slot that was in use at @now, and its life. Returns whether there is one. */
static bool slot_take(struct slots *s, uint32_t index, const struct capture *captured, uint64_t now, struct slot *copy,
		      int *err)
{
	struct slot *slot = &s->mem.slots[index];

	if (!slot_lives(slot, now))
		return false;
	if (captured) {
		*copy = captured->copy;
	} else if (slot_read(slot, copy)) {
		slot_take_longest(&s->shown[index], slot, copy);
	} else {
		look_again(s, index);
		return false;
	}
	if (!slot_lives(copy, now))
		return false;
	if (slots_elsewhere(s, index, copy))
		*err = slots_read_moved(s);
	if (!*err)
		*err = slots_identify(s, index, copy);
	return !*err;
}

struct taken slots_taken(const struct slots *s, uint32_t index, const struct slot *c)
{
	const struct cpu_slot *cpu = c->cpu < s->mem.nr_cpus ? &s->mem.cpus[c->cpu] : NULL;
	struct taken taken = { .steal_known = s->mem.shared->steal_known }, none = taken;
	uint64_t charged, switches;

	if (!cpu || c->state != SLOT_RUNNING)
		return none;
	switches = __atomic_load_n(&cpu->switches_done, __ATOMIC_ACQUIRE);
	charged = __atomic_load_n(&cpu->irq_charged, __ATOMIC_RELAXED);
	taken.irq_ns = __atomic_load_n(&cpu->hardirq_ns, __ATOMIC_RELAXED) +
		       __atomic_load_n(&cpu->softirq_ns, __ATOMIC_RELAXED) - charged;
	charged = __atomic_load_n(&cpu->steal_charged, __ATOMIC_RELAXED);
	taken.steal_ns = __atomic_load_n(&cpu->steal_seen, __ATOMIC_RELAXED);
	taken.steal_ns = taken.steal_ns > charged && charged ? taken.steal_ns - charged : 0;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* If the thread left the CPU meanwhile, its own sums contain the time. */
	return (__atomic_load_n(&cpu->current_slot, __ATOMIC_RELAXED) == index || !switches) &&
			       __atomic_load_n(&cpu->switches, __ATOMIC_RELAXED) == switches
		       ? taken
		       : none;
}

/* A CPU that goes offline stops its last thread, one of its own kernel threads, without a reported switch. */
static void show_stopped(struct slot *c, const struct slots_memory *mem)
{
	if (c->state == SLOT_RUNNING && c->cpu < mem->nr_cpus && mem->cpus[c->cpu].offline)
		c->state = SLOT_STOPPED;
}

/* Shows a thread in scope that did something, or may have. */
static int show_thread(struct slots *s, struct collector_thread *t, enum thread_state state)
{
	struct reader *r = &s->readers[t->slot];
	int err = slots_take(s, t->slot, t->copy, false, &t->taken);

	if (!err)
		err = slots_met(s, t);
	if (err)
		return err;
	if (t->values->v[METRIC_THROTTLED])
		r->life->limiter->throttled = true;
	if (values_quiet(t->values) && r->idle && t->from <= s->since) /* except for a part before a move */
		return model_idle(s->model, r->life, state);
	err = model_thread(s->model, r->life, state, false, t->values);
	return err ? err : slots_shown(s, t);
}

/* A thread that slept, or was stopped, and was not woken: it rests from now on. */
static int quiet_tick(struct slots *s, uint32_t index, uint64_t now)
{
	struct reader *r = &s->readers[index];

	if (now > r->end)
		r->end = now;
	s->resting[index] = (struct resting_slot){ r->seq + 1, r->wakeups };
	return r->in_scope ? model_idle(s->model, r->life, r->idle) : 0;
}

/* The thread at place @at of @stretch. */
static int slot_tick(struct slots *s, const struct stretch *stretch, uint32_t at, uint64_t now)
{
	uint32_t index = stretch->slots[at];
	struct slot *slot = &s->mem.slots[index], copy;
	struct reader *r = &s->readers[index];
	const struct capture *captured = slots_captured(s, stretch->first_capture + at, slot);
	struct values values;
	struct collector_thread t = { .slot = index, .copy = &copy, .values = &values, .now = now };
	enum thread_state state;
	struct taken taken;
	int err = 0;

	slots_stir(s, index);
	if (r->life) /* it may have died since, or its slot is being written */
		model_not_idle(s->model, r->life);
	if (!slot_take(s, index, captured, now, &copy, &err))
		return err;
	show_stopped(&copy, &s->mem);
	if (copy.state == SLOT_RUNNING && copy.cpu < s->mem.nr_cpus)
		s->running[copy.cpu] = index;
	t.from = r->end;
	t.after = slots_after(s, t.from);
	taken = captured ? captured->taken : slots_taken(s, index, &copy);
	slot_show(r, &s->shown[index], &copy, now, &taken, &values);
	slots_show_usage(s, stretch, at, &copy, now, &values);
	if (s->baseline)
		return slots_take(s, index, &copy, false, &t.taken);
	state = copy.state == SLOT_DEAD ? STATE_RUNNING : slot_state(&copy); /* it died since @now */
	r->idle = state == STATE_SLEEP || state == STATE_STOPPED ? state : 0;
	if (state == STATE_RUNQUEUE && copy.cpu < s->mem.nr_cpus)
		s->queued[copy.cpu]++;
	if (!r->in_scope)
		return 0;
	t.life = r->life;
	t.runq_ns = s->shown[index].sums[SUM_RUNQ];
	return show_thread(s, &t, state);
}

void slots_ask_moved(struct slots *s, slots_moved_fn *fn, void *arg)
{
	s->ask_moved = fn;
	s->moved_arg = arg;
}

static int stretch_tick(struct slots *s, struct stretch *stretch, uint64_t now)
{
	int err = 0;

	slots_stretch(s, stretch);
	for (uint32_t at = 0; !err && at < stretch->nr; at++)
		err = slot_tick(s, stretch, at, now);
	return err;
}

/* Reads the slots that were being written. */
static int tick_again(struct slots *s, uint64_t now)
{
	const struct timespec nap = { .tv_nsec = AGAIN_NAP_NS };
	int err = 0;

	for (int times = 1; !err && s->nr_again; times++) {
		struct stretch stretch;

		nanosleep(&nap, NULL);
		stretch.nr = 0;
		stretch.first_capture = CAPTURES_MAX;
		for (int i = 0; i < s->nr_again; i++)
			stretch_add(&stretch, &s->mem.slots[s->again[i]], s->again[i]);
		s->nr_again = 0;
		s->last_time = times == AGAIN_TIMES;
		err = stretch_tick(s, &stretch, now);
	}
	s->last_time = false;
	return err;
}

/* Shows what slots_capture() found, a stretch at a time. */
static int tick_all(struct slots *s, uint64_t now)
{
	struct stretch stretch = { .first_capture = 0 };
	int err = 0;

	for (uint32_t at = 0; !err && at < s->nr_active; stretch.first_capture += stretch.nr) {
		stretch.nr = 0;
		for (; !err && at < s->nr_active && stretch.nr < USAGE_BATCH; at++) {
			uint32_t index = s->active[at] & ~ACTIVE_QUIET;

			if (s->active[at] & ACTIVE_QUIET)
				err = quiet_tick(s, index, now);
			else
				stretch_add(&stretch, &s->mem.slots[index], index);
		}
		if (!err)
			err = stretch_tick(s, &stretch, now);
	}
	return err ? err : tick_again(s, now);
}

int slots_tick(struct slots *s, uint64_t now)
{
	int err = s->captured_at == now ? 0 : slots_capture(s, now), ended;

	slot_io_unknown(s->model, !s->io_known);
	memset(s->queued, 0, s->mem.nr_cpus * sizeof(*s->queued));
	memset(s->running, 0, s->mem.nr_cpus * sizeof(*s->running));
	if (!err)
		err = slots_show_exited(s, now);
	if (!err)
		err = tick_all(s, now);
	if (!err)
		slots_memory(s, now);
	if (!err)
		err = slots_show_exited(s, now); /* threads that were since found to have moved */
	ended = threads_end(s, now, false);
	/* Last, so that threads of dead processes that were first seen above know their process. */
	slots_forget_exited(s);
	s->since = now;
	s->until = UINT64_MAX;
	return err ? err : ended;
}

int slots_baseline(struct slots *s, uint64_t now)
{
	int err = s->captured_at == now ? 0 : slots_capture(s, now), ended;

	s->until = UINT64_MAX;
	slots_forget_exited(s);
	s->baseline = true;
	if (!err)
		err = tick_all(s, now);
	s->baseline = false;
	s->since = now;
	ended = threads_end(s, now, true);
	return err ? err : ended;
}

bool slots_any(const struct slots *s)
{
	for (uint32_t i = 1; i <= slots_used(s->mem.shared, s->mem.max); i++) {
		const struct slot *slot = &s->mem.slots[i];

		if (slot->in_scope && slot->state != SLOT_FREE && slot->state != SLOT_DEAD)
			return true;
	}
	return false;
}

const uint32_t *slots_queued(const struct slots *s)
{
	return s->queued;
}

const uint32_t *slots_running(const struct slots *s)
{
	return s->running;
}
