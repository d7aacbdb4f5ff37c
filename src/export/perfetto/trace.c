/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the recorder's window as a Perfetto trace and maps its events. Threads and stacks are in trace_threads.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "export/exporter.h"
#include "export/perfetto/perfetto_cpu.h"
#include "export/perfetto/trace_internal.h"
#include "model/tick.h"
#include "slot.h"

/* --- Start of the trace */

static int first_switch(void *arg, const struct event *e)
{
	*(struct event *)arg = *e;
	return e->kind == RING_SWITCH;
}

/* The thread on a CPU when the trace starts: the one that its first switch after that replaces. */
static int32_t current_at(const struct trace *t, uint32_t cpu, uint64_t at)
{
	struct event_loss loss = { 0 };
	struct event e = { 0 };

	if (t->capture->events(t->capture->arg, cpu, at + 1, first_switch, &e, &loss) == 1)
		return e.other;
	return TRACE_INDEX_AT(t->index, cpus, struct trace_index_cpu)[cpu].current;
}

/* --- Events */

/* As printed by the tracepoint, by enum ring_state. */
static const unsigned int states[RING_STATES] = {
	[RING_PREEMPTED] = 0x100, [RING_YIELDED] = 0, [RING_SLEEP] = 1, [RING_D] = 2,
	[RING_STOPPED] = 4,	  [RING_PARKED] = 0x40, [RING_IDLE] = 0x80, [RING_DEAD] = 0x10,
};

static unsigned int waking_context(uint8_t context)
{
	switch (context) {
	case WAKE_THREAD:
		return 0;
	case WAKE_SOFTIRQ:
		return PERFETTO_IN_SOFTIRQ;
	default:
		return PERFETTO_IN_HARDIRQ;
	}
}

static void on_switch(struct trace *t, const struct event *e)
{
	struct perfetto_task next = trace_task(t, e->outside ? TRACE_OUTSIDE : (int32_t)e->tid, e->at);
	unsigned int state = e->state < RING_STATES ? states[e->state] : 1;
	int32_t left = t->current;

	trace_ran(t, left, t->since, e->at);
	if (!left)
		state = 0;
	trace_seen(t, next.tid, e->at, SEEN_RAN);
	perfetto_cpu_switch(t->p, e->at, state, &next);
	if (e->state == RING_DEAD)
		trace_died(t, e->other, e->at);
	t->before = left;
	t->current = next.tid;
	t->since = e->at;
}

static void on_waking(struct trace *t, const struct event *e)
{
	struct perfetto_task wakee = trace_task(t, e->tid, e->at);

	if (wakee.tid != (int32_t)e->tid) /* the one shown stands for all that are out of scope */
		return;
	trace_seen(t, wakee.tid, e->at, SEEN_WOKEN);
	perfetto_cpu_waking(t->p, e->at, &wakee, e->last_cpu, waking_context(e->context));
}

static void on_new(struct trace *t, const struct event *e)
{
	struct perfetto_task child = trace_task(t, e->tid, e->at);
	uint64_t born = e->at - 2; /* its first switch can have the same time, and the tree is 1 ns later */

	if (child.tid != (int32_t)e->tid)
		return;
	trace_seen(t, child.tid, e->at, SEEN_RAN);
	perfetto_cpu_newtask(t->p, born, e->other, &child, e->thread);
	trace_born(t, e->tid, born);
}

/* The thread that a stack belongs to: the current one, or the one before. -1: neither; the event counts as lost. */
static int32_t stack_owner(struct trace *t, const struct event *e)
{
	if ((t->current & RING_SAMPLE_TID) == e->tid)
		return t->current;
	if ((t->before & RING_SAMPLE_TID) == e->tid)
		return t->before;
	t->result->lost++;
	return -1;
}

