/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "area.h"
#include "collect/old_stacks.h"
#include "model/health.h"
#include "model/model.h"
#include "model/sample.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/map.h"
#include "util/vec.h"

/* A runqueue wait takes the thread's previous stack if that is at most 1 s old. */
#define NEAR_NS 1000000000ULL

/* Stacks are kept this much longer than the window: a trace waits for names before it is written. */
#define OLD_MARGIN_NS 30000000000ULL

/* An event, until the tick that shows it. */
struct pending {
	struct stack_event event;
	const struct stack *user, *kernel;
	uint32_t next; /* of the same thread: index + 1, 0: none */
};

/* Where a thread's runqueue waits began, since the last event that showed it. */
struct waits {
	uint32_t tid;
	uint64_t at;
	uint64_t runq_ns; /* the part of the thread's sum that has been reported */
	const struct stack *user, *kernel;
};

struct stacks {
	struct stacks_memory mem;
	struct model *model;
	uint64_t *tails;       /* of each CPU's ring */
	uint32_t clear;        /* half to be cleared at the next drain, + 1; 0: none */
	uint32_t left;         /* and its generation */
	struct old_stacks *old;
	uint32_t idle;         /* first pending event of an idle CPU, + 1; 0: none */
	struct life *idle_life;
	struct pending *pending;
	size_t nr_pending, pending_room;
	struct map threads;    /* slot << 32 | tid -> first pending, + 1 */
	struct waits *waits;   /* one per slot */
	struct stack *scratch;
	uint64_t lost;
	uint64_t ends[STACK_ENDS];
};

struct stacks *stacks_new(const struct stacks_memory *mem, struct model *model)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->mem = *mem;
	s->model = model;
	s->tails = calloc(mem->nr_cpus, sizeof(*s->tails));
	s->waits = calloc(mem->max_slots, sizeof(*s->waits));
	s->scratch = malloc(sizeof(*s->scratch) + STACK_USER_MAX * sizeof(uint64_t));
	s->old = old_stacks_new(mem->window_ns ? mem->window_ns + OLD_MARGIN_NS : 0, mem->old_bytes);
	if (s->tails && s->waits && s->scratch && s->old)
		return s;
	stacks_free(s);
	return NULL;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	old_stacks_free(s->old);
	if (s->idle_life)
		model_life_end(s->model, s->idle_life);
	map_fini(&s->threads);
	free(s->pending);
	free(s->tails);
	free(s->waits);
	free(s->scratch);
	free(s);
}

/* --- Stacks by their ids */

/* The stack of a complete entry; NULL: it is incomplete, or there is no memory. */
static const struct stack *read_entry(struct stacks *s, uint32_t half, uint32_t index)
{
	const struct stack_entry *e = &s->mem.entries[half * STACK_HALF(s->mem.index_bits) + index];
	uint8_t flags = __atomic_load_n(&e->flags, __ATOMIC_ACQUIRE);
	size_t lines = (e->nr + STACK_LINE_FRAMES - 1) / STACK_LINE_FRAMES;

	if (!(flags & STACK_READY) || e->nr > STACK_USER_MAX ||
	    e->line + lines > 2 * STACK_LINES_HALF(s->mem.index_bits))
		return NULL;
	*s->scratch = (struct stack){
		.hash = e->hash,
		.check = e->check,
		.tgid = e->tgid,
		.nr = e->nr,
		.end = e->end,
		.flags = flags,
	};
	memcpy(s->scratch->frames, &s->mem.lines[e->line], e->nr * sizeof(uint64_t));
	return model_stack(s->model, s->scratch);
}

/* Whether the half that an id refers to still has it. */
static bool is_current(const struct stacks *s, uint32_t id)
{
	uint32_t generation = id >> s->mem.index_bits, now = s->mem.shared->stack_generation;

	return generation == now || (s->clear && (generation & 1) == s->clear - 1 &&
				     generation == s->left);
}

