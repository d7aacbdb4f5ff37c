/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A window with the events of several CPUs as a trace. */
#include "unit.h"

#include <unistd.h>

#include "export/capture.h"
#include "export/exporter.h"
#include "export/trace_index.h"
#include "model/tick.h"
#include "trace.h"

#define MS 1000000ULL
#define SEC (1000 * MS)
#define CPUS 2

struct scene {
	const struct trace_index *index;
	const struct scene_event {
		uint32_t cpu;
		struct event e; /* its time is since the start */
	} *events;
	size_t nr;
	bool early; /* no time of a ring is known yet */
	uint64_t since[CPUS]; /* from when on a CPU's events are complete, since the start */
};

static bool has_cpu(void *arg, uint32_t cpu)
{
	const struct scene *s = arg;

	return !s->early && cpu < CPUS;
}

static uint64_t cpu_since(void *arg, uint32_t cpu)
{
	const struct scene *s = arg;

	return START + s->since[cpu];
}

static int cpu_events(void *arg, uint32_t cpu, uint64_t from, event_fn *fn, void *fn_arg, struct event_loss *loss)
{
	const struct scene *s = arg;
	int err = 0;

	(void)loss;
	for (size_t i = 0; i < s->nr && !err; i++) {
		struct event e = s->events[i].e;

		e.at += START;
		if (s->events[i].cpu == cpu && e.at >= from)
			err = fn(fn_arg, &e);
	}
	return err;
}

static bool go_on(void *arg, int percent)
{
	(void)arg;
	(void)percent;
	return true;
}

static struct trace_index_maker *index_of(const struct trace_index *head)
{
	struct trace_index_maker *m = trace_index_maker(head);

	assert_non_null(m);
	trace_index_words(m, "systop.version", "test");
	for (int cpu = 0; cpu < CPUS; cpu++)
		trace_index_cpu(m, &(struct trace_index_cpu){ .online = 1 }, NULL);
	return m;
}

static struct trace_index_maker *index_begin(void)
{
	return index_of(&(struct trace_index){ .from = START, .end = START + SEC, .frequency = 99,
						.clocks = { START + SEC, 9 * SEC, 9 * SEC, 9 * SEC } });
}

/* A thread that began at @start and, if @to is not UINT64_MAX, ended. */
static void index_thread(struct trace_index_maker *m, pid_t tid, const char *comm, uint64_t start, uint64_t to,
			 uint32_t state)
{
	struct life l = { .tid = tid, .tgid = tid, .start_ns = start, .priority = 120 };

	strcpy(l.comm, comm);
	trace_index_thread(m, &l, start, to, state);
}

/* Writes the trace, and reads it. */
static struct capture_result write_scene(struct trace_index_maker *m, struct scene *s)
{
	struct capture c = { .arg = s, .has = has_cpu, .since = cpu_since, .events = cpu_events, .progress = go_on };
	struct capture_result result;
	int fd = trace_index_put(m);

	assert_true(fd >= 0);
	trace_index_free(m);
	c.index = s->index = trace_index_open(fd);
	assert_non_null(c.index);
	trace.to = open_memstream(&trace.data, &trace.size);
	assert_int_equal(export_trace.window(trace.to, &c, &result), 0);
	fclose(trace.to);
	trace_index_close(c.index);
	trace.read = perfetto__protos__trace__unpack(NULL, trace.size, (uint8_t *)trace.data);
	assert_non_null(trace.read);
	return result;
}

/* The state that a thread without a switch had when the trace began; 0: none is written. */
static int blocked_in(int64_t tid)
{
	int state = 0;

	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(TracePacket) *p = trace.read->packet[i];

		if (p->data_case != PERFETTO__PROTOS__TRACE_PACKET__DATA_GENERIC_KERNEL_TASK_STATE_EVENT ||
		    p->generic_kernel_task_state_event->tid != tid)
			continue;
		assert_int_equal(state, 0);
		assert_int_equal(p->timestamp, START);
		state = p->generic_kernel_task_state_event->state;
	}
	return state;
}

#define ASLEEP PERFETTO__PROTOS__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE_ENUM__TASK_STATE_INTERRUPTIBLE_SLEEP
#define IN_D PERFETTO__PROTOS__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE_ENUM__TASK_STATE_UNINTERRUPTIBLE_SLEEP

