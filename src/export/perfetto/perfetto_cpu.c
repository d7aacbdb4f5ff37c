/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/perfetto/perfetto_cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto/perfetto_internal.h"
#include "export/perfetto/perfetto_tree.h"
#include "util/hash.h"

/* Events of a bundle, which is one packet and is kept in memory. */
#define BUNDLE_EVENTS 4000
#define BUNDLE_COMMS  1000
#define BUNDLE_BYTES  (256 << 10) /* of packed events */

/* A sleeping state for perfetto_cpu_switch(). */
#define STATE_SLEEPS 1

/* From linux/sched.h: the flag of clone() in task_newtask that Perfetto reads. */
#define CLONE_THREAD 0x00010000

#define COMM_LEN  16
#define PRIO_IDLE 120

/* PB_SET_EVENT - sets the contents of an event. */
#define PB_SET_EVENT(event, kind, field, to) \
	((event).event_case = PERFETTO__PROTOS__FTRACE_EVENT__EVENT_##kind, (event).field = (to))
#define STATE_EVENT(name) \
	PERFETTO__PROTOS__GENERIC_KERNEL_TASK_STATE_EVENT__TASK_STATE_ENUM__TASK_STATE_##name

/* The CPU that is being written, with its pending bundle: one array per field. */
struct cpu {
	unsigned int cpu;
	bool begins;          /* this is the CPU's first bundle */
	int32_t current;      /* the thread on the CPU */
	struct bytes bundle;  /* FtraceEventBundle: packed events */
	size_t nr_events, nr_switches, nr_wakings, nr_comms;
	uint64_t last_switch, last_waking;

	uint64_t switch_time[BUNDLE_EVENTS]; /* the first one, then differences */
	int64_t switch_state[BUNDLE_EVENTS];
	int32_t switch_tid[BUNDLE_EVENTS], switch_prio[BUNDLE_EVENTS];
	uint32_t switch_comm[BUNDLE_EVENTS]; /* index in comms */

	uint64_t waking_time[BUNDLE_EVENTS];
	int32_t waking_tid[BUNDLE_EVENTS], waking_cpu[BUNDLE_EVENTS], waking_prio[BUNDLE_EVENTS];
	uint32_t waking_comm[BUNDLE_EVENTS], waking_context[BUNDLE_EVENTS];

	struct map comm_index; /* hash_16 of a comm -> index + 1 */
	char comm[BUNDLE_COMMS][COMM_LEN], text[BUNDLE_COMMS][COMM_SIZE], *comms[BUNDLE_COMMS];
};

void cpu_free(struct cpu *c)
{
	if (!c)
		return;
	free(c->bundle.data);
	map_fini(&c->comm_index);
	free(c);
}

/* Fields of FtraceEventBundle. */
enum { BUNDLE_EVENT = 2, BUNDLE_COMPACT = 4 };

static void add_compact(struct perfetto *p, struct cpu *c)
{
	PB(FtraceEventBundle__CompactSched) compact = PB_INIT(FTRACE_EVENT_BUNDLE__COMPACT_SCHED);

	compact.n_switch_timestamp = compact.n_switch_prev_state = compact.n_switch_next_pid =
		compact.n_switch_next_prio = compact.n_switch_next_comm_index = c->nr_switches;
	compact.switch_timestamp = c->switch_time;
	compact.switch_prev_state = c->switch_state;
	compact.switch_next_pid = c->switch_tid;
	compact.switch_next_prio = c->switch_prio;
	compact.switch_next_comm_index = c->switch_comm;
	compact.n_waking_timestamp = compact.n_waking_pid = compact.n_waking_target_cpu =
		compact.n_waking_prio = compact.n_waking_comm_index = compact.n_waking_common_flags =
		c->nr_wakings;
	compact.waking_timestamp = c->waking_time;
	compact.waking_pid = c->waking_tid;
	compact.waking_target_cpu = c->waking_cpu;
	compact.waking_prio = c->waking_prio;
	compact.waking_comm_index = c->waking_comm;
	compact.waking_common_flags = c->waking_context;
	compact.n_intern_table = c->nr_comms;
	compact.intern_table = c->comms;
	bytes_message(p, &c->bundle, BUNDLE_COMPACT, &compact.base);
}

static void bundle_write(struct perfetto *p)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_CPUS, SEQUENCE_GOES_ON);
	PB(FtraceEventBundle) rest = PB_INIT(FTRACE_EVENT_BUNDLE);
	struct cpu *c = p->cpu;

	if (c->nr_switches + c->nr_wakings)
		add_compact(p, c);
	PB_SET(rest, cpu, c->cpu);
	/* Perfetto shows threads from the latest of these times on: it is the same for each CPU. */
	if (c->begins)
		PB_SET(rest, previous_bundle_end_timestamp, p->start_ns);
	bytes_fields(p, &c->bundle, &rest.base);
	packet_write_body(p, &packet, PB_DATA(FTRACE_EVENTS), &c->bundle);

	c->begins = false;
	c->nr_events = c->nr_switches = c->nr_wakings = c->nr_comms = 0;
	c->last_switch = c->last_waking = 0;
	map_fini(&c->comm_index);
}

