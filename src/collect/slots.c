/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/slots.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collect/stacks.h"
#include "model/model.h"
#include "model/sums.h"
#include "proc/cgroup.h"
#include "util/vec.h"

/* A read and a write of a slot take less than 100 ns each: only a thread that switches all the
 * time on a CPU that is stolen from us is met this often. */
#define READ_TRIES 256

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

enum sum {
	SUM_RUN,
	SUM_RUNQ,
	SUM_D,
	SUM_SLEEP,
	SUM_STOPPED,
	SUM_STATES, /* those above add up to the time alive */
	SUM_THROTTLED = SUM_STATES,
	SUM_COUNT,
};

static const enum field_id sum_fields[SUM_COUNT] = {
	[SUM_RUN] = FIELD_RUN,         [SUM_RUNQ] = FIELD_RUNQ,
	[SUM_D] = FIELD_D,             [SUM_SLEEP] = FIELD_SLEEP,
	[SUM_STOPPED] = FIELD_STOPPED, [SUM_THROTTLED] = FIELD_THROTTLED,
};

/* What is remembered of a slot between two ticks, apart from what only active threads need: a tick
 * looks at this, and at two lines of the slot, for each of 50,000 threads that do nothing. */
struct reader {
	struct life *life; /* NULL: the slot was not in use */
	uint64_t end;      /* up to when its time was shown */
	uint32_t wakeups;
	uint32_t seq;
	uint8_t idle;      /* asleep or stopped, and not woken: enum thread_state; else 0 */
	bool in_scope;
};

/* The cumulative values already shown. */
struct shown {
	bool split_known;
	uint64_t end;      /* up to when; idle time since is not in the sums yet */
	uint64_t sums[SUM_COUNT];
	uint32_t voluntary, involuntary;
	uint64_t utime_ns, stime_ns;
	float user_share;  /* of the running time, by the last interval with a tick in it */
	uint32_t migrations;
	struct hist runq;
	uint64_t cgroup_id;
};

/* A thread that died since the last tick. */
struct exited {
	struct life *life;
	struct values values;
	bool in_scope;
	uint32_t slot;
	uint64_t from, runq_ns; /* for its stacks */
};

struct slots {
	struct slots_memory mem;
	struct model *model;
	struct cgroups *cgroups;
	struct stacks *stacks;   /* NULL: none are taken */
	struct reader *readers; /* one a slot; pages of unused ones are never touched */
	struct shown *shown;
	uint32_t dead_tail;
	struct exited *exited;
	size_t nr_exited, exited_room;
	uint32_t again[AGAIN_MAX]; /* slots that were being written */
	int nr_again;
	bool last_time;            /* what is being written now is lost for this tick */
	uint64_t loss[LOSS_COUNT];
};

struct slots *slots_new(const struct slots_memory *mem, struct model *model,
			struct cgroups *cgroups, struct stacks *stacks)
{
	struct slots *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->mem = *mem;
	s->model = model;
	s->cgroups = cgroups;
	s->stacks = stacks;
	s->readers = calloc(mem->max, sizeof(*s->readers));
	s->shown = calloc(mem->max, sizeof(*s->shown));
	if (s->readers && s->shown)
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
	free(s->exited);
	free(s->readers);
	free(s->shown);
	free(s);
}

void slots_loss(const struct slots *s, uint64_t loss[LOSS_COUNT])
{
	for (int cause = 0; cause < LOSS_COUNT; cause++)
		loss[cause] += s->loss[cause];
}

/* A whole copy of a slot that other CPUs write to. */
static bool slot_read(const struct slot *slot, struct slot *copy)
{
	for (int i = 0; i < READ_TRIES; i++) {
		uint32_t seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);

		if (seq & 1)
			continue;
		memcpy(copy, slot, sizeof(*copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&slot->seq, __ATOMIC_RELAXED) == seq) {
			copy->seq = seq;
			return true;
		}
	}
	return false;
}

/* When a blocked thread was woken, if it still waits for a CPU since; 0: it was not. */
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

static enum thread_state slot_state(const struct slot *c)
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