/* The first event of a thread counts, on whichever CPU: CPUs are written one after the other. */
TEST(window, blocked_at_its_start)
{
	enum { SLEEPER = 100, RUNNER, WAITER, STUCK, QUIET, READER, FREED, GONE_ON };
	static const struct scene_event events[] = {
		{ 0, { .at = 20 * MS, .kind = RING_WAKING, .tid = RUNNER } },
		{ 0, { .at = 30 * MS, .kind = RING_SWITCH, .tid = SLEEPER, .state = RING_SLEEP } },
		{ 0, { .at = 40 * MS, .kind = RING_SWITCH, .tid = READER, .other = SLEEPER, .state = RING_SLEEP } },
		{ 0, { .at = 40 * MS, .kind = RING_BLOCK, .tid = READER, .in_d = true, .off_ns = 50 * MS,
		       .blocked_ns = 49 * MS } },
		{ 0, { .at = 60 * MS, .kind = RING_WAKING, .tid = WAITER } },
		{ 1, { .at = 10 * MS, .kind = RING_SWITCH, .tid = WAITER, .other = RUNNER, .state = RING_SLEEP } },
		{ 1, { .at = 15 * MS, .kind = RING_SWITCH, .tid = 0, .other = WAITER, .state = RING_SLEEP } },
		{ 1, { .at = 25 * MS, .kind = RING_WAKING, .tid = SLEEPER } },
		{ 1, { .at = 39 * MS, .kind = RING_WAKING, .tid = READER } },
		/* After the end. */
		{ 1, { .at = 1500 * MS, .kind = RING_WAKING, .tid = FREED } },
		{ 1, { .at = 1501 * MS, .kind = RING_SWITCH, .tid = FREED, .other = 0, .state = RING_IDLE } },
		{ 1, { .at = 1501 * MS, .kind = RING_BLOCK, .tid = FREED, .in_d = true, .off_ns = 1600 * MS, .blocked_ns = 1599 * MS } },
		{ 1, { .at = 1600 * MS, .kind = RING_WAKING, .tid = GONE_ON } },
	};
	struct scene s = { .events = events, .nr = ARRAY_SIZE(events) };
	struct trace_index_maker *m = index_begin();

	for (int tid = SLEEPER; tid <= GONE_ON; tid++)
		index_thread(m, tid, "thread", START - SEC, UINT64_MAX, tid == STUCK ? STATE_D : STATE_SLEEP);
	write_scene(m, &s);
	assert_int_equal(blocked_in(SLEEPER), ASLEEP);
	assert_int_equal(blocked_in(RUNNER), 0);
	assert_int_equal(blocked_in(WAITER), 0);
	assert_int_equal(blocked_in(STUCK), IN_D);
	assert_int_equal(blocked_in(QUIET), ASLEEP);
	assert_int_equal(blocked_in(READER), IN_D);
	assert_int_equal(blocked_in(FREED), IN_D);
	assert_int_equal(blocked_in(GONE_ON), 0); /* not known */
	forget();
}

/* The tracks on which a thread with this number has slices. */
static int tracks_of(int64_t tid)
{
	uint64_t of_threads[8];
	int nr_threads = 0, nr = 0;

	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(TracePacket) *p = trace.read->packet[i];

		if (p->data_case != PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_DESCRIPTOR)
			continue;
		if (p->track_descriptor->thread && p->track_descriptor->thread->tid == tid)
			of_threads[nr_threads++] = p->track_descriptor->uuid;
		for (int k = 0; k < nr_threads; k++)
			nr += p->track_descriptor->parent_uuid == of_threads[k];
	}
	assert_int_equal(nr, nr_threads);
	return nr;
}

/* When the kernel frees a thread in the trace, ms since its start; 0: never. */
static uint64_t freed(int32_t tid)
{
	uint64_t at = 0;

	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(FtraceEventBundle) *b = trace.read->packet[i]->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_FTRACE_EVENTS
							 ? trace.read->packet[i]->ftrace_events
							 : NULL;

		for (size_t k = 0; b && k < b->n_event; k++) {
			const PB(FtraceEvent) *e = b->event[k];

			if (e->event_case != PERFETTO__PROTOS__FTRACE_EVENT__EVENT_SCHED_PROCESS_FREE || e->sched_process_free->pid != tid)
				continue;
			assert_int_equal(at, 0);
			at = (e->timestamp - START) / MS;
		}
	}
	return at;
}