/* The stack with this id, NULL: none, or it is not available. */
static const struct stack *find_stack(struct stacks *s, uint32_t id)
{
	if (!id || !is_current(s, id))
		return NULL;
	return read_entry(s, id >> s->mem.index_bits & 1, id & (STACK_HALF(s->mem.index_bits) - 1));
}

static struct stacks_half half_of(const struct stacks *s, uint32_t generation)
{
	uint32_t half = generation & 1;

	return (struct stacks_half){
		.generation = generation,
		.index_bits = s->mem.index_bits,
		.entries = &s->mem.entries[half * STACK_HALF(s->mem.index_bits)],
		.lines = &s->mem.lines[half * STACK_LINES_HALF(s->mem.index_bits)],
	};
}

int stacks_each(const struct stacks *s, stacks_fn *fn, void *arg)
{
	uint32_t now = s->mem.shared->stack_generation;
	struct stacks_half left = half_of(s, s->left), present = half_of(s, now);
	int err = old_stacks_each(s->old, fn, arg);

	if (!err && s->clear)
		err = half_each(&left, fn, arg);
	if (!err && now)
		err = half_each(&present, fn, arg);
	return err;
}

/* Switches to the other half when this one is half full: the rest must last until the next look, for 2,000 new stacks
 * of maximum depth in a quarter of a second, and more with more CPUs. Clears the previous half when nothing can be
 * writing to it any more. */
static void turn(struct stacks *s)
{
	struct shared *shared = s->mem.shared;
	uint32_t half = shared->stack_generation & 1, size = STACK_HALF(s->mem.index_bits);

	if (s->clear) {
		struct stacks_half left = half_of(s, s->left);

		half = s->clear - 1;
		s->clear = 0;
		old_stacks_keep(s->old, &left, clock_ns(CLOCK_BOOTTIME));
		memset(&s->mem.entries[half * size], 0, size * sizeof(struct stack_entry));
		shared->stack_lines[half] = shared->stack_entries[half] = 0;
		return;
	}
	if (!shared->stack_generation || (shared->stack_entries[half] < size / 2 &&
					  shared->stack_lines[half] < STACK_LINES_HALF(s->mem.index_bits) / 2))
		return;
	s->clear = half + 1;
	s->left = shared->stack_generation;
	/* The last generation is odd. */
	shared->stack_generation = s->left == STACK_GENERATION_MAX(s->mem.index_bits) ? 2 : s->left + 1;
}

/* --- Reading the rings */

static int keep(struct stacks *s, const struct stack_event *e)
{
	struct pending p = { .event = *e };
	uint64_t key = (uint64_t)e->slot << 32 | e->tid;

	p.user = find_stack(s, e->user);
	p.kernel = find_stack(s, e->kernel);
	s->lost += (e->user && !p.user) + (e->kernel && !p.kernel);
	if (p.user && p.user->end < STACK_ENDS)
		s->ends[p.user->end]++;
	if (!e->slot) {
		p.next = s->idle;
		s->idle = s->nr_pending + 1;
		return VEC_PUSH(s->pending, s->nr_pending, s->pending_room, p);
	}
	p.next = (uintptr_t)map_get(&s->threads, key);
	if (VEC_PUSH(s->pending, s->nr_pending, s->pending_room, p))
		return -ENOMEM;
	return map_put(&s->threads, key, (void *)(uintptr_t)s->nr_pending);
}

static int drain_cpu(struct stacks *s, int cpu)
{
	const struct stack_event *ring = s->mem.areas[cpu]->stack_events;
	uint64_t head = __atomic_load_n(&s->mem.cpus[cpu].stack_events, __ATOMIC_ACQUIRE);
	uint64_t *tail = &s->tails[cpu];
	int err = 0;

	if (head - *tail > STACK_EVENTS) {
		s->lost += head - *tail - STACK_EVENTS;
		*tail = head - STACK_EVENTS;
	}
	for (; !err && *tail != head; ++*tail) {
		const struct stack_event *at = &ring[*tail % STACK_EVENTS];
		struct stack_event e;

		if (__atomic_load_n(&at->seq, __ATOMIC_ACQUIRE) != *tail + 1) {
			if (head - *tail < STACK_EVENTS / 2)
				return 0; /* it is being written */
			s->lost++;
			continue;
		}
		e = *at;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&at->seq, __ATOMIC_RELAXED) != *tail + 1)
			s->lost++; /* overwritten */
		else
			err = keep(s, &e);
	}
	return err;
}

