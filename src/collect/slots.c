/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/slots.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collect/blocked.h"
#include "collect/slot_values.h"
#include "collect/stacks.h"
#include "collect/waits.h"
#include "model/model.h"
#include "model/sample.h"
#include "model/aggregate.h"
#include "proc/cgroup.h"
#include "util/vec.h"

/* A CPU can be stolen from us in the middle of a write, for ms: what was met then is looked at again
 * after all others, so often and after so long a nap each. */
#define AGAIN_MAX 64
#define AGAIN_TIMES 10
#define AGAIN_NAP_NS 300000

/* So many slots ahead memory is asked for. */
#define PREFETCH 8

/* Threads that died in one interval and have rows of their own, about 450 bytes each: at the 5,000
 * a second of a busy build, half a minute of them. */
#define EXITED_MAX 131072

/* A dead thread's slot that is not whole for as long, ns, never will be. */
#define BROKEN_NS 2000000000ULL

/* A thread that died since the last tick, or what one did before it was moved to another cgroup. */
struct exited {
	struct life *life;
	struct values values;
	enum thread_state state; /* STATE_DEAD, or the one that it was moved in */
	bool in_scope;
	uint32_t slot;
	uint64_t from, runq_ns; /* for its stacks */
	uint32_t waits;         /* see waits_take() */
};

struct slots {
	struct slots_memory mem;
	struct model *model;
	struct cgroups *cgroups, *limits; /* of cgroups_limits() */
	struct stacks *stacks;   /* NULL: none are taken */
	struct blocked *blocked; /* NULL: nor are those of threads that are blocked */
	struct waits *waits;
	uint32_t *queued;       /* by CPU: threads that wait for one and were last on that, */
	uint32_t *running;      /* and the slot of the thread that runs there */
	struct reader *readers; /* one a slot; pages of unused ones are never touched */
	struct shown *shown;
	uint32_t dead_tail, stuck_at; /* of the ring of dead slots: what comes next, and where a tick had to stop */
	uint64_t stuck_since;
	struct exited *exited;
	size_t nr_exited, exited_room;
	uint32_t again[AGAIN_MAX]; /* slots that were being written */
	int nr_again;
	bool baseline;             /* first readings, which later ones are compared with: nothing is shown */
	bool last_time;            /* what is being written now is lost for this tick */
	uint64_t loss[LOSS_COUNT];
	uint64_t since;            /* the last tick's end */
	uint64_t until;            /* of the tick that is being made, UINT64_MAX: none is */
	slots_moved_fn *ask_moved;
	void *moved_arg;
};

static struct life *life_of(void *arg, uint32_t index);

struct slots *slots_new(const struct slots_memory *mem, struct model *model,
			struct cgroups *cgroups, struct stacks *stacks, struct blocked *blocked)
{
	struct slots *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->mem = *mem;
	s->until = UINT64_MAX;
	s->model = model;
	s->cgroups = cgroups;
	s->limits = cgroups_limits(cgroups);
	s->stacks = stacks;
	s->blocked = blocked;
	s->readers = calloc(mem->max, sizeof(*s->readers));
	s->shown = calloc(mem->max, sizeof(*s->shown));
	s->queued = calloc(mem->nr_cpus + 1, sizeof(*s->queued));
	s->running = calloc(mem->nr_cpus + 1, sizeof(*s->running));
	s->waits = waits_new(&mem->waits, model, life_of, s);
	if (s->readers && s->shown && s->queued && s->running && s->waits)
		return s;
	slots_free(s);
	return NULL;
}

static void forget_exited(struct slots *s)
{
	for (size_t i = 0; i < s->nr_exited; i++)
		model_life_end(s->model, s->exited[i].life);
	s->nr_exited = 0;
}