/* Its blocks are those of two threads, of which the first one ends. */
TEST(window, a_number_that_is_used_again)
{
	static const struct scene_event events[] = {
		{ 0, { .at = 90 * MS, .kind = RING_SWITCH, .tid = 100, .state = RING_SLEEP } },
		{ 0, { .at = 90 * MS, .kind = RING_BLOCK, .tid = 100, .off_ns = 50 * MS, .blocked_ns = 50 * MS } },
		{ 0, { .at = 95 * MS, .kind = RING_SWITCH, .tid = 0, .other = 100, .state = RING_SLEEP } },
		{ 0, { .at = 190 * MS, .kind = RING_SWITCH, .tid = 100, .state = RING_SLEEP } },
		{ 0, { .at = 190 * MS, .kind = RING_BLOCK, .tid = 100, .off_ns = 95 * MS, .blocked_ns = 95 * MS } },
		{ 0, { .at = 200 * MS, .kind = RING_SWITCH, .tid = 0, .other = 100, .state = RING_DEAD } },
		{ 0, { .at = 300 * MS, .kind = RING_NEW, .tid = 100, .other = 1 } },
		{ 0, { .at = 301 * MS, .kind = RING_SWITCH, .tid = 100 } },
		{ 0, { .at = 302 * MS, .kind = RING_SWITCH, .tid = 0, .other = 100, .state = RING_SLEEP } },
		{ 0, { .at = 400 * MS, .kind = RING_SWITCH, .tid = 100 } },
		{ 0, { .at = 400 * MS, .kind = RING_BLOCK, .tid = 100, .off_ns = 98 * MS, .blocked_ns = 98 * MS } },
	};
	struct scene s = { .events = events, .nr = ARRAY_SIZE(events) };
	struct trace_index_maker *m = index_begin();

	index_thread(m, 100, "first", START - SEC, START + 200 * MS, STATE_SLEEP);
	index_thread(m, 100, "second", START + 300 * MS - 100, UINT64_MAX, STATE_SLEEP);
	write_scene(m, &s);
	assert_int_equal(tracks_of(100), 2);
	assert_int_equal(freed(100), 200);
	forget();
}

/* A thread that runs for a ms, and ends. */
#define DIES(cpu, ms, who) \
	{ cpu, { .at = ((ms)-1) * MS, .kind = RING_SWITCH, .tid = (who), .other = 0, .state = RING_IDLE } }, \
	{ cpu, { .at = (ms) * MS, .kind = RING_SWITCH, .tid = 0, .other = (who), .state = RING_DEAD } }

/* A process ends with its last thread, not with its first one. */
TEST(window, ends)
{
	static const struct scene_event events[] = {
		DIES(0, 100, 100), /* 101 goes on for a while, */
		DIES(0, 110, 110), /* 111 to the end, */
		DIES(0, 120, 120), /* and 121 becomes 120 */
		DIES(0, 130, 130),
		{ 1, { .at = 121 * MS, .kind = RING_EXEC, .tid = 120, .other = 121 } },
		DIES(1, 300, 101),
		DIES(1, 400, 122),
		{ 1, { .at = 500 * MS, .kind = RING_SWITCH, .tid = 0, .other = 140, .state = RING_DEAD } }, /* the one before is lost */
	};
	static const struct {
		pid_t tid, tgid;
		uint64_t to;
	} threads[] = {
		{ 100, 100, 200 * MS }, { 101, 100, 1500 * MS }, { 110, 110, 200 * MS }, { 111, 110, UINT64_MAX },
		{ 120, 120, UINT64_MAX }, { 121, 120, 121 * MS }, { 122, 120, 500 * MS }, { 130, 130, 1500 * MS },
		{ 140, 140, 600 * MS },
	};
	struct scene s = { .events = events, .nr = ARRAY_SIZE(events) };
	struct trace_index_maker *m = index_begin();

	FOR_EACH (th, threads) {
		struct life l = { .tid = th->tid, .tgid = th->tgid, .start_ns = START - SEC, .priority = 120, .comm = "thread" };

		trace_index_thread(m, &l, l.start_ns, th->to < UINT64_MAX ? START + th->to : UINT64_MAX, STATE_SLEEP);
	}
	write_scene(m, &s);
	assert_int_equal(freed(100), 300);
	assert_int_equal(freed(101), 300);
	assert_int_equal(freed(110), 0);
	assert_int_equal(freed(120), 0);
	assert_int_equal(freed(122), 400);
	assert_int_equal(freed(130), 130);
	assert_int_equal(freed(140), 500);
	forget();
}