/* Whether to write an event; if so, the bundle has room for it and its comm. */
static bool is_shown(struct perfetto *p, uint64_t t)
{
	struct cpu *c = p->cpu;

	/* Perfetto does not sort the bundle's array of switches against its first event, which is at the start: no
	 * other event may have that time. */
	if (p->err || t <= p->start_ns)
		return false;
	if (c->nr_events == BUNDLE_EVENTS || c->nr_comms == BUNDLE_COMMS || c->bundle.len > BUNDLE_BYTES)
		bundle_write(p);
	c->nr_events++;
	return true;
}

/* Deltas cannot be negative: an event out of order begins a new bundle. */
static void keep_order(struct perfetto *p, uint64_t t, uint64_t last)
{
	if (t >= last)
		return;
	bundle_write(p);
	p->cpu->nr_events = 1;
}

static uint32_t comm_index(struct perfetto *p, const char *comm)
{
	struct cpu *c = p->cpu;
	char key[COMM_LEN] = { 0 };
	uintptr_t known;
	uint64_t hash;

	memcpy(key, comm, strnlen(comm, sizeof(key) - 1));
	hash = hash_16(key) | 1;
	known = (uintptr_t)map_get(&c->comm_index, hash);
	/* Upon a hash collision the second comm is added each time. */
	if (known && !memcmp(c->comm[known - 1], key, sizeof(key)))
		return known - 1;
	if (!known && map_put(&c->comm_index, hash, (void *)(c->nr_comms + 1)))
		perfetto_fail(p, -ENOMEM);
	memcpy(c->comm[c->nr_comms], key, sizeof(key));
	c->comms[c->nr_comms] = comm_of(c->text[c->nr_comms], key);
	return c->nr_comms++;
}

static void add_event(struct perfetto *p, uint64_t t, int32_t tid, PB(FtraceEvent) *event)
{
	/* Perfetto drops an event without pid. */
	PB_SET(*event, timestamp, t);
	PB_SET(*event, pid, tid);
	bytes_message(p, &p->cpu->bundle, BUNDLE_EVENT, &event->base);
}

/* An event of the current thread. */
static void add_current(struct perfetto *p, uint64_t t, PB(FtraceEvent) *event)
{
	if (is_shown(p, t))
		add_event(p, t, p->cpu->current, event);
}

/* The switch comes from the idle thread, so that no state is made up for a real one. */
static void add_first_switch(struct perfetto *p, const struct perfetto_task *current)
{
	PB(FtraceEvent) event = PB_INIT(FTRACE_EVENT);
	PB(SchedSwitchFtraceEvent) first = PB_INIT(SCHED_SWITCH_FTRACE_EVENT);
	char idle[COMM_LEN], comm[COMM_SIZE];

	snprintf(idle, sizeof(idle), "swapper/%u", p->cpu->cpu);
	first.prev_comm = idle;
	PB_SET(first, prev_pid, 0);
	PB_SET(first, prev_prio, PRIO_IDLE);
	PB_SET(first, prev_state, 0);
	first.next_comm = comm_of(comm, current->comm);
	PB_SET(first, next_pid, current->tid);
	PB_SET(first, next_prio, current->prio);
	PB_SET_EVENT(event, SCHED_SWITCH, sched_switch, &first);
	add_event(p, p->start_ns, 0, &event);
}