static void on_sample(struct trace *t, const struct event *e)
{
	int32_t tid = stack_owner(t, e);
	const struct trace_index_thread *who = tid > 0 ? trace_index_who(t->index, tid, e->at) : NULL;
	struct perfetto_sample s = {
		.t = e->at,
		.cpu = t->cpu,
		.tid = tid,
		.pid = who ? who->tgid : tid,
		.mode = e->user_mode ? PERFETTO_MODE_USER : PERFETTO_MODE_KERNEL,
	};

	if (tid < 0 || tid >= PERFETTO_OUTSIDER(0))
		return;
	s.stack = trace_stack(t, PERFETTO_OF_SAMPLE, e->user, e->kernel);
	perfetto_sample(t->p, &s);
}

static void on_block(struct trace *t, const struct event *e)
{
	int32_t tid = stack_owner(t, e);
	uint64_t since = e->at - e->off_ns;

	if (tid <= 0 || tid >= PERFETTO_OUTSIDER(0))
		return;
	if (since < t->start) {
		trace_seen(t, tid, t->start, e->in_d ? SEEN_IN_D : SEEN_ASLEEP);
		since = t->start;
	}
	trace_block(t, tid, since, e);
}

static void on_irq(struct trace *t, const struct event *e)
{
	uint64_t began = e->at - e->off_ns;
	const struct trace_index_irq *irq;

	if (began <= t->start || e->source >= t->index->irqs.nr)
		return;
	irq = &TRACE_INDEX_AT(t->index, irqs, struct trace_index_irq)[e->source];
	if (e->source < IRQ_SOFTIRQS) {
		perfetto_cpu_softirq(t->p, began, e->at, e->source);
	} else {
		perfetto_cpu_irq(t->p, began, e->at, irq->number, trace_index_string(t->index, irq->name));
	}
}

/* Whether the trace is still wanted. */
static bool wanted(const struct trace *t)
{
	return t->capture->progress(t->capture->progress_arg, t->percent);
}

static void on_exec(struct trace *t, const struct event *e)
{
	perfetto_cpu_exec(t->p, e->at, e->tid, e->other, trace_name(t, e->tid, e->at));
}

/* Events after the window show how threads without events in it were. The end of a block that began before the trace shows that
 * the thread was blocked all the time. If there are only other events, the thread was blocked, too, or did not exist: which of
 * these is not known. */
static void on_event_after(struct trace *t, const struct event *e)
{
	if (e->kind == RING_BLOCK && e->at - e->off_ns <= t->start)
		trace_seen_after(t, e->tid, e->in_d ? SEEN_IN_D : SEEN_ASLEEP);
	else if (e->kind == RING_SWITCH || e->kind == RING_WAKING)
		trace_seen_after(t, e->tid, SEEN_RAN);
}

static int on_event_before(void *arg, const struct event *e)
{
	struct trace *t = arg;

	if (e->kind == RING_RENAME && e->at <= t->index->end)
		trace_will_be_renamed(t, e->tid, e->at);
	if (e->kind == RING_EXEC && e->at <= t->index->end)
		trace_will_exec(t, e->tid, e->at);
	if (e->kind == RING_SWITCH && e->state == RING_DEAD && e->at <= t->index->end)
		trace_will_die(t, e->other, e->at);
	if (e->at > t->index->end)
		on_event_after(t, e);
	return t->err;
}

/* Kinds that are shown as the kernel's own events, or with stacks. All others are written by their rows. */
static void (*const writers[RING_KINDS])(struct trace *t, const struct event *e) = {
	[RING_SWITCH] = on_switch, [RING_WAKING] = on_waking, [RING_NEW] = on_new,
	[RING_EXEC] = on_exec,	   [RING_RENAME] = trace_renamed, [RING_SAMPLE] = on_sample,
	[RING_BLOCK] = on_block,   [RING_IRQ] = on_irq,
};

static int on_event(void *arg, const struct event *e)
{
	struct trace *t = arg;

	if (e->at > t->index->end)
		return 0;
	t->result->events++;
	if (writers[e->kind])
		writers[e->kind](t, e);
	else
		trace_row_event(t, &event_rows[e->kind], e);
	if (!(t->result->events % 65536) && !wanted(t))
		return -ECANCELED;
	return t->err ? t->err : perfetto_error(t->p);
}