/* A process goes on as long as one of its threads does, though another one had its number before, and ended. */
TEST(window, ends_of_a_number_that_is_used_again)
{
	static const struct scene_event events[] = {
		DIES(0, 100, 100),
		DIES(0, 400, 101),
		{ 0, { .at = 500 * MS, .kind = RING_SWITCH, .tid = 100, .state = RING_IDLE } },
	};
	struct scene s = { .events = events, .nr = ARRAY_SIZE(events) };
	struct trace_index_maker *m = index_begin();
	struct life thread = { .tid = 101, .tgid = 100, .start_ns = START + 300 * MS, .priority = 120, .comm = "thread" };

	index_thread(m, 100, "first", START - SEC, START + 100 * MS, STATE_SLEEP);
	index_thread(m, 100, "second", START + 200 * MS, UINT64_MAX, STATE_SLEEP);
	trace_index_thread(m, &thread, thread.start_ns, START + 400 * MS, STATE_SLEEP);
	write_scene(m, &s);
	assert_int_equal(freed(100), 100);
	assert_int_equal(freed(101), 400);
	forget();
}

/* Blocks of a thread do not overlap, though CPUs differ about their times. */
TEST(window, blocks_do_not_overlap)
{
	static const uint64_t expected[] = { 200, 400, 400, 450 };
	static const struct scene_event events[] = {
		{ 0, { .at = 400 * MS, .kind = RING_SWITCH, .tid = 100, .state = RING_IDLE } },
		{ 0, { .at = 400 * MS, .kind = RING_BLOCK, .tid = 100, .off_ns = 200 * MS, .blocked_ns = 200 * MS } },
		{ 0, { .at = 410 * MS, .kind = RING_SWITCH, .tid = 0, .other = 100, .state = RING_SLEEP } },
		{ 1, { .at = 500 * MS, .kind = RING_SWITCH, .tid = 100, .state = RING_IDLE } },
		{ 1, { .at = 500 * MS, .kind = RING_BLOCK, .tid = 100, .off_ns = 150 * MS, .blocked_ns = 100 * MS } },
	};
	struct scene s = { .events = events, .nr = ARRAY_SIZE(events) };
	struct trace_index_maker *m = index_begin();
	uint64_t track = 0;
	int nr = 0;

	index_thread(m, 100, "thread", START - SEC, UINT64_MAX, STATE_SLEEP);
	write_scene(m, &s);
	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(TracePacket) *p = trace.read->packet[i];

		if (p->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_DESCRIPTOR && p->track_descriptor->name &&
		    !strcmp(p->track_descriptor->name, "blocked"))
			track = p->track_descriptor->uuid;
		if (track && p->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_EVENT && p->track_event->track_uuid == track)
			assert_int_equal(p->timestamp, expected[nr++] * MS);
	}
	assert_int_equal(nr, 4);
	forget();
}

/* The states that threads of a CPU leave with. An idle CPU's thread is never asleep, whatever was recorded of it. */
TEST(window, idle_is_no_state)
{
	static const struct scene_event events[] = {
		{ 0, { .at = 100 * MS, .kind = RING_SWITCH, .tid = 100, .state = RING_SLEEP } },
		{ 0, { .at = 200 * MS, .kind = RING_SWITCH, .tid = 0, .other = 100, .state = RING_SLEEP } },
	};
	struct scene s = { .events = events, .nr = ARRAY_SIZE(events) };
	struct trace_index_maker *m = index_begin();
	const PB(FtraceEventBundle__CompactSched) *c = NULL;

	index_thread(m, 100, "thread", START - SEC, UINT64_MAX, STATE_SLEEP);
	write_scene(m, &s);
	for (size_t i = 0; i < trace.read->n_packet && !c; i++)
		if (trace.read->packet[i]->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_FTRACE_EVENTS)
			c = trace.read->packet[i]->ftrace_events->compact_sched;
	assert_non_null(c);
	assert_int_equal(c->n_switch_prev_state, 2);
	assert_int_equal(c->switch_prev_state[0], 0);
	assert_int_equal(c->switch_prev_state[1], 1);
	forget();
}