void perfetto_cpu_begin(struct perfetto *p, unsigned int cpu, const struct perfetto_task *current)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_CPUS, SEQUENCE_BEGINS);
	struct cpu *c = p->cpu;

	if (!c) {
		c = p->cpu = calloc(1, sizeof(*c));
		if (!c) {
			perfetto_fail(p, -ENOMEM);
			return;
		}
		packet_write(p, &packet);
	}
	c->cpu = cpu;
	c->begins = true;
	c->current = current->tid;
	c->nr_events = 1;
	add_first_switch(p, current);
}

void perfetto_cpu_end(struct perfetto *p)
{
	if (!p->err)
		bundle_write(p);
}

void perfetto_cpu_switch(struct perfetto *p, uint64_t t, unsigned int state,
			 const struct perfetto_task *next)
{
	struct cpu *c = p->cpu;
	size_t i;

	if (!is_shown(p, t))
		return;
	keep_order(p, t, c->last_switch);
	i = c->nr_switches++;
	c->switch_time[i] = t - c->last_switch;
	/* An outsider stands for many threads: it must never appear to wait for a CPU. */
	c->switch_state[i] = c->current >= PERFETTO_OUTSIDER(0) ? STATE_SLEEPS : state;
	c->switch_tid[i] = next->tid;
	c->switch_prio[i] = next->prio;
	c->switch_comm[i] = comm_index(p, next->comm);
	c->last_switch = t;
	c->current = next->tid;
}

void perfetto_cpu_waking(struct perfetto *p, uint64_t t, const struct perfetto_task *wakee,
			 unsigned int target_cpu, unsigned int context)
{
	struct cpu *c = p->cpu;
	size_t i;

	if (!is_shown(p, t))
		return;
	keep_order(p, t, c->last_waking);
	i = c->nr_wakings++;
	c->waking_time[i] = t - c->last_waking;
	c->waking_tid[i] = wakee->tid;
	c->waking_cpu[i] = target_cpu;
	c->waking_prio[i] = wakee->prio;
	c->waking_comm[i] = comm_index(p, wakee->comm);
	c->waking_context[i] = context;
	c->last_waking = t;
}

void perfetto_cpu_blocked_reason(struct perfetto *p, uint64_t t, int32_t tid, const char *caller,
				 bool io_wait)
{
	PB(FtraceEvent) event = PB_INIT(FTRACE_EVENT);
	PB(SchedBlockedReasonFtraceEvent) reason = PB_INIT(SCHED_BLOCKED_REASON_FTRACE_EVENT);
	uint64_t symbol;

	if (!is_shown(p, t))
		return;
	symbol = intern_text(p, SEQUENCE_CPUS, INTERNED_SYMBOL, caller);
	intern_write(p, SEQUENCE_CPUS);
	PB_SET(reason, pid, tid);
	if (symbol)
		PB_SET(reason, caller, symbol);
	PB_SET(reason, io_wait, io_wait);
	PB_SET_EVENT(event, SCHED_BLOCKED_REASON, sched_blocked_reason, &reason);
	add_event(p, t, p->cpu->current, &event);
}

void perfetto_cpu_newtask(struct perfetto *p, uint64_t t, int32_t parent, const struct perfetto_task *child,
			  bool thread)
{
	PB(FtraceEvent) event = PB_INIT(FTRACE_EVENT);
	PB(TaskNewtaskFtraceEvent) born = PB_INIT(TASK_NEWTASK_FTRACE_EVENT);

	if (!is_shown(p, t))
		return;
	/* The following tree contains its name. */
	PB_SET(born, pid, child->tid);
	PB_SET(born, clone_flags, thread ? CLONE_THREAD : 0);
	PB_SET_EVENT(event, TASK_NEWTASK, task_newtask, &born);
	add_event(p, t, parent, &event);
}

void perfetto_cpu_exec(struct perfetto *p, uint64_t t, int32_t tid, int32_t old_tid, const char *filename)
{
	PB(FtraceEvent) event = PB_INIT(FTRACE_EVENT);
	PB(SchedProcessExecFtraceEvent) exec = PB_INIT(SCHED_PROCESS_EXEC_FTRACE_EVENT);
	char text[TEXT_SIZE];

	if (!is_shown(p, t))
		return;
	exec.filename = text_of(text, filename);
	PB_SET(exec, pid, tid);
	PB_SET(exec, old_pid, old_tid);
	PB_SET_EVENT(event, SCHED_PROCESS_EXEC, sched_process_exec, &exec);
	add_event(p, t, tid, &event);
}