/* The cumulative times at @at, which is not before the slot's since: its sums and the present
 * state's time so far. The wait of a woken thread is provisional: the switch-in decides. */
static void slot_sums(const struct slot *c, uint64_t at, uint64_t sums[SUM_COUNT])
{
	uint64_t since = c->since, woken = slot_woken(c);
	uint64_t blocked_end = woken && woken < at ? woken : at;

	sums[SUM_RUN] = c->run_ns;
	sums[SUM_RUNQ] = c->runq_ns;
	sums[SUM_D] = c->d_ns;
	sums[SUM_SLEEP] = c->sleep_ns;
	sums[SUM_STOPPED] = c->stopped_ns;
	sums[SUM_THROTTLED] = c->throttled_ns;
	switch (c->state) {
	case SLOT_RUNNING:
		sums[SUM_RUN] += at - since;
		return;
	case SLOT_RUNQUEUE:
		sums[SUM_RUNQ] += at - since;
		if (c->flags & SLOT_THROTTLED)
			sums[SUM_THROTTLED] += at - since;
		return;
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

/* The longest wait since the last tick, the one in progress included. */
static uint64_t slot_longest_wait(struct slot *slot, const struct slot *c, uint64_t at)
{
	uint64_t max = 0, since = c->state == SLOT_RUNQUEUE ? c->since : slot_woken(c);

	if (c->runq_max_ns)
		max = __atomic_exchange_n(&slot->runq_max_ns, 0, __ATOMIC_RELAXED);
	return since && since < at && at - since > max ? at - since : max;
}

/*
 * Moves the shown sums on to @now and puts the growth into @v. A provisional wait that turned out
 * shorter would make a time shrink: it stays, and what was shown too much is taken from what grew.
 */
static void show_sums(struct shown *r, const uint64_t now[SUM_COUNT], struct values *v)
{
	uint64_t owed = 0, most;
	int i, largest;

	for (i = 0; i < SUM_COUNT; i++) {
		uint64_t grown = 0;

		if (now[i] >= r->sums[i])
			grown = now[i] - r->sums[i];
		else if (i < SUM_STATES)
			owed += r->sums[i] - now[i];
		v->v[sum_fields[i]] = grown;
	}
	while (owed) {
		for (i = 0, largest = 0; i < SUM_STATES; i++)
			if (v->v[sum_fields[i]] > v->v[sum_fields[largest]])
				largest = i;
		most = v->v[sum_fields[largest]];
		if (!most)
			break;
		most = most < owed ? most : owed;
		v->v[sum_fields[largest]] -= most;
		owed -= most;
	}
	if (v->v[FIELD_THROTTLED] > v->v[FIELD_RUNQ])
		v->v[FIELD_THROTTLED] = v->v[FIELD_RUNQ];
	for (i = 0; i < SUM_COUNT; i++)
		r->sums[i] += v->v[sum_fields[i]];
}

/* User and kernel time: the kernel's tick-based split, scaled to the exact running time. */
static void show_split(struct shown *r, const struct slot *c, struct values *v)
{
	uint64_t user = c->utime_ns - r->utime_ns, kernel = c->stime_ns - r->stime_ns;
	uint64_t run = v->v[FIELD_RUN];

	r->utime_ns = c->utime_ns;
	r->stime_ns = c->stime_ns;
	if (user + kernel) {
		r->user_share = (float)user / (user + kernel);
		r->split_known = true;
	}
	if (!run) {
		v->v[FIELD_USER] = v->v[FIELD_KERNEL] = 0;
	} else if (!r->split_known) {
		v->v[FIELD_USER] = v->v[FIELD_KERNEL] = VALUE_NA;
	} else {
		v->v[FIELD_USER] = (double)run * r->user_share;
		if (v->v[FIELD_USER] > run)
			v->v[FIELD_USER] = run;
		v->v[FIELD_KERNEL] = run - v->v[FIELD_USER];
	}
}

static void show_counts(struct shown *r, const struct slot *c, struct values *v)
{
	v->v[FIELD_VOLUNTARY] = (uint32_t)(c->voluntary - r->voluntary);
	v->v[FIELD_INVOLUNTARY] = (uint32_t)(c->involuntary - r->involuntary);
	v->v[FIELD_MIGRATIONS] = (uint32_t)(c->migrations - r->migrations);
	r->voluntary = c->voluntary;
	r->involuntary = c->involuntary;
	r->migrations = c->migrations;
	for (int i = 0; i < HIST_SLOTS; i++) {
		v->runq.n[i] = c->runq_hist[i] - r->runq.n[i];
		r->runq.n[i] = c->runq_hist[i];
	}
	v->v[FIELD_RUNQ_P50] = v->v[FIELD_RUNQ_P99] = VALUE_NA;
}

/* Adds the idle time that ticks showed since the sums were last moved on. */
static void show_idle(const struct reader *r, struct shown *shown)
{
	if (r->end > shown->end)
		shown->sums[r->idle == STATE_STOPPED ? SUM_STOPPED : SUM_SLEEP] +=
			r->end - shown->end;
}

/* What the thread did from the last tick to @at, which becomes the reader's end. */
static void slot_show(struct reader *r, struct shown *shown, struct slot *slot,
		      const struct slot *c, uint64_t at, struct values *v)
{
	uint64_t sums[SUM_COUNT];

	show_idle(r, shown);
	slot_sums(c, at, sums);
	show_sums(shown, sums, v);
	v->v[FIELD_ALIVE] = at > r->end ? at - r->end : 0;
	v->v[FIELD_RUNQ_MAX] = slot_longest_wait(slot, c, at);
	show_split(shown, c, v);
	v->v[FIELD_WAKEUPS] = (uint32_t)(c->wakeups - r->wakeups);
	show_counts(shown, c, v);
	r->wakeups = c->wakeups;
	r->seq = c->seq;
	r->end = shown->end = at;
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
	if (r->life) {
		struct life *life = r->life;

		if (r->in_scope && !c->in_scope)
			life = model_life_leave(s->model, life);
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

/* The thread was asleep or stopped at the last tick, and nothing happened to it since. */
static bool slot_quiet(const struct slot *slot, const struct reader *r)
{
	return r->idle && __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE) == r->seq &&
	       slot->wakeups == r->wakeups;
}

static bool values_quiet(const struct values *v)
{
	return !(v->v[FIELD_RUN] | v->v[FIELD_RUNQ] | v->v[FIELD_D] | v->v[FIELD_VOLUNTARY] |
		 v->v[FIELD_INVOLUNTARY] | v->v[FIELD_WAKEUPS] | v->v[FIELD_MIGRATIONS]);
}

/* The slot is being written, and has been for as long as we looked. */
static void look_again(struct slots *s, uint32_t index)
{
	if (s->last_time || s->nr_again == AGAIN_MAX)
		s->loss[LOSS_TORN]++;
	else
		s->again[s->nr_again++] = index;
}

/* A slot that is in use, whole, with its life. Returns whether there is one. */
static bool slot_take(struct slots *s, uint32_t index, struct slot *copy, int *err)
{
	const struct slot *slot = &s->mem.slots[index];

	if (slot->state == SLOT_FREE || slot->state == SLOT_DEAD)
		return false; /* dead ones come from the ring */
	if (!slot_read(slot, copy)) {
		look_again(s, index);
		return false;
	}
	if (copy->state == SLOT_FREE || copy->state == SLOT_DEAD)
		return false;
	*err = reader_identify(s, index, copy);
	return !*err;
}

static int show_stacks(struct slots *s, uint32_t index, struct life *life,
		       const struct values *values, uint64_t from, uint64_t runq_ns)
{
	struct stacks_thread t = {
		.slot = index,
		.tid = life->tid,
		.life = life,
		.values = values,
		.from = from,
		.runq_ns = runq_ns,
	};

	return s->stacks ? stacks_show(s->stacks, &t) : 0;
}

static int slot_tick(struct slots *s, uint32_t index, uint64_t now)
{
	struct slot *slot = &s->mem.slots[index], copy;
	struct reader *r = &s->readers[index];
	enum thread_state state;
	uint64_t from = r->end;
	struct values values;
	int err = 0;

	if (slot_quiet(slot, r)) {
		if (now > r->end)
			r->end = now;
		return r->in_scope ? model_idle(s->model, r->life, r->idle) : 0;
	}
	if (!slot_take(s, index, &copy, &err))
		return err;
	slot_show(r, &s->shown[index], slot, &copy, copy.since > now ? copy.since : now, &values);
	state = slot_state(&copy);
	r->idle = state == STATE_SLEEP || state == STATE_STOPPED ? state : 0;
	if (!r->in_scope)
		return 0;
	if (values.v[FIELD_THROTTLED])
		r->life->cgroup->throttled = true;
	if (values_quiet(&values) && r->idle)
		return model_idle(s->model, r->life, state);
	err = model_thread(s->model, r->life, state, false, &values);
	return err ? err : show_stacks(s, index, r->life, &values, from, s->shown[index].sums[SUM_RUNQ]);
}

static int harvest_one(struct slots *s, uint32_t index)
{
	struct slot *slot = &s->mem.slots[index], copy;
	struct reader *r = &s->readers[index];
	struct exited exited;
	int err;

	if (!slot_read(slot, &copy))
		return -EAGAIN;
	err = reader_identify(s, index, &copy);
	if (err)
		return err;
	exited.from = r->end;
	slot_show(r, &s->shown[index], slot, &copy, copy.since, &exited.values);
	exited.life = r->life;
	exited.in_scope = r->in_scope;
	exited.slot = index;
	exited.runq_ns = s->shown[index].sums[SUM_RUNQ];
	if (s->nr_exited >= EXITED_MAX) {
		s->loss[LOSS_UNLISTED] += exited.in_scope;
		model_life_end(s->model, exited.life);
	} else {
		err = VEC_PUSH(s->exited, s->nr_exited, s->exited_room, exited);
		if (err)
			return err;
	}
	memset(r, 0, sizeof(*r));
	memset(&s->shown[index], 0, sizeof(s->shown[index]));
	return bpf_map_update_elem(s->mem.free_fd, NULL, &index, BPF_ANY);
}

int slots_harvest(struct slots *s)
{
	uint32_t head = __atomic_load_n(&s->mem.shared->dead_head, __ATOMIC_ACQUIRE);
	uint64_t *entry, index;
	int err = s->stacks ? stacks_drain(s->stacks) : 0;

	/* Up to where it was before the stacks were read: those of a thread must be known when its slot
	 * goes to another one. */
	for (; !err && s->dead_tail != head; s->dead_tail++) {
		entry = &s->mem.dead[s->dead_tail % s->mem.max];
		index = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
		if (!index || index >= s->mem.max)
			return 0;
		err = harvest_one(s, index);
		if (err == -EAGAIN)
			return 0;
		if (err)
			return err;
		*entry = 0;
	}
	return err;
}

static int show_exited(struct slots *s)
{
	int err = 0;

	for (size_t i = 0; i < s->nr_exited && !err; i++) {
		const struct exited *e = &s->exited[i];

		if (e->in_scope)
			err = model_thread(s->model, e->life, STATE_DEAD, true, &e->values);
		if (!err && e->in_scope)
			err = show_stacks(s, e->slot, e->life, &e->values, e->from, e->runq_ns);
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
	uint32_t used;
	int err = slots_harvest(s);

	if (!err)
		err = show_exited(s);
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
	if (s->stacks)
		stacks_end(s->stacks);
	/* Last, so that threads of theirs first seen above know which process they are of. */
	forget_exited(s);
	return err;
}

int slots_baseline(struct slots *s, uint64_t now)
{
	uint32_t used = s->mem.shared->slots_used;
	struct values values;
	struct slot copy;
	int err = slots_harvest(s);

	forget_exited(s);
	for (uint32_t i = 1; !err && i <= used && i < s->mem.max; i++)
		if (slot_take(s, i, &copy, &err))
			slot_show(&s->readers[i], &s->shown[i], &s->mem.slots[i], &copy,
				  copy.since > now ? copy.since : now, &values);
	s->nr_again = 0; /* its first tick has a little more to show */
	return err;
}