int stacks_drain(struct stacks *s)
{
	int err = 0;

	for (int cpu = 0; !err && cpu < s->mem.nr_cpus; cpu++)
		if (s->mem.areas[cpu])
			err = drain_cpu(s, cpu);
	turn(s);
	old_stacks_age(s->old, clock_ns(CLOCK_BOOTTIME));
	return err;
}

/* --- Passing them to the model */

struct emission {
	struct stacks *stacks;
	const struct stacks_thread *thread;
	uint64_t reported[METRIC_COUNT]; /* weight */
	uint64_t sample_ns;        /* of running time per sample, */
	uint64_t irq_ns;           /* and of time in interrupts */
	uint64_t faults;           /* minor faults that are not reported yet, */
	uint32_t fault_samples;    /* and stacks of them */
	int err;
};

static void emit_sample(struct emission *t, struct stack_sample *sample)
{
	if (!sample->weight || t->err)
		return;
	sample->life = t->thread->life;
	t->reported[sample->metric] += sample->weight;
	t->err = model_sample(t->stacks->model, sample);
}

/* Limits the weight to what no event has reported yet. */
static void at_most_left(const struct emission *t, struct stack_sample *sample)
{
	uint64_t left = t->thread->values->v[sample->metric] - t->reported[sample->metric];

	if (sample->weight > left)
		sample->weight = left;
}

/* Reports the waits up to @runq_ns of the thread's sum, which began at the place of its last event. */
static void report_waits(struct emission *t, struct waits *w, uint64_t runq_ns, uint64_t at)
{
	bool known = w->at && at - w->at < NEAR_NS;
	struct stack_sample sample = {
		.metric = METRIC_RUNQ,
		.weight = runq_ns > w->runq_ns ? runq_ns - w->runq_ns : 0,
		.flags = !known ? NOTE_NO_STACK : NOTE_NEAR,
	};

	at_most_left(t, &sample);
	if (known) {
		sample.user = w->user ? model_stack(t->stacks->model, w->user) : NULL;
		sample.kernel = w->kernel ? model_stack(t->stacks->model, w->kernel) : NULL;
	}
	emit_sample(t, &sample);
	if (runq_ns > w->runq_ns)
		w->runq_ns = runq_ns;
}

static uint8_t notes_of(const struct stack_event *e)
{
	return (e->flags & STACK_USER_LOST ? NOTE_USER_LOST : 0) |
	       (e->flags & STACK_KERNEL_LOST ? NOTE_KERNEL_LOST : 0) |
	       (e->flags & STACK_NO_USER ? NOTE_NO_USER : 0) |
	       (e->flags & STACK_GUEST ? NOTE_GUEST : 0);
}

static const enum metric_id counted[COUNT_IDS] = {
#define _(field, member, metric) [COUNT_##field] = METRIC_##metric,
	SLOT_COUNTS(_)
#undef _
};

/* The thread's metric that the event belongs to; METRIC_NONE: an unknown kind. Softirqs in ksoftirqd are its own
 * running time: no interrupt took any of it. */
static enum metric_id metric_of(const struct stacks_thread *t, const struct stack_event *e)
{
	switch ((enum stack_kind)e->kind) {
	case STACK_SAMPLE:
		return e->irq && t->values->v[METRIC_IRQ] && !t->softirqs ? METRIC_IRQ : METRIC_RUN;
	case STACK_D:
		return METRIC_D;
	case STACK_SLEEP:
		return METRIC_SLEEP;
	case STACK_COUNTED:
		break;
	}
	return e->kind >= STACK_COUNTED && e->kind - STACK_COUNTED < COUNT_IDS ? counted[e->kind - STACK_COUNTED] : METRIC_NONE;
}