/* A process is described once, also if threads of it are born, with the name of its leader, also if another thread has a smaller
 * number. */
TEST(window, processes_are_described_once)
{
	static const struct scene_event events[] = {
		{ 0, { .at = 100 * MS, .kind = RING_NEW, .tid = 101, .other = 100, .thread = true } },
	};
	struct scene s = { .events = events, .nr = ARRAY_SIZE(events) };
	struct trace_index_maker *m = index_begin();
	struct life l = { .tid = 50, .tgid = 100, .start_ns = START - SEC, .priority = 120, .comm = "smaller" };
	int nr_processes = 0, nr_threads = 0;

	trace_index_thread(m, &l, l.start_ns, UINT64_MAX, STATE_SLEEP);
	index_thread(m, 100, "leader", START - SEC, UINT64_MAX, STATE_SLEEP);
	l.tid = 101;
	l.start_ns = START + 99 * MS;
	trace_index_thread(m, &l, l.start_ns, UINT64_MAX, STATE_SLEEP);
	write_scene(m, &s);
	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(TracePacket) *p = trace.read->packet[i];

		if (p->data_case != PERFETTO__PROTOS__TRACE_PACKET__DATA_PROCESS_TREE)
			continue;
		for (size_t k = 0; k < p->process_tree->n_processes; k++, nr_processes++)
			assert_string_equal(p->process_tree->processes[k]->cmdline[0], "leader");
		nr_threads += p->process_tree->n_threads;
	}
	assert_int_equal(nr_processes, 1);
	assert_int_equal(nr_threads, 3);
	forget();
}

/* A sample belongs to the thread that has the CPU, or had it before; a sample of another thread is lost. An interrupt that began
 * before the trace has no beginning in it. */
TEST(window, samples_and_interrupts_of_a_moment_ago)
{
	static const struct scene_event events[] = {
		{ 0, { .at = 1 * MS, .kind = RING_IRQ, .off_ns = 2 * MS } },
		{ 0, { .at = 100 * MS, .kind = RING_SWITCH, .tid = 100, .state = RING_SLEEP } },
		{ 0, { .at = 200 * MS, .kind = RING_SWITCH, .tid = 0, .other = 100, .state = RING_SLEEP } },
		{ 0, { .at = 201 * MS, .kind = RING_SAMPLE, .tid = 100 } },
		{ 0, { .at = 202 * MS, .kind = RING_SAMPLE, .tid = 300 } },
	};
	struct scene s = { .events = events, .nr = ARRAY_SIZE(events) };
	struct trace_index_maker *m = index_begin();
	int nr_samples = 0;

	index_thread(m, 100, "thread", START - SEC, UINT64_MAX, STATE_SLEEP);
	trace_index_irq(m, 0, "HI");
	assert_int_equal(write_scene(m, &s).lost, 1);
	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(TracePacket) *p = trace.read->packet[i];

		if (p->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_FTRACE_EVENTS)
			assert_int_equal(p->ftrace_events->n_event, 1); /* the first switch */
		if (p->data_case != PERFETTO__PROTOS__TRACE_PACKET__DATA_PERF_SAMPLE)
			continue;
		assert_int_equal(p->perf_sample->tid, 100);
		nr_samples++;
	}
	assert_int_equal(nr_samples, 1);
	forget();
}

/* A trace begins where all CPUs are complete, whichever of them is the last one. */
TEST(window, begins_where_all_cpus_are_complete)
{
	for (int late = 0; late < CPUS; late++) {
		struct scene s = { .since = { late ? 0 : 300 * MS, late ? 300 * MS : 0 } };
		struct capture_result result = write_scene(index_begin(), &s);

		assert_int_equal(result.from, START + 300 * MS);
		assert_int_equal(result.to, START + SEC);
		forget();
	}
}