void slots_free(struct slots *s)
{
	if (!s)
		return;
	for (uint32_t i = 1; s->readers && i < s->mem.max && i <= s->mem.shared->slots_used; i++)
		if (s->readers[i].life)
			model_life_end(s->model, s->readers[i].life);
	forget_exited(s);
	waits_free(s->waits);
	free(s->exited);
	free(s->queued);
	free(s->running);
	free(s->readers);
	free(s->shown);
	free(s);
}

void slots_loss(const struct slots *s, uint64_t loss[LOSS_COUNT])
{
	for (int cause = 0; cause < LOSS_COUNT; cause++)
		loss[cause] += s->loss[cause];
}

static struct identity slot_identity(const struct slot *c)
{
	struct identity id = {
		.tid = c->tid,
		.tgid = c->tgid,
		.ppid = c->ppid,
		.uid = c->uid,
		.start_ns = c->start_ns,
		.flags = c->pf_flags,
		.policy = c->policy,
		.priority = c->prio,
		.cpu = c->cpu,
	};

	memcpy(id.comm, c->comm, sizeof(id.comm) - 1);
	return id;
}

/* The thread's cgroup in the hierarchy with the CPU limits, which is not the one shown. */
static struct cgroup *limiter_of(struct slots *s, uint32_t index)
{
	uint64_t id = __atomic_load_n(&s->mem.limit_cgroups[index], __ATOMIC_RELAXED);
	const struct life *life = s->readers[index].life;
	struct cgroup *limiter = life ? life->limiter : NULL;

	if (!limiter || s->shown[index].limit_cgroup_id != id)
		limiter = cgroups_find(s->limits, id);
	s->shown[index].limit_cgroup_id = id;
	return limiter;
}

/* Sees to it that the reader has a life, and that the life knows what the slot says. */
static int reader_identify(struct slots *s, uint32_t index, const struct slot *c)
{
	struct reader *r = &s->readers[index];
	struct shown *shown = &s->shown[index];
	struct identity id = slot_identity(c);
	struct cgroup *cgroup = r->life ? r->life->cgroup : NULL;

	if (!cgroup || shown->cgroup_id != c->cgroup_id)
		cgroup = cgroups_find(s->cgroups, c->cgroup_id);
	shown->cgroup_id = c->cgroup_id;
	if (s->limits)
		id.limiter = limiter_of(s, index);
	if (r->life) {
		struct life *life = r->life;

		if (r->in_scope && !c->in_scope) {
			if (s->blocked)
				blocked_end(s->blocked, index, life);
			life = model_life_leave(s->model, life);
		}
		if (life)
			life = model_life_update(s->model, life, &id, cgroup);
		if (!life)
			return -ENOMEM;
		r->life = life;
		r->in_scope = c->in_scope;
		return 0;
	}
	r->life = model_life(s->model, &id, cgroup);
	r->in_scope = c->in_scope;
	r->end = shown->end = c->born_ns;
	if (c->sighted) { /* the kernel's counts began before the slot: from here on */
		shown->voluntary = c->voluntary;
		shown->involuntary = c->involuntary;
		shown->migrations = c->migrations;
		shown->utime_ns = c->utime_ns;
		shown->stime_ns = c->stime_ns;
	}
	return r->life ? 0 : -ENOMEM;
}

/* For what is told of threads by their slots: one can be told of before it was met here. */
static struct life *life_of(void *arg, uint32_t index)
{
	struct slots *s = arg;
	struct slot copy;

	if (!s->readers[index].life && (!slot_read(&s->mem.slots[index], &copy) || copy.state == SLOT_FREE ||
					reader_identify(s, index, &copy)))
		return NULL;
	return s->readers[index].life;
}

/* The thread was asleep or stopped at the last tick, and nothing happened to it since. */
static bool slot_quiet(const struct slot *slot, const struct reader *r)
{
	return r->idle && __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE) == r->seq &&
	       slot->wakeups == r->wakeups;
}

/* The slot is being written, and has been for as long as we looked. */
static void look_again(struct slots *s, uint32_t index)
{
	if (s->last_time || s->nr_again == AGAIN_MAX)
		s->loss[LOSS_TORN]++;
	else
		s->again[s->nr_again++] = index;
}