static int write_cpu(struct trace *t, uint32_t cpu)
{
	struct event_loss loss = { 0 };
	struct perfetto_task current;
	int err;

	t->cpu = cpu;
	current = trace_task(t, current_at(t, cpu, t->start), t->start);
	t->current = t->before = current.tid;
	t->since = t->start;
	trace_seen(t, current.tid, t->start, SEEN_RAN);
	perfetto_cpu_begin(t->p, cpu, &current);
	err = t->capture->events(t->capture->arg, cpu, t->start + 1, on_event, t, &loss);
	trace_ran(t, t->current, t->since, t->index->end);
	perfetto_cpu_end(t->p);
	t->result->lost += loss.overwritten + loss.torn;
	t->result->gaps += loss.gaps;
	if (loss.overwritten + loss.torn)
		perfetto_samples_lost(t->p, t->index->end, cpu, loss.overwritten + loss.torn);
	return err;
}

static int write_cpus(struct trace *t)
{
	uint32_t nr = t->index->cpus.nr;
	struct event_loss loss = { 0 }; /* counted when they are written */
	int err = 0;

	for (uint32_t cpu = 0; cpu < nr && !err; cpu++)
		if (t->capture->has(t->capture->arg, cpu))
			err = t->capture->events(t->capture->arg, cpu, t->start + 1, on_event_before, t, &loss);
	trace_survivors(t);
	for (uint32_t cpu = 0; cpu < nr && !err; cpu++) {
		t->percent = 5 + 90 * cpu / nr;
		if (!wanted(t))
			return -ECANCELED;
		if (t->capture->has(t->capture->arg, cpu))
			err = write_cpu(t, cpu);
	}
	return err;
}

/* --- The whole trace */

static void write_head(struct trace *t)
{
	const struct trace_index *i = t->index;
	const struct trace_index_attribute *a = TRACE_INDEX_AT(i, attributes, struct trace_index_attribute);
	struct perfetto_system system = {
		.uname = &i->uname,
		.host = i->uname.nodename,
		.hz = i->hz,
		.page_size = i->page_size,
		.nr_cpus = i->nr_cpus,
		.utc_offset_min = i->utc_offset_min,
		.ram_bytes = i->ram_bytes,
	};
	struct perfetto_value *values = calloc(i->attributes.nr + 1, sizeof(*values));
	uint64_t uuid[2] = { 0 };

	perfetto_system(t->p, &system);
	if (getrandom(uuid, sizeof(uuid), 0) == sizeof(uuid))
		perfetto_uuid(t->p, uuid[0], uuid[1]);
	for (size_t k = 0; values && k < i->attributes.nr; k++)
		values[k] = (struct perfetto_value){ .key = trace_index_string(i, a[k].key),
						     .text = a[k].text ? trace_index_string(i, a[k].text) : NULL,
						     .number = a[k].number };
	if (values)
		perfetto_attributes(t->p, values, i->attributes.nr);
	free(values);
}

/* Least time that counts as a suspend: a refresh reads its two clocks one after the other. */
#define SUSPENDED_NS 100000000ULL

/* Whether the host was suspended after @since, in the time of the refreshes that are remembered. The interval of a refresh does
 * not include the suspend. */
static bool was_suspended(const struct trace *t, uint64_t since)
{
	const struct trace_index_tick *ticks = TRACE_INDEX_AT(t->index, ticks, struct trace_index_tick);

	for (size_t i = 1; i < t->index->ticks.nr; i++)
		if (ticks[i].at > since && ticks[i].began > ticks[i - 1].at + SUSPENDED_NS)
			return true;
	return false;
}

static void write_clocks(struct trace *t, uint64_t boottime)
{
	const struct trace_index_clocks *c = &t->index->clocks;
	uint64_t ago = c->boottime_ns - boottime;
	struct perfetto_clocks clocks = { boottime, c->realtime_ns - ago, c->monotonic_ns - ago,
					  c->monotonic_raw_ns - ago };

	/* MONOTONIC stands still during a suspend: its value at that time is not known. */
	if (was_suspended(t, boottime))
		clocks.monotonic_ns = 0;
	perfetto_clocks(t->p, &clocks);
}