/* The part of a block in this tick: earlier ticks showed the rest. */
static uint64_t block_part(const struct stacks_thread *t, const struct stack_event *e)
{
	uint64_t end = e->at - e->wait, since = end - e->weight;

	return since >= t->from ? e->weight : end > t->from ? end - t->from : 0;
}

static bool is_minor_fault(const struct stack_event *e)
{
	return e->kind == STACK_COUNTED + COUNT_minor_faults;
}

/* Each stack stands for as many faults as every other one of the thread. */
static uint64_t take_faults(struct emission *t)
{
	uint64_t part = t->fault_samples ? t->faults / t->fault_samples : 0;

	t->faults -= part;
	t->fault_samples -= !!t->fault_samples;
	return part;
}

static void report_event(struct emission *t, struct waits *w, const struct pending *p)
{
	const struct stack_event *e = &p->event;
	struct stack_sample sample = {
		.user = p->user,
		.kernel = p->kernel,
		.weight = e->weight,
		.count = 1,
		.metric = metric_of(t->thread, e),
		.irq = e->irq,
		.waker = e->waker,
		.wake_context = e->wake_context,
		.flags = notes_of(e),
	};

	if (sample.metric == METRIC_NONE) {
		t->stacks->lost++;
		return;
	}
	report_waits(t, w, e->runq_ns - e->wait, e->at);
	if (e->kind == STACK_SAMPLE) {
		sample.weight = sample.metric == METRIC_IRQ ? t->irq_ns : t->sample_ns;
	} else {
		if (is_minor_fault(e))
			sample.weight = take_faults(t);
		if (e->kind == STACK_D || e->kind == STACK_SLEEP) {
			sample.whole = e->weight;
			sample.weight = block_part(t->thread, e);
		}
		at_most_left(t, &sample);
	}
	emit_sample(t, &sample);
	w->at = e->at;
	w->user = p->user;
	w->kernel = p->kernel;
	if (e->wait) {
		struct stack_sample wait = sample;

		wait.metric = METRIC_RUNQ;
		wait.weight = e->wait;
		wait.waker = 0;
		wait.count = 0;
		at_most_left(t, &wait);
		emit_sample(t, &wait);
		if (e->runq_ns > w->runq_ns)
			w->runq_ns = e->runq_ns;
	}
}

/* Reports the part of a metric that no event covered. */
static void report_rest(struct emission *t, enum metric_id m)
{
	uint64_t all = t->thread->values->v[m];
	uint64_t rest = all != VALUE_NA && all > t->reported[m] ? all - t->reported[m] : 0, on = 0;
	struct stack_sample sample = { .metric = m, .flags = NOTE_NO_STACK };

	if (t->thread->blocked_ns && t->thread->blocked == m) {
		on = t->thread->blocked_ns < rest ? t->thread->blocked_ns : rest;
		sample.weight = on;
		sample.whole = t->thread->blocked_ns;
		sample.flags = NOTE_NO_STACK | NOTE_GOES_ON;
		emit_sample(t, &sample);
		sample.flags = NOTE_NO_STACK;
		sample.whole = 0;
	}
	sample.weight = rest - on;
	/* The rest of a division is dropped. */
	if (!(m == METRIC_RUN && t->sample_ns) && !(m == METRIC_IRQ && t->irq_ns))
		emit_sample(t, &sample);
}

