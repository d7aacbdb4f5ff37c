/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes what was read to the model: the samples of each thread in a tick, which add up to its values. */
#include "collect/stacks.h"

#include <errno.h>
#include <stdbool.h>

#include "collect/stacks_internal.h"
#include "model/model.h"
#include "model/sample.h"

/* A runqueue wait takes the thread's previous stack if that is at most 1 s old. */
#define NEAR_NS 1000000000ULL

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
static void report_waits(struct emission *t, struct runq_waits *w, uint64_t runq_ns, uint64_t at)
{
	bool known = w->at && at - w->at < NEAR_NS;
	struct stack_sample sample = {
		.metric = METRIC_RUNQ,
		.weight = runq_ns > w->runq_ns ? runq_ns - w->runq_ns : 0,
		.flags = !known ? NOTE_NO_STACK : NOTE_NEAR,
	};

	at_most_left(t, &sample);
	if (known) {
		sample.user = model_stack_again(t->stacks->model, w->user);
		sample.kernel = model_stack_again(t->stacks->model, w->kernel);
		sample.flags |= w->user && !sample.user ? NOTE_USER_LOST : 0;
		sample.flags |= w->kernel && !sample.kernel ? NOTE_KERNEL_LOST : 0;
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

/* The thread's metric that the event belongs to; METRIC_NONE: an unknown kind. Softirqs in ksoftirqd and
 * ktimers are their own running time: no interrupt took any of it. */
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

/* All stacks of a thread stand for equally many of its faults. */
static uint64_t take_faults(struct emission *t)
{
	uint64_t part = t->fault_samples ? t->faults / t->fault_samples : 0;

	t->faults -= part;
	t->fault_samples -= !!t->fault_samples;
	return part;
}

static void report_event(struct emission *t, struct runq_waits *w, const struct pending *p)
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
	w->user = p->user ? model_stack_key(p->user) : 0;
	w->kernel = p->kernel ? model_stack_key(p->kernel) : 0;
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

/* Takes the thread's own events out of the slot's, which are chained newest first, and reverses them. Returns the first one.
 * The tid does not identify them: exec() gives a thread that is not the leader another one. */
static uint32_t take_events(struct stacks *s, const struct stacks_thread *thread)
{
	uint32_t *link = &s->newest[thread->slot], first = 0, at;

	while ((at = *link)) {
		struct pending *p = &s->pending[at - 1];

		if (p->event.at < thread->after || (thread->until && p->event.at > thread->until)) {
			link = &p->next;
			continue;
		}
		*link = p->next;
		p->next = first;
		first = at;
	}
	return first;
}

int stacks_show(struct stacks *s, const struct stacks_thread *thread)
{
	struct emission t = { .stacks = s, .thread = thread };
	struct runq_waits *w = &s->waits[thread->slot];
	uint32_t at, first, samples = 0, irqs = 0;

	if (w->tid != thread->tid)
		*w = (struct runq_waits){ .tid = thread->tid };
	if (!w->runq_ns || w->runq_ns > thread->runq_ns)
		w->runq_ns = thread->runq_ns - thread->values->v[METRIC_RUNQ];
	first = take_events(s, thread);
	for (at = first; at; at = s->pending[at - 1].next) {
		const struct stack_event *e = &s->pending[at - 1].event;

		if (e->kind == STACK_SAMPLE) {
			samples += metric_of(thread, e) == METRIC_RUN;
			irqs += metric_of(thread, e) == METRIC_IRQ;
		}
		t.fault_samples += is_minor_fault(e);
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