/* Who was there at @now. Dead ones come from the ring, but for those that died while we read: harvest(). */
static bool slot_lives(const struct slot *slot, uint64_t now)
{
	return slot->state != SLOT_FREE && slot->born_ns <= now && (slot->state != SLOT_DEAD || slot->since > now);
}

/* Hands those that were moved, and are found to be, to slots_moved(). */
static int read_moved(struct slots *s)
{
	return s->ask_moved && !s->baseline ? s->ask_moved(s->moved_arg) : 0;
}

/* It was moved since its life was last updated: what it did before is told, and may not be read yet. */
static bool slot_is_elsewhere(const struct slots *s, uint32_t index, const struct slot *c)
{
	const struct reader *r = &s->readers[index];

	return r->life && (s->shown[index].cgroup_id != c->cgroup_id || r->in_scope != c->in_scope ||
			   (s->limits && s->shown[index].limit_cgroup_id !=
						 __atomic_load_n(&s->mem.limit_cgroups[index], __ATOMIC_RELAXED)));
}

/* A slot that was in use at @now, whole, with its life. Returns whether there is one. */
static bool slot_take(struct slots *s, uint32_t index, uint64_t now, struct slot *copy, int *err)
{
	const struct slot *slot = &s->mem.slots[index];

	if (!slot_lives(slot, now))
		return false;
	if (!slot_read(slot, copy)) {
		look_again(s, index);
		return false;
	}
	if (!slot_lives(copy, now))
		return false;
	if (slot_is_elsewhere(s, index, copy))
		*err = read_moved(s);
	if (!*err)
		*err = reader_identify(s, index, copy);
	return !*err;
}

static bool is_blocked(const struct slot *c)
{
	return (c->state == SLOT_D || c->state == SLOT_SLEEP) && !slot_woken(c);
}

/* What is known of where it is blocked: over, or begun. Threads asleep come after all others. */
static int show_blocked(struct slots *s, uint32_t index, const struct slot *c, uint64_t now)
{
	struct life *life = s->readers[index].life;
	bool still = is_blocked(c) && blocked_is(s->blocked, index, c->since);

	if (!still)
		blocked_end(s->blocked, index, life);
	return is_blocked(c) && c->state == SLOT_D ? blocked_show(s->blocked, index, c, life, now) : 0;
}

/* Its own stacks, and what it is in the middle of. */
static int show_stacks(struct slots *s, uint32_t index, const struct slot *c, const struct values *values,
		       uint64_t from, uint64_t now)
{
	struct life *life = s->readers[index].life;
	struct stacks_thread t = {
		.slot = index,
		.tid = life->tid,
		.life = life,
		.values = values,
		.from = from,
		.runq_ns = s->shown[index].sums[SUM_RUNQ],
		.softirqs = life->flags & PF_KTHREAD && !strncmp(life->comm, "ksoftirqd/", 10),
	};

	if (is_blocked(c)) {
		t.blocked = slot_blocked(c);
		t.blocked_ns = now > c->since ? now - c->since : 0;
	}
	return stacks_show(s->stacks, &t);
}

/* What was taken so far from the running thread in a slot. */
static struct taken taken_from(const struct slots *s, uint32_t index, const struct slot *c)
{
	const struct cpu_slot *cpu = c->cpu < s->mem.nr_cpus ? &s->mem.cpus[c->cpu] : NULL;
	struct taken taken = { .steal_told = s->mem.shared->steal_told }, none = taken;
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
	/* If it went meanwhile, its own sums have it. */
	return (__atomic_load_n(&cpu->current_slot, __ATOMIC_RELAXED) == index || !switches) &&
			       __atomic_load_n(&cpu->switches, __ATOMIC_RELAXED) == switches
		       ? taken
		       : none;
}

