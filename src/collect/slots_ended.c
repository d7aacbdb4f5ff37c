/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that died, and the activity of threads before a move to another cgroup: rows of the next tick. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/slots_internal.h"
#include "model/model.h"
#include "util/clock.h"
#include "util/vec.h"

/* Maximum number of threads that die in an interval and have their own rows, about 450 bytes each: half a minute at the
 * 5,000 per second of a busy build. */
#define EXITED_MAX 131072

/* A dead thread's slot that is inconsistent for this long, ns, stays so. */
#define BROKEN_NS 2000000000ULL

/* If more than EARLY_MIN threads died, which take about 5 ms, they are harvested and shown before the tick; EARLY_SLICE of them
 * are shown between two reads of the clock. */
#define EARLY_MIN 2048
#define EARLY_SLICE 64

void slots_forget_exited(struct slots *s)
{
	for (size_t i = 0; i < s->nr_exited; i++)
		model_life_end(s->model, s->exited[i].life);
	if (vec_ample(s->exited_room, s->nr_exited)) {
		free(s->exited);
		s->exited = NULL;
		s->exited_room = 0;
	}
	s->nr_exited = s->nr_exited_shown = 0;
}

int slots_moved(struct slots *s, uint32_t index, const struct slot *was, uint64_t at)
{
	struct reader *r = &s->readers[index];
	struct exited part = { .slot = index };
	struct taken taken;
	struct life *life;
	int err;

	if (index >= s->mem.max || was->state == SLOT_FREE || was->state == SLOT_DEAD)
		return 0;
	if (!r->life) {
		err = slots_identify(s, index, was);
		if (err)
			return err;
	}
	slots_stir(s, index);
	at = at > was->since ? at : was->since;
	at = at < s->until ? at : s->until; /* it switched while the tick is being made */
	/* Not of a thread that had the slot before: exec changes a thread's tid and start, but not its tgid. */
	if (r->life->tgid != (pid_t)was->tgid || at <= r->end || s->nr_exited >= EXITED_MAX)
		return 0;
	/* The thread's second move in this interval. */
	if (s->shown[index].cgroup_id != was->cgroup_id || r->in_scope != was->in_scope) {
		err = slots_identify(s, index, was);
		if (err)
			return err;
	}
	life = model_life_part(s->model, r->life, at - s->since, slots_cpu_ns(s, index, was, at));
	if (!life)
		return -ENOMEM;
	part.life = r->life;
	part.in_scope = r->in_scope;
	part.from = r->end;
	part.until = at;
	part.state = slot_state(was);
	if (part.state == STATE_D) /* it is counted where it is now */
		part.state = STATE_SLEEP;
	r->life = life;
	taken = slots_taken(s, index, was);
	slot_take_longest(&s->shown[index], &s->mem.slots[index], was);
	slot_show(r, &s->shown[index], was, at, &taken, &part.values);
	slot_show_io(&s->shown[index], s->usages ? NULL : &unknown_io, &part.values); /* counts in its new place */
	part.runq_ns = s->shown[index].sums[SUM_RUNQ];
	r->idle = 0;
	err = slots_take(s, index, was, false, &part.taken);
	return err ? err : VEC_PUSH(s->exited, s->nr_exited, s->exited_room, part);
}

static int give_back(struct slots *s, uint32_t index)
{
	memset(&s->readers[index], 0, sizeof(s->readers[index]));
	memset(&s->shown[index], 0, sizeof(s->shown[index]));
	s->resting[index].seq = 0;
	/* Events that arrive from now on are too late: they must not create a life that is then attributed to the next
	 * thread. */
	s->mem.slots[index].state = SLOT_FREE;
	return bpf_map_update_elem(s->mem.free_fd, NULL, &index, BPF_ANY);
}

static int harvest_one(struct slots *s, uint32_t index, uint64_t until)
{
	struct slot *slot = &s->mem.slots[index], copy;
	struct reader *r = &s->readers[index];
	const struct taken taken = { .steal_known = s->mem.shared->steal_known };
	struct exited exited;
	int err;

	if (!slot_read(slot, &copy) || copy.since > until)
		return -EAGAIN;
	err = slots_identify(s, index, &copy);
	if (err)
		return err;
	slots_stir(s, index);
	exited.from = r->end;
	exited.until = copy.since;
	slot_take_longest(&s->shown[index], slot, &copy);
	slot_show(r, &s->shown[index], &copy, copy.since, &taken, &exited.values);
	slot_show_io(&s->shown[index], s->usages ? &copy.ended : &unknown_io, &exited.values);
	exited.life = r->life;
	exited.state = STATE_DEAD;
	exited.in_scope = r->in_scope;
	exited.slot = index;
	exited.runq_ns = s->shown[index].sums[SUM_RUNQ];
	err = slots_take(s, index, &copy, true, &exited.taken);
	if (err)
		return err;
	slots_gone(s, index, r->life);
	if (!exited.in_scope || s->nr_exited >= EXITED_MAX) { /* those out of scope take no room */
		s->loss[LOSS_UNLISTED] += exited.in_scope;
		model_life_end(s->model, exited.life);
	} else {
		err = VEC_PUSH(s->exited, s->nr_exited, s->exited_room, exited);
		if (err)
			return err;
	}
	return give_back(s, index);
}