/* The threads of which the index knows nothing are out of scope: that they are born or woken shows no other one. */
TEST(window, births_out_of_scope)
{
	static const struct trace_index head = { .from = START, .end = START + SEC, .frequency = 99, .scoped = true };
	static const struct scene_event events[] = {
		{ 0, { .at = 100 * MS, .kind = RING_NEW, .tid = 200, .other = 100 } },
		{ 0, { .at = 200 * MS, .kind = RING_WAKING, .tid = 200 } },
		{ 0, { .at = 300 * MS, .kind = RING_NEW, .tid = 101, .other = 100 } },
		{ 0, { .at = 400 * MS, .kind = RING_WAKING, .tid = 101 } },
	};
	struct scene s = { .events = events, .nr = ARRAY_SIZE(events) };
	struct trace_index_maker *m = index_of(&head);
	int born = 0, woken = 0;

	index_thread(m, 100, "parent", START - SEC, UINT64_MAX, STATE_SLEEP);
	index_thread(m, 101, "child", START + 300 * MS, UINT64_MAX, STATE_SLEEP);
	write_scene(m, &s);
	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(FtraceEventBundle) *b = trace.read->packet[i]->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_FTRACE_EVENTS
							 ? trace.read->packet[i]->ftrace_events
							 : NULL;

		for (size_t k = 0; b && k < b->n_event; k++) {
			if (b->event[k]->event_case != PERFETTO__PROTOS__FTRACE_EVENT__EVENT_TASK_NEWTASK)
				continue;
			assert_int_equal(b->event[k]->task_newtask->pid, 101);
			born++;
		}
		for (size_t k = 0; b && b->compact_sched && k < b->compact_sched->n_waking_pid; k++) {
			assert_int_equal(b->compact_sched->waking_pid[k], 101);
			woken++;
		}
	}
	assert_int_equal(born, 1);
	assert_int_equal(woken, 1);
	forget();
}

/* The arguments that a trace has of a process: its first one. NULL: its name. */
static const char *argument_of(int32_t pid)
{
	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(ProcessTree) *tree = trace.read->packet[i]->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_PROCESS_TREE
						      ? trace.read->packet[i]->process_tree
						      : NULL;

		for (size_t k = 0; tree && k < tree->n_processes; k++)
			if (tree->processes[k]->pid == pid)
				return tree->processes[k]->cmdline_is_comm ? NULL : tree->processes[k]->cmdline[0];
	}
	fail_msg("no process %d", pid);
	return NULL;
}

/* Arguments are read at the end, for the process that has the number then, also if it was renamed or moved. */
TEST(window, arguments)
{
	struct scene s = { 0 };
	struct trace_index_maker *m = index_begin();
	struct life l = { .tid = 100, .tgid = 100, .start_ns = START - SEC, .comm = "sh" };

	trace_index_thread(m, &l, l.start_ns, START + 100 * MS, STATE_SLEEP);
	strcpy(l.comm, "cat");
	trace_index_thread(m, &l, START + 100 * MS, UINT64_MAX, STATE_SLEEP);
	index_thread(m, 101, "first", START - SEC, START + 200 * MS, STATE_SLEEP);
	index_thread(m, 101, "second", START + 300 * MS, UINT64_MAX, STATE_SLEEP);
	index_thread(m, 102, "ended", START - SEC, START + 400 * MS, STATE_SLEEP);
	for (int tgid = 100; tgid <= 102; tgid++)
		trace_index_process(m, &(struct trace_index_process){ .tgid = tgid, .len = 9 }, "argument");
	write_scene(m, &s);
	assert_non_null(argument_of(100));
	assert_string_equal(argument_of(100), "argument");
	assert_null(argument_of(101));
	assert_null(argument_of(102));
	forget();
}

/* What a trace has about a thread's names: "at sh>cat", or "at exec cat", each with a blank. */
static const char *names_of(int64_t tid)
{
	static char text[512];
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(FtraceEventBundle) *b = trace.read->packet[i]->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_FTRACE_EVENTS
							 ? trace.read->packet[i]->ftrace_events
							 : NULL;

		for (size_t k = 0; b && k < b->n_event; k++) {
			const PB(FtraceEvent) *e = b->event[k];
			int at = (e->timestamp - START) / MS;

			if (e->event_case == PERFETTO__PROTOS__FTRACE_EVENT__EVENT_TASK_RENAME && e->task_rename->pid == tid)
				used += snprintf(text + used, sizeof(text) - used, "%d %s>%s ", at, e->task_rename->oldcomm,
						 e->task_rename->newcomm);
			if (e->event_case == PERFETTO__PROTOS__FTRACE_EVENT__EVENT_SCHED_PROCESS_EXEC && e->sched_process_exec->pid == tid)
				used += snprintf(text + used, sizeof(text) - used, "%d exec %s ", at,
						 e->sched_process_exec->filename);
		}
	}
	return text;
}