/* A CPU that goes offline stops its last thread, which is one of its own, without a switch that is reported. */
static void show_stopped(struct slot *c, const struct slots_memory *mem)
{
	if (c->state == SLOT_RUNNING && c->cpu < mem->nr_cpus && mem->cpus[c->cpu].offline)
		c->state = SLOT_STOPPED;
}

static int slot_tick(struct slots *s, uint32_t index, uint64_t now)
{
	struct slot *slot = &s->mem.slots[index], copy;
	struct reader *r = &s->readers[index];
	enum thread_state state;
	struct values values;
	struct taken taken;
	uint32_t waits;
	uint64_t from;
	int err = 0;

	if (slot_quiet(slot, r)) {
		if (now > r->end)
			r->end = now;
		return r->in_scope ? model_idle(s->model, r->life, r->idle) : 0;
	}
	if (!slot_take(s, index, now, &copy, &err))
		return err;
	show_stopped(&copy, &s->mem);
	if (copy.state == SLOT_RUNNING && copy.cpu < s->mem.nr_cpus)
		s->running[copy.cpu] = index;
	from = r->end;
	taken = taken_from(s, index, &copy);
	slot_show(r, &s->shown[index], slot, &copy, now, &taken, &values);
	if (s->baseline)
		return waits_take(s->waits, index, &copy, false, &waits);
	state = copy.state == SLOT_DEAD ? STATE_RUNNING : slot_state(&copy); /* it died since @now */
	r->idle = state == STATE_SLEEP || state == STATE_STOPPED ? state : 0;
	if (state == STATE_RUNQUEUE && copy.cpu < s->mem.nr_cpus)
		s->queued[copy.cpu]++;
	if (!r->in_scope)
		return 0;
	err = waits_take(s->waits, index, &copy, false, &waits);
	if (!err)
		err = waits_show(s->waits, waits, r->life);
	if (err)
		return err;
	if (values.v[METRIC_THROTTLED])
		r->life->limiter->throttled = true;
	if (s->blocked)
		err = show_blocked(s, index, &copy, now);
	if (!err && values_quiet(&values) && r->idle && from <= s->since) /* not of a part */
		return model_idle(s->model, r->life, state);
	if (!err)
		err = model_thread(s->model, r->life, state, false, &values);
	return err || !s->stacks ? err : show_stacks(s, index, &copy, &values, from, now);
}

/* Threads that are asleep, for those who want to see where. */
static int show_sleepers(struct slots *s, uint64_t now)
{
	uint32_t used = s->mem.shared->slots_used;
	int err = 0;

	for (uint32_t i = 1; !err && i <= used && i < s->mem.max; i++) {
		const struct slot *slot = &s->mem.slots[i];
		struct slot copy;

		if (slot->state == SLOT_SLEEP && blocked_wants_test(s->blocked, slot))
			blocked_test(s->blocked, i, slot->since);
		if (!blocked_wants_sleepers(s->blocked))
			continue;
		if (slot->state == SLOT_SLEEP && s->readers[i].life && s->readers[i].in_scope &&
		    !blocked_is(s->blocked, i, slot->since) && slot_read(slot, &copy) && is_blocked(&copy) &&
		    copy.since <= now)
			err = blocked_show(s->blocked, i, &copy, s->readers[i].life, now);
	}
	return err;
}

void slots_ask_moved(struct slots *s, slots_moved_fn *fn, void *arg)
{
	s->ask_moved = fn;
	s->moved_arg = arg;
}