static const enum perfetto_unit counter_units[] = {
	[UNIT_NS] = PERFETTO_NS, [UNIT_COUNT] = PERFETTO_COUNT, [UNIT_BYTES] = PERFETTO_BYTES,
};

static void write_numbers(struct trace *t)
{
	const struct trace_index_tick *ticks = TRACE_INDEX_AT(t->index, ticks, struct trace_index_tick);
	uint64_t top = perfetto_group(t->p, 0, "systop"), tracks[METRIC_COUNT], steal, lost;

	for (int m = 0; m < METRIC_COUNT; m++)
		if (metrics[m].counter)
			tracks[m] = perfetto_counter(t->p, top, metrics[m].counter, counter_units[metrics[m].unit]);
	steal = perfetto_counter(t->p, top, "steal", PERFETTO_NS);
	lost = perfetto_counter(t->p, top, "lost events", PERFETTO_COUNT);
	for (size_t i = 0; i < t->index->ticks.nr; i++) {
		uint64_t began = i ? ticks[i - 1].at : ticks[i].began; /* the refresh before the first one is not remembered */
		uint64_t at = ticks[i].at < t->index->end ? ticks[i].at : t->index->end;

		began = began > t->start ? began : t->start;
		if (ticks[i].at < t->start || began >= t->index->end)
			continue;
		for (int m = 0; m < METRIC_COUNT; m++)
			if (metrics[m].counter && ticks[i].values[m] != VALUE_NA)
				perfetto_count(t->p, began, tracks[m], ticks[i].values[m]);
		if (ticks[i].steal_ns != VALUE_NA)
			perfetto_count(t->p, began, steal, ticks[i].steal_ns);
		perfetto_count(t->p, at, lost, ticks[i].loss);
	}
	trace_cgroup_counters(t, top);
	/* The last event: threads that still run are drawn up to it. */
	perfetto_instant(t->p, t->index->end, top, "dump end");
}

static int write_window(FILE *to, const struct capture *c, struct capture_result *result)
{
	const struct trace_index *index = c->index;
	struct trace t = { .capture = c, .index = index, .result = result };
	const struct perfetto_sampler sampler = {
		.name = index->cycles ? "cpu-cycles" : "cpu-clock",
		.event = index->cycles ? PERFETTO_CPU_CYCLES : PERFETTO_CPU_CLOCK,
		.frequency = index->frequency,
	};
	bool recorded = false;
	int err;

	*result = (struct capture_result){ 0 };
	t.start = index->from;
	for (uint32_t cpu = 0; cpu < index->cpus.nr; cpu++) {
		uint64_t since;

		if (!c->has(c->arg, cpu))
			continue;
		recorded = true;
		since = c->since(c->arg, cpu);
		if (since > t.start)
			t.start = since;
	}
	/* No ring knows the time of its events yet, or a ring has only events after the window's end. */
	if (!recorded || t.start > index->end)
		t.start = index->end;
	result->from = t.start;
	result->to = index->end;
	t.p = perfetto_new(to, t.start);
	err = t.p ? trace_threads_begin(&t) : -ENOMEM;
	if (!err) {
		write_clocks(&t, t.start);
		write_head(&t);
		trace_tree(&t);
		perfetto_stacks_begin(t.p, index->frequency ? &sampler : NULL);
		err = write_cpus(&t);
	}
	err = err ? err : t.err;
	if (!err) {
		trace_unborn(&t);
		trace_blocked_all(&t);
		write_numbers(&t);
		write_clocks(&t, index->end);
		err = perfetto_end(t.p, &result->bytes);
	}
	trace_threads_end(&t);
	perfetto_free(t.p);
	return err;
}

const struct exporter export_trace = {
	.name = "write",
	.letter = 'w',
	.operand = "FILE",
	.help = "record until --duration or Ctrl-C, save a Perfetto trace and exit; - is stdout",
	.needs = EXPORT_WINDOW,
	.suffix = "pb",
	.window = write_window,
};