/* Names are known at the end of a refresh: one that a thread had only in between is not that of another time. */
TEST(window, names)
{
	static const struct scene_event events[] = {
		{ 0, { .at = 50 * MS, .kind = RING_RENAME, .tid = 100 } },
		{ 0, { .at = 51 * MS, .kind = RING_EXEC, .tid = 100, .other = 100 } },
		{ 0, { .at = 150 * MS, .kind = RING_RENAME, .tid = 100 } },
		{ 0, { .at = 151 * MS, .kind = RING_EXEC, .tid = 100, .other = 100 } },
		{ 0, { .at = 190 * MS, .kind = RING_RENAME, .tid = 100 } },
		{ 1, { .at = 170 * MS, .kind = RING_RENAME, .tid = 100 } },
		{ 1, { .at = 171 * MS, .kind = RING_EXEC, .tid = 100, .other = 100 } },
		{ 1, { .at = 350 * MS, .kind = RING_RENAME, .tid = 100 } },
	};
	struct scene s = { .events = events, .nr = ARRAY_SIZE(events) };
	struct trace_index_maker *m = index_begin();
	struct life l = { .tid = 100, .tgid = 100, .start_ns = START - SEC, .priority = 120, .comm = "sh" };

	trace_index_thread(m, &l, 0, START, STATE_SLEEP);
	strcpy(l.comm, "cat");
	trace_index_thread(m, &l, START, START + 100 * MS, STATE_SLEEP);
	strcpy(l.comm, "top");
	trace_index_thread(m, &l, START + 100 * MS, START + 300 * MS, STATE_SLEEP);
	strcpy(l.comm, "tac");
	trace_index_thread(m, &l, START + 300 * MS, UINT64_MAX, STATE_SLEEP);
	write_scene(m, &s);
	assert_string_equal(names_of(100), "50 sh>cat 51 exec cat 151 exec ? 190 ?>top 171 exec ? 350 top>tac ");
	forget();
}

/* Value number @nr of a counter, and since when it is that. */
static int64_t counted(const char *name, int nr, uint64_t *since)
{
	uint64_t track = 0;

	for (size_t i = 0; i < trace.read->n_packet; i++) {
		const PB(TracePacket) *p = trace.read->packet[i];

		if (p->data_case == PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_DESCRIPTOR &&
		    p->track_descriptor->counter && !strcmp(p->track_descriptor->name, name))
			track = p->track_descriptor->uuid;
		if (p->data_case != PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_EVENT || !track ||
		    p->track_event->track_uuid != track || nr--)
			continue;
		*since = p->timestamp - START;
		return p->track_event->counter_value;
	}
	return -1;
}

/* A sum is drawn over its own refresh, not over the next one; losses are drawn at the end of theirs. The trace ends in the fourth
 * refresh. */
TEST(window, numbers_of_refreshes)
{
	struct trace_index_tick ticks[5] = { 0 };
	struct trace_index_maker *m = index_begin();
	struct scene s = { 0 };
	uint64_t since;

	ticks[0].began = START + 100 * MS; /* what was before is not remembered */
	for (size_t i = 0; i < ARRAY_SIZE(ticks); i++) {
		ticks[i].at = START + 300 * MS * (i + 1);
		ticks[i].values[METRIC_RUNQ_P99] = 10 + i;
		ticks[i].steal_ns = 20 + i;
		ticks[i].loss = 30 + i;
		trace_index_tick(m, &ticks[i]);
	}
	write_scene(m, &s);
	assert_int_equal(counted("steal", 4, &since), -1);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(counted(metrics[METRIC_RUNQ_P99].counter, i, &since), 10 + i);
		assert_int_equal(since, i ? 300 * MS * i : 100 * MS);
		assert_int_equal(counted("steal", i, &since), 20 + i);
		assert_int_equal(since, i ? 300 * MS * i : 100 * MS);
		assert_int_equal(counted("lost events", i, &since), 30 + i);
		assert_int_equal(since, i < 3 ? 300 * MS * (i + 1) : SEC);
	}
	forget();
}