void perfetto_cpu_rename(struct perfetto *p, uint64_t t, int32_t tid, const char *old_comm, const char *comm)
{
	PB(FtraceEvent) event = PB_INIT(FTRACE_EVENT);
	PB(TaskRenameFtraceEvent) rename = PB_INIT(TASK_RENAME_FTRACE_EVENT);
	char was[COMM_SIZE], is[COMM_SIZE];

	if (!is_shown(p, t))
		return;
	PB_SET(rename, pid, tid);
	rename.oldcomm = comm_of(was, old_comm);
	rename.newcomm = comm_of(is, comm);
	PB_SET_EVENT(event, TASK_RENAME, task_rename, &rename);
	add_event(p, t, tid, &event);
}

void perfetto_cpu_freed(struct perfetto *p, uint64_t t, const struct perfetto_task *task)
{
	PB(FtraceEvent) event = PB_INIT(FTRACE_EVENT);
	PB(SchedProcessFreeFtraceEvent) freed = PB_INIT(SCHED_PROCESS_FREE_FTRACE_EVENT);

	PB_SET(freed, pid, task->tid);
	PB_SET(freed, prio, task->prio);
	PB_SET_EVENT(event, SCHED_PROCESS_FREE, sched_process_free, &freed);
	add_current(p, t, &event);
}

void perfetto_cpu_irq(struct perfetto *p, uint64_t t, uint64_t until, int irq, const char *name)
{
	PB(FtraceEvent) event = PB_INIT(FTRACE_EVENT);
	PB(IrqHandlerEntryFtraceEvent) entry = PB_INIT(IRQ_HANDLER_ENTRY_FTRACE_EVENT);
	PB(IrqHandlerExitFtraceEvent) end = PB_INIT(IRQ_HANDLER_EXIT_FTRACE_EVENT);
	char text[TEXT_SIZE];

	PB_SET(entry, irq, irq);
	entry.name = text_of(text, name);
	PB_SET_EVENT(event, IRQ_HANDLER_ENTRY, irq_handler_entry, &entry);
	add_current(p, t, &event);
	PB_SET(end, irq, irq);
	PB_SET(end, ret, true);
	PB_SET_EVENT(event, IRQ_HANDLER_EXIT, irq_handler_exit, &end);
	add_current(p, until, &event);
}

void perfetto_cpu_softirq(struct perfetto *p, uint64_t t, uint64_t until, unsigned int vec)
{
	PB(FtraceEvent) event = PB_INIT(FTRACE_EVENT);
	PB(SoftirqEntryFtraceEvent) entry = PB_INIT(SOFTIRQ_ENTRY_FTRACE_EVENT);
	PB(SoftirqExitFtraceEvent) end = PB_INIT(SOFTIRQ_EXIT_FTRACE_EVENT);

	PB_SET(entry, vec, vec);
	PB_SET_EVENT(event, SOFTIRQ_ENTRY, softirq_entry, &entry);
	add_current(p, t, &event);
	PB_SET(end, vec, vec);
	PB_SET_EVENT(event, SOFTIRQ_EXIT, softirq_exit, &end);
	add_current(p, until, &event);
}

void perfetto_blocked(struct perfetto *p, const struct perfetto_task *task, bool d_state)
{
	PB(TracePacket) packet = packet_on(SEQUENCE_REST, 0);
	PB(GenericKernelTaskStateEvent) state = PB_INIT(GENERIC_KERNEL_TASK_STATE_EVENT);
	char comm[COMM_SIZE];

	PB_SET(packet, timestamp, p->start_ns);
	state.comm = comm_of(comm, task->comm);
	PB_SET(state, tid, task->tid);
	PB_SET(state, state, d_state ? STATE_EVENT(UNINTERRUPTIBLE_SLEEP) : STATE_EVENT(INTERRUPTIBLE_SLEEP));
	PB_SET(state, prio, task->prio);
	PB_SET_DATA(packet, GENERIC_KERNEL_TASK_STATE_EVENT, generic_kernel_task_state_event, &state);
	packet_write(p, &packet);
}