int slots_moved(struct slots *s, uint32_t index, const struct slot *was, uint64_t at)
{
	struct reader *r = &s->readers[index];
	struct exited part = { .slot = 0 }; /* stacks are those of its row where it is now */
	struct taken taken;
	struct life *life;
	int err;

	if (index >= s->mem.max || was->state == SLOT_FREE || was->state == SLOT_DEAD)
		return 0;
	if (!r->life) {
		err = reader_identify(s, index, was);
		if (err)
			return err;
	}
	at = at > was->since ? at : was->since;
	at = at < s->until ? at : s->until; /* it switched while the tick is being made */
	if (r->life->start_ns != was->start_ns || at <= r->end || s->nr_exited >= EXITED_MAX)
		return 0;
	life = model_life_part(s->model, r->life);
	if (!life)
		return -ENOMEM;
	part.life = r->life;
	part.in_scope = r->in_scope;
	part.from = r->end;
	part.state = slot_state(was);
	r->life = life;
	taken = taken_from(s, index, was);
	slot_show(r, &s->shown[index], &s->mem.slots[index], was, at, &taken, &part.values);
	part.runq_ns = s->shown[index].sums[SUM_RUNQ];
	r->idle = 0;
	err = waits_take(s->waits, index, was, false, &part.waits);
	return err ? err : VEC_PUSH(s->exited, s->nr_exited, s->exited_room, part);
}

static int give_back(struct slots *s, uint32_t index)
{
	memset(&s->readers[index], 0, sizeof(s->readers[index]));
	memset(&s->shown[index], 0, sizeof(s->shown[index]));
	/* What is told of it from now on is told too late: it must not make a life that the next thread is taken for. */
	s->mem.slots[index].state = SLOT_FREE;
	return bpf_map_update_elem(s->mem.free_fd, NULL, &index, BPF_ANY);
}

static int harvest_one(struct slots *s, uint32_t index, uint64_t until)
{
	struct slot *slot = &s->mem.slots[index], copy;
	struct reader *r = &s->readers[index];
	const struct taken taken = { .steal_told = s->mem.shared->steal_told };
	struct exited exited;
	int err;

	if (!slot_read(slot, &copy) || copy.since > until)
		return -EAGAIN;
	err = reader_identify(s, index, &copy);
	if (err)
		return err;
	exited.from = r->end;
	slot_show(r, &s->shown[index], slot, &copy, copy.since, &taken, &exited.values);
	exited.life = r->life;
	exited.state = STATE_DEAD;
	exited.in_scope = r->in_scope;
	exited.slot = index;
	exited.runq_ns = s->shown[index].sums[SUM_RUNQ];
	err = waits_take(s->waits, index, &copy, true, &exited.waits);
	if (err)
		return err;
	if (s->blocked)
		blocked_end(s->blocked, index, r->life);
	if (s->nr_exited >= EXITED_MAX) {
		s->loss[LOSS_UNLISTED] += exited.in_scope;
		model_life_end(s->model, exited.life);
	} else {
		err = VEC_PUSH(s->exited, s->nr_exited, s->exited_room, exited);
		if (err)
			return err;
	}
	return give_back(s, index);
}

/* Whether the tick at @now stops where others stopped for BROKEN_NS. */
static bool is_broken(struct slots *s, uint64_t now)
{
	if (s->stuck_at != s->dead_tail || !s->stuck_since) {
		s->stuck_at = s->dead_tail;
		s->stuck_since = now;
	}
	return now - s->stuck_since >= BROKEN_NS;
}

/* What the slot holds cannot be trusted; those behind it in the ring must not wait for it. */
static int harvest_broken(struct slots *s, uint32_t index)
{
	struct slot *slot = &s->mem.slots[index];
	struct reader *r = &s->readers[index];
	uint32_t waits;
	int err = waits_take(s->waits, index, slot, true, &waits);

	if (err)
		return err;
	if (r->life) {
		if (s->blocked)
			blocked_end(s->blocked, index, r->life);
		model_life_end(s->model, r->life);
	}
	s->loss[LOSS_UNLISTED]++;
	slot->seq += slot->seq & 1;
	return give_back(s, index);
}

/* Takes in who died, up to @until, a tick's time, as nobody may show more of an interval than there was; UINT64_MAX: all. */
static int harvest(struct slots *s, uint64_t until)
{
	uint32_t head = __atomic_load_n(&s->mem.shared->dead_head, __ATOMIC_ACQUIRE);
	uint64_t *entry, index;
	int err = s->stacks ? stacks_drain(s->stacks) : 0;

	if (!err)
		err = waits_drain(s->waits);
	if (!err)
		err = read_moved(s);

	/* Up to where it was before the stacks were read: those of a thread must be known when its slot
	 * goes to another one. */
	for (; !err && s->dead_tail != head; s->dead_tail++) {
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
	}
	return err;
}