int stacks_show(struct stacks *s, const struct stacks_thread *thread)
{
	struct emission t = { .stacks = s, .thread = thread };
	struct waits *w = &s->waits[thread->slot];
	uint64_t key = (uint64_t)thread->slot << 32 | thread->tid;
	uint32_t at = (uintptr_t)map_get(&s->threads, key), first = 0, samples = 0, irqs = 0;

	if (w->tid != thread->tid)
		*w = (struct waits){ .tid = thread->tid };
	if (!w->runq_ns || w->runq_ns > thread->runq_ns)
		w->runq_ns = thread->runq_ns - thread->values->v[METRIC_RUNQ];
	/* They are chained newest first. */
	while (at) {
		uint32_t next = s->pending[at - 1].next;

		if (s->pending[at - 1].event.kind == STACK_SAMPLE) {
			samples += metric_of(thread, &s->pending[at - 1].event) == METRIC_RUN;
			irqs += metric_of(thread, &s->pending[at - 1].event) == METRIC_IRQ;
		}
		t.fault_samples += is_minor_fault(&s->pending[at - 1].event);
		s->pending[at - 1].next = first;
		first = at;
		at = next;
	}
	t.faults = thread->values->v[counted[COUNT_minor_faults]];
	if (t.faults == VALUE_NA)
		t.faults = 0;
	if (samples)
		t.sample_ns = thread->values->v[METRIC_RUN] / samples;
	if (irqs)
		t.irq_ns = thread->values->v[METRIC_IRQ] / irqs;
	for (at = first; at; at = s->pending[at - 1].next)
		report_event(&t, w, &s->pending[at - 1]);
	report_waits(&t, w, thread->runq_ns, thread->from + thread->values->v[METRIC_ALIVE]);
	for (enum metric_id m = 0; m < METRIC_COUNT; m++)
		if (metrics[m].weight.name)
			report_rest(&t, m);
	return t.err;
}

int stacks_show_idle(struct stacks *s, struct cgroup *root, uint64_t period_ns)
{
	static const struct identity idle = { .comm = "idle CPU", .cpu = -1 };
	int err = 0;

	if (s->idle && !s->idle_life)
		s->idle_life = model_life(s->model, &idle, root);
	if (s->idle && !s->idle_life)
		return -ENOMEM;
	for (uint32_t at = s->idle; at && !err; at = s->pending[at - 1].next) {
		const struct pending *p = &s->pending[at - 1];
		struct stack_sample sample = {
			.life = s->idle_life,
			.kernel = p->kernel,
			.weight = period_ns,
			.count = 1,
			.metric = METRIC_IRQ,
			.flags = notes_of(&p->event),
			.irq = p->event.irq,
		};

		err = model_sample(s->model, &sample);
	}
	return err;
}

void stacks_end(struct stacks *s)
{
	s->nr_pending = s->idle = 0;
	map_fini(&s->threads);
	s->threads = (struct map){ 0 };
}

const uint64_t *stacks_ends(const struct stacks *s)
{
	return s->ends;
}

uint64_t stacks_lost(const struct stacks *s)
{
	return s->lost;
}

void stacks_health(const struct stacks *s, struct health *h)
{
	const struct shared *shared = s->mem.shared;
	uint32_t half = shared->stack_generation & 1, bits = s->mem.index_bits;
	uint64_t early, old = old_stacks_bytes(s->old, &early);
	char bytes[16];

	health_add(h, "Maps", "stacks", HEALTH_ON, "%u of %u in the current half: %.1f %%", shared->stack_entries[half],
		   STACK_HALF(bits), 100.0 * shared->stack_entries[half] / STACK_HALF(bits));
	health_add(h, "Maps", "frames", HEALTH_ON, "%u of %u lines: %.1f %%", shared->stack_lines[half], STACK_LINES_HALF(bits),
		   100.0 * shared->stack_lines[half] / STACK_LINES_HALF(bits));
	format_value(bytes, sizeof(bytes), UNIT_BYTES, old, 0);
	if (early)
		health_add(h, "Maps", "stacks of the window", HEALTH_DEGRADED,
			   "%s; %" PRIu64 " dropped early: a trace lacks them", bytes, early);
	else
		health_add(h, "Maps", "stacks of the window", HEALTH_ON, "%s: kept for the recorder's oldest events",
			   bytes);
}