/* In a refresh of which the host slept through a part: what MONOTONIC was at the start is not known. */
TEST(window, of_a_host_that_was_suspended)
{
	for (int asleep = 0; asleep < 2; asleep++) {
		struct trace_index_maker *m = index_begin();
		struct scene s = { 0 };
		int known = 0;

		for (int i = 0; i < 4; i++) {
			uint64_t at = START - 300 * MS + 400 * MS * i, awake = asleep && i == 1 ? 100 * MS : 400 * MS;

			trace_index_tick(m, &(struct trace_index_tick){ .at = at, .began = at - awake });
		}
		write_scene(m, &s);
		for (size_t i = 0; i < trace.read->n_packet; i++) {
			const PB(TracePacket) *p = trace.read->packet[i];

			if (p->data_case != PERFETTO__PROTOS__TRACE_PACKET__DATA_CLOCK_SNAPSHOT || p->clock_snapshot->n_clocks != 4)
				continue;
			assert_int_equal(p->clock_snapshot->clocks[2]->clock_id, 3);
			assert_int_equal(p->clock_snapshot->clocks[0]->timestamp, known || asleep ? START + SEC : START);
			known++;
		}
		assert_int_equal(known, asleep ? 1 : 2);
		forget();
	}
}

/* How the time of a cgroup on CPUs is spread over the seconds, also that of a thread which runs at the end. */
TEST(window, time_of_cgroups)
{
	static const struct trace_index head = { .from = START, .end = START + 3 * SEC };
	static const struct scene_event events[] = {
		{ 0, { .at = 500 * MS, .kind = RING_SWITCH, .tid = 0, .other = 100, .state = RING_SLEEP } },
		{ 0, { .at = 1750 * MS, .kind = RING_SWITCH, .tid = 100, .state = RING_IDLE } },
		{ 1, { .at = 2500 * MS, .kind = RING_SWITCH, .tid = 101, .state = RING_IDLE } },
	};
	static const int64_t expected[] = { 500 * MS, 250 * MS, 1500 * MS, 0 };
	struct scene s = { .events = events, .nr = ARRAY_SIZE(events) };
	struct trace_index_maker *m = index_of(&head);
	struct cgroup cgroup = { .id = 2, .path = "/a" };
	uint64_t since;

	for (int tid = 100; tid <= 101; tid++) {
		struct life l = { .tid = tid, .tgid = tid, .start_ns = START - SEC, .comm = "thread", .cgroup = &cgroup };

		trace_index_thread(m, &l, l.start_ns, UINT64_MAX, STATE_SLEEP);
	}
	write_scene(m, &s);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_int_equal(counted("/a on CPU", i, &since), expected[i]);
		assert_int_equal(since, i * SEC);
	}
	forget();
}

TEST(window, right_after_the_start_has_no_length)
{
	struct scene s = { .early = true };
	struct capture_result result = write_scene(index_begin(), &s);

	assert_int_equal(result.events, 0);
	assert_int_equal(result.from, START + SEC);
	assert_int_equal(result.to, START + SEC);
	forget();
}

TEST(window, of_days_is_its_end)
{
	static const struct trace_index head = { .from = 1, .end = 30ULL * 86400 * SEC, .frequency = 99 };
	struct trace_index_maker *m = trace_index_maker(&head);
	const struct trace_index *index;
	int fd = trace_index_put(m);

	assert_true(fd >= 0);
	trace_index_free(m);
	index = trace_index_open(fd);
	assert_non_null(index);
	assert_int_equal(index->end, head.end);
	assert_int_equal(index->end - index->from, TRACE_INDEX_WINDOW_MAX_NS);
	trace_index_close(index);
	close(fd);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(window_blocked_at_its_start), cmocka_unit_test(window_a_number_that_is_used_again),
		  cmocka_unit_test(window_ends), cmocka_unit_test(window_ends_of_a_number_that_is_used_again),
		  cmocka_unit_test(window_blocks_do_not_overlap), cmocka_unit_test(window_idle_is_no_state),
		  cmocka_unit_test(window_samples_and_interrupts_of_a_moment_ago),
		  cmocka_unit_test(window_processes_are_described_once),
		  cmocka_unit_test(window_begins_where_all_cpus_are_complete), cmocka_unit_test(window_births_out_of_scope),
		  cmocka_unit_test(window_arguments), cmocka_unit_test(window_names),
		  cmocka_unit_test(window_numbers_of_refreshes), cmocka_unit_test(window_time_of_cgroups),
		  cmocka_unit_test(window_of_a_host_that_was_suspended),
		  cmocka_unit_test(window_right_after_the_start_has_no_length),
		  cmocka_unit_test(window_of_days_is_its_end));
}