/* Whether the tick at @now is stuck at the same entry as previous ones for at least BROKEN_NS. */
static bool is_broken(struct slots *s, uint64_t now)
{
	if (s->stuck_at != s->dead_tail || !s->stuck_since) {
		s->stuck_at = s->dead_tail;
		s->stuck_since = now;
	}
	return now - s->stuck_since >= BROKEN_NS;
}

/* The contents of the slot cannot be trusted; entries after it in the ring must not wait for it. */
static int harvest_broken(struct slots *s, uint32_t index)
{
	struct slot *slot = &s->mem.slots[index];
	struct reader *r = &s->readers[index];
	uint32_t taken;
	int err = slots_take(s, index, slot, true, &taken);

	if (err)
		return err;
	if (r->life) {
		slots_gone(s, index, r->life);
		model_life_end(s->model, r->life);
	}
	s->loss[LOSS_UNLISTED]++;
	slot->seq += slot->seq & 1;
	return give_back(s, index);
}

/* Dead threads harvested between two reads of the clock: about 0.2 ms. */
#define HARVEST_SLICE 64

/* If this many threads died, they are harvested before the next tick: fewer, in each of four quarters of a second, do not make the
 * tick slow. */
#define DEAD_DUE (EARLY_MIN / 4)

static uint32_t nr_dead(const struct slots *s)
{
	return __atomic_load_n(&s->mem.shared->dead_head, __ATOMIC_RELAXED) - s->dead_tail;
}

bool slots_due(const struct slots *s)
{
	uint32_t dead = nr_dead(s);

	return dead >= DEAD_DUE || (dead && s->mem.shared->slots_used + 1 >= s->mem.max);
}

int slots_harvest_until(struct slots *s, uint64_t until, uint64_t deadline)
{
	uint32_t head = __atomic_load_n(&s->mem.shared->dead_head, __ATOMIC_ACQUIRE);
	uint64_t *entry, index;
	int err = slots_drain(s);

	if (!err)
		err = slots_read_moved(s);

	/* Up to the head from before the rings were read: events of a thread must be read before its slot is reused. */
	for (uint32_t nr = 1; !err && s->dead_tail != head; s->dead_tail++, nr++) {
		entry = &s->mem.dead[s->dead_tail % s->mem.max];
		index = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
		if (!index || index >= s->mem.max)
			return 0;
		err = harvest_one(s, index, until);
		if (err == -EAGAIN && until != UINT64_MAX && is_broken(s, until))
			err = harvest_broken(s, index);
		if (err == -EAGAIN)
			return 0;
		if (err)
			return err;
		*entry = 0;
		if (deadline && nr % HARVEST_SLICE == 0 && clock_ns(CLOCK_MONOTONIC) >= deadline) {
			s->dead_tail++;
			return s->dead_tail != head;
		}
	}
	return err;
}

int slots_harvest(struct slots *s, uint64_t deadline)
{
	return slots_harvest_until(s, UINT64_MAX, deadline);
}

static int show_exited(struct slots *s, const struct exited *e, uint64_t now)
{
	struct collector_thread t = {
		.slot = e->slot,
		.life = e->life,
		.values = &e->values,
		.from = e->from,
		.now = now,
		.after = slots_after(s, e->from),
		.until = e->until,
		.runq_ns = e->runq_ns,
		.taken = e->taken,
	};
	int err = slots_met(s, &t);

	if (!err)
		err = model_thread(s->model, e->life, e->state, e->state == STATE_DEAD, &e->values);
	return err ? err : slots_shown(s, &t);
}

static int show_next(struct slots *s, uint64_t now)
{
	const struct exited *e = &s->exited[s->nr_exited_shown++];

	return e->in_scope ? show_exited(s, e, now) : 0; /* a part of one that moved can be out of scope */
}

int slots_show_exited(struct slots *s, uint64_t now)
{
	int err = 0;

	while (!err && s->nr_exited_shown < s->nr_exited)
		err = show_next(s, now);
	return err;
}

bool slots_crowded(const struct slots *s)
{
	return s->nr_exited - s->nr_exited_shown + nr_dead(s) > EARLY_MIN;
}

int slots_show_early(struct slots *s, uint64_t deadline)
{
	int err = 0;

	if (!slots_crowded(s))
		return 0;
	err = model_begin_early(s->model);
	while (!err && s->nr_exited_shown < s->nr_exited) {
		err = show_next(s, 0);
		if (!err && s->nr_exited_shown % EARLY_SLICE == 0 && clock_ns(CLOCK_MONOTONIC) >= deadline)
			return 1;
	}
	return err;
}