int slots_harvest(struct slots *s)
{
	return harvest(s, UINT64_MAX);
}

/* From number @first on. */
static int show_exited(struct slots *s, size_t first)
{
	int err = 0;

	for (size_t i = first; i < s->nr_exited && !err; i++) {
		const struct exited *e = &s->exited[i];

		if (e->in_scope)
			err = model_thread(s->model, e->life, e->state, e->state == STATE_DEAD, &e->values);
		if (!err && e->in_scope)
			err = waits_show(s->waits, e->waits, e->life);
		if (!err && e->in_scope && s->stacks)
			err = stacks_show(s->stacks, &(struct stacks_thread){
				.slot = e->slot,
				.tid = e->life->tid,
				.life = e->life,
				.values = &e->values,
				.from = e->from,
				.runq_ns = e->runq_ns,
			});
	}
	return err;
}

/* Those that were being written. */
static int tick_again(struct slots *s, uint64_t now)
{
	const struct timespec nap = { .tv_nsec = AGAIN_NAP_NS };
	int err = 0;

	for (int times = 1; !err && s->nr_again; times++) {
		int nr = s->nr_again;

		nanosleep(&nap, NULL);
		s->nr_again = 0;
		s->last_time = times == AGAIN_TIMES;
		for (int i = 0; !err && i < nr; i++)
			err = slot_tick(s, s->again[i], now);
	}
	s->last_time = false;
	return err;
}

int slots_tick(struct slots *s, uint64_t now)
{
	size_t exited;
	uint32_t used;
	int err;

	s->until = now;
	err = harvest(s, now);
	memset(s->queued, 0, s->mem.nr_cpus * sizeof(*s->queued));
	memset(s->running, 0, s->mem.nr_cpus * sizeof(*s->running));
	if (!err)
		err = show_exited(s, 0);
	exited = s->nr_exited;
	used = s->mem.shared->slots_used;
	for (uint32_t i = 1; !err && i <= used && i < s->mem.max; i++) {
		const struct slot *ahead = &s->mem.slots[i + PREFETCH]; /* never read if behind the end */

		__builtin_prefetch(&ahead->seq);
		__builtin_prefetch(&ahead->wakeups);
		if (i + PREFETCH < s->mem.max)
			__builtin_prefetch(s->readers[i + PREFETCH].life);
		err = slot_tick(s, i, now);
	}
	if (!err)
		err = tick_again(s, now);
	if (!err)
		err = show_exited(s, exited); /* that were found to have moved meanwhile */
	if (!err && s->blocked && blocked_looks(s->blocked))
		err = show_sleepers(s, now);
	waits_end(s->waits);
	/* Last, so that threads of theirs first seen above know which process they are of. */
	forget_exited(s);
	s->since = now;
	s->until = UINT64_MAX;
	return err;
}

int slots_baseline(struct slots *s, uint64_t now)
{
	uint32_t used = s->mem.shared->slots_used;
	int err = harvest(s, now);

	forget_exited(s);
	s->baseline = true;
	for (uint32_t i = 1; !err && i <= used && i < s->mem.max; i++)
		err = slot_tick(s, i, now);
	if (!err)
		err = tick_again(s, now);
	s->baseline = false;
	s->since = now;
	if (!err) /* what was told while slots were read is mostly of before */
		err = waits_drain(s->waits);
	waits_end(s->waits);
	return err;
}

const uint32_t *slots_queued(const struct slots *s)
{
	return s->queued;
}

const uint32_t *slots_running(const struct slots *s)
{
	return s->running;
}

uint64_t slots_waits_lost(const struct slots *s)
{
	return waits_lost(s->waits);
}
