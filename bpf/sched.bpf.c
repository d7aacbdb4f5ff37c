/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's events: where every thread's time goes. One program per event and one clock read per program; the
 * pieces are in the headers.
 */

#include "maps.bpf.h"

#include "account.h"
#include "block.bpf.h"
#include "clock.bpf.h"
#include "command.bpf.h"
#include "irq.bpf.h"
#include "life.bpf.h"
#include "recorder.bpf.h"
#include "scope.bpf.h"
#include "steal.bpf.h"
#include "usage.bpf.h"
#include "wait.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 slots_max = SLOTS_DEFAULT;
const volatile bool kernel_reads = true;
const volatile bool has_rdonly_cast;
const volatile bool storage_at_switch;
const volatile bool samples_wait;
const volatile bool steals = true;
const volatile bool sched_ext_ran;

struct shared shared;
struct slots_map slots SEC(".maps");
struct cpus_map cpus SEC(".maps");
struct dead_map dead_ring SEC(".maps");
struct free_map free_slots SEC(".maps");
struct found_map found_slots SEC(".maps");
struct refs_map refs SEC(".maps");
struct areas_map areas SEC(".maps");

/*
 * Whether the CPU limit of the thread's cgroup stops it now. Since 6.18 a thread in the kernel runs on until it would
 * return to user mode, and so does a woken thread.
 */
static __always_inline bool task_throttled(struct task_struct *t, struct cfs_rq *cfs_rq)
{
	if (bpf_core_field_exists(t->throttled))
		return t->throttled;
	return bpf_core_field_exists(cfs_rq->throttle_count) && cfs_rq->throttle_count &&
	       (int)t->prio >= MAX_RT_PRIO;
}

/* The same for a woken thread: since 6.18 it is not stopped before it would return to user mode. */
static __always_inline bool waking_throttled(struct task_struct *t)
{
	return !bpf_core_field_exists(t->throttled) && task_throttled(t, task_view(t)->se.cfs_rq);
}

/* How long threads of the runqueue have been stopped so far; 0: the kernel does not report it. */
static __noinline __u64 throttle_sum(struct cfs_rq *cfs_rq)
{
	__u64 since;

	if (!bpf_core_field_exists(cfs_rq->throttled_clock_self))
		return 0;
	since = cfs_rq->throttled_clock_self;
	return cfs_rq->throttled_clock_self_time + (since ? account_sub(cfs_rq->rq->clock, since) : 0);
}

static __always_inline void count_notes(struct cpu_slot *c, __u32 notes)
{
	if (notes & ACCOUNT_QUEUE_STALE)
		c->loss[LOSS_QUEUE_STALE]++;
	if (notes & ACCOUNT_STATE_UNKNOWN)
		c->loss[LOSS_STATE_UNKNOWN]++;
}

static __noinline __u32 task_slot_first(struct task_struct *t, struct cpu_slot *c)
{
	__u32 index = slot_new(t, 0, c, true);

	struct slot *s = slot_at(index);

	if (s)
		s->sighted = 1;
	if (s && shared.seeded)
		c->loss[LOSS_FIRST_SIGHT]++;
	return index;
}

static __always_inline struct slot *task_slot_make(struct task_struct *t, struct cpu_slot *c, __u32 *index)
{
	struct slot *s = task_slot(t, index);

	if (s)
		return s;
	*index = task_slot_first(t, c);
	return slot_at(*index);
}

/* How long the CPU's last `next` ran since its last switch-out that was seen, ns, by the kernel's sum; or ACCOUNT_UNKNOWN. */
static __always_inline __u64 lost_run(const struct cpu_slot *c, __u16 cpu, const struct slot *s)
{
	struct task_struct *t = (struct task_struct *)c->current_task;

	if ((!kernel_reads && !has_rdonly_cast) || s->task != c->current_task)
		return ACCOUNT_UNKNOWN;
	if (s->cpu != cpu) /* another CPU saw it since */
		return s->lost_ns;
	return account_sub(VIEW_FIELD(VIEW(t), se.sum_exec_runtime), s->exec_ns);
}

/*
 * The CPU's last `next` is not this switch's `prev`: the switch between them was not reported. The slot left behind
 * still says running; its sums are corrected at its thread's next switch, which may be happening on another CPU now, so
 * nothing but the state is changed here. Returns its tid.
 * @ran: set to how long it had the CPU, at most
 */
static __always_inline __u32 lose_current(struct cpu_slot *c, __u16 cpu, __u64 *ran)
{
	struct slot *s = slot_at(c->current_slot);
	__u32 *word, running, lost;

	c->loss[LOSS_GAP]++;
	if (!s)
		return 0;
	*ran = lost_run(c, cpu, s);
	s->lost_ns = *ran;
	word = (__u32 *)&s->state; /* state, flags, cpu */
	running = SLOT_RUNNING | (__u32)cpu << 16;
	lost = SLOT_LOST | (__u32)cpu << 16;
	__sync_val_compare_and_swap(word, running, lost);
	return s->tid;
}

/* Sets what account_arrival() needs for a thread whose switch-in was not seen. */
static __always_inline void missed_switch_in(struct task_struct *prev, struct account_event *e)
{
	e->last_arrival = prev->sched_info.last_arrival;
	e->stint_ns = account_stint(prev->prio, shared.sched_ext, prev->se.sum_exec_runtime, prev->se.prev_sum_exec_runtime);
}

/* Start of the run that ends now: the CPU's last switch, or systop's start. Time offline is charged to nothing. */
static __always_inline __u64 cpu_since(struct cpu_slot *c, __u64 now)
{
	if (c->offline) {
		c->offline = 0;
		return now;
	}
	return c->since ? c->since : shared.started_ns;
}

/* A busy CPU whose timer is seen gets a tick at least this often. */
#define SPLIT_TICK_NS 20000000

/* Whether the kernel's split of the running time may have changed since the CPU's last switch: ticks change it. */
static __always_inline bool split_changed(const struct cpu_slot *c, const struct account_event *e)
{
	return c->timer_at >= e->cpu_since || e->now - c->timer_at > SPLIT_TICK_NS || c->tickless;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	__u64 now = bpf_ktime_get_ns(); /* first: the read waits for every load before it */
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct account_event e = { .cpu = cpu };
	struct cfs_rq *cfs_rq;
	struct rq *rq;
	__u32 out_index, in_index = 0;
	struct slot *out, *in = 0;
	bool gap, late;
	__u32 left = RING_YIELDED, lost_tid = 0;
	__u64 stolen, ran = ACCOUNT_UNKNOWN, cred, began;

	if (!c)
		return 0;
	order_set(&c->switches, c->switches + 1);
	cred = (__u64)prev->cred; /* on one path only, see task_view() */
	barrier_var(cred);
	cfs_rq = task_view(prev)->se.cfs_rq;
	rq = cfs_rq->rq; /* the same for both threads */

	/* Slots before times: the code for a new slot is long, and the verifier walks it for every branch before it. */
	gap = c->current_task != (__u64)prev;
	late = !gap && !c->current_slot && prev->pid; /* it had no slot when it came */
	if (late)
		c->current_slot = task_slot_index(prev);
	if (!gap) {
		out_index = c->current_slot;
	} else {
		if (c->current_task)
			lost_tid = lose_current(c, cpu, &ran);
		e.other_ns = ran * account_above(ACCOUNT_UNKNOWN, ran);
		out_index = 0;
		if (prev->pid)
			task_slot_make(prev, c, &out_index);
		c->current_slot = out_index;
	}
	if (next->pid)
		in = task_slot_make(next, c, &in_index);

	c->findings = (gap ? SWITCH_GAP : 0) | (late ? SWITCH_LATE : 0);
	e.now = now;
	clock_follow_suspend(c, now);
	clock_follow(c, e.now, rq);
	e.clock_offset = c->clock_offset;
	e.cpu_since = cpu_since(c, e.now);
	stolen = c->hardirq_ns + c->softirq_ns;
	e.stolen_ns = c->findings & SWITCH_GAP && c->since ? 0 : stolen - c->irq_charged;
	c->irq_charged = stolen;
	irq_none(c);

	out = slot_at(out_index);
	if (in)
		slot_touch(in);
	if (out)
		slot_begin(out);
	if (in)
		slot_begin(in);

	if (c->findings || !c->since)
		missed_switch_in(prev, &e);
	account_cpu(c, &e, !prev->pid, c->findings & SWITCH_GAP, ran);
	if (c->findings & SWITCH_GAP) /* for an idle thread the time of the switch is unknown */
		record_switch(c, cpu, prev->pid ? account_arrival(e.cpu_since, &e) : e.cpu_since,
			      (__u64)lost_tid << 32 | prev->pid, RING_SLEEP | RECORD_IN_SCOPE);
	if (out) {
		e.run_delay = prev->sched_info.run_delay;
		e.exec_ns = prev->se.sum_exec_runtime;
		e.prev_state = bpf_core_field_exists(prev->frozen) && BPF_CORE_READ_BITFIELD(prev, frozen)
				       ? account_frozen(prev_state)
				       : prev_state;
		e.task_state = prev->__state;
		e.preempt = preempt;
		e.throttled = task_throttled(prev, cfs_rq);
		count_notes(c, account_out(out, &e));
		if (out->flags & SLOT_THROTTLED)
			out->throttle_ns = throttle_sum(cfs_rq);
		slot_counts(out, prev);
		if (c->findings || split_changed(c, &e)) {
			out->utime_ns = prev->utime;
			out->stime_ns = prev->stime;
			out->policy = prev->policy;
			out->prio = prev->prio;
		}
		if (park_wanted(out))
			c->findings |= SWITCH_PARKS;
		began = c->findings & SWITCH_GAP ? account_arrival(e.cpu_since, &e) : e.cpu_since;
		if (e.now - began >= WAIT_RUN_NS)
			wait_ran(c, out_index, began, e.now);
		if (out->cred != cred)
			scope_decide(prev, out, c, out_index);
		left = record_state(out->state, preempt, prev_state);
		if (out->state == SLOT_DEAD) {
			c->findings |= SWITCH_DEAD;
			out->tid = prev->pid; /* exec by another thread took its tid */
			out->task = 0;
			usage_end(prev, out);
		}
	}
	if (steals && !(c->findings & SWITCH_GAP)) {
		__u64 total = steal_total(rq);

		if (total != c->steal_charged)
			steal_take(c, out, total, account_sub(account_sub(e.now, e.cpu_since), e.stolen_ns), !prev->pid);
	}
	if (in) {
		bool away = e.now - in->since >= away_ns;

		/* Before its wait is closed: if it was moved, only what came before that belongs to the old cgroup. */
		if (in->scope_gen != shared.scope_gen)
			scope_decide(next, in, c, in_index);
		e.run_delay = next->sched_info.run_delay;
		e.exec_ns = next->se.sum_exec_runtime;
		if (!account_wait_known(in)) {
			e.last_queued = next->sched_info.last_queued;
			e.rq_clock = rq->clock;
		}
		if (away) {
			block_begin(c, in);
			c->was_moved = (__u32)next->se.nr_migrations != in->migrations;
		} else if (in->long_block && (in->state == SLOT_D || in->state == SLOT_SLEEP))
			in->long_block--;
		if (in->flags & SLOT_THROTTLED)
			account_stood(in, throttle_sum(task_view(next)->se.cfs_rq), cpu);
		count_notes(c, account_in(in, &e));
		if (away) {
			if (block_end(c, in))
				c->findings |= SWITCH_BLOCKED;
			wait_emit(c, in, in_index, out_index,
				  c->findings & SWITCH_GAP ? 0 : account_sub(e.now, e.cpu_since));
		}
		in->migrations = next->se.nr_migrations;
	}
	if ((out && out->in_scope) || (in && in->in_scope))
		left |= RECORD_IN_SCOPE;
	c->current_task = (__u64)next;
	c->current_slot = in_index;
	c->current_idle = !next->pid;
	c->since = e.now;

	if (out)
		slot_end(out);
	if (in)
		slot_end(in);

	/* The switch is recorded no earlier than the events of next on other CPUs, whose clocks may be ahead: its slot has the
	 * later time. */
	record_switch(c, cpu, in ? in->since : e.now, (__u64)prev->pid << 32 | next->pid, left);
	if ((samples_wait && c->files_met) || (c->findings & SWITCH_PARKS && out && park_afford(c, out, e.now)))
		park(prev, out_index, out, c);
	if (c->findings & SWITCH_BLOCKED && in) {
		if (in->parked || block_afford(c, e.now))
			block_emit(next, in, in_index, c);
		else
			c->stacks_skipped++;
	}
	if (in && in->parked) /* the stack was for this block, even if it was short */
		in->parked = 0;
	order_set(&c->switches_done, c->switches);

	if (c->findings & SWITCH_DEAD) {
		struct slot_ref *ref = bpf_task_storage_get(&refs, prev, 0, 0);

		if (ref)
			slot_bury(ref, out_index);
	}
	clock_cost(c, c->switches, e.now);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *p)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct slot *s;
	__u32 index;

	if (!c)
		return 0;
	clock_follow_suspend(c, now);
	c->wakings++;
	s = task_slot(p, &index);
	if (s) {
		__u32 source = c->hardirq ? c->hardirq : softirq_now(c), tid = bpf_get_current_pid_tgid();
		__u32 number = (source & 0xffff) < WAKER_NUMBER_MAX ? source & 0xffff : WAKER_NUMBER_MAX;
		__u32 waker = WAKER(number, tid);

		if (woken_by_other(s, source >> 16, waker))
			waker_emit(c, cpu, s, index, now);
		s->wake = now | (__u64)(source >> 16) << WAKE_CONTEXT_SHIFT |
			  (waking_throttled(p) ? WAKE_THROTTLED : 0);
		s->waker = waker;
		__sync_fetch_and_add(&s->wakeups, 1);
		if (s->in_scope)
			record_waking(c, cpu, now, p->pid, p->wake_cpu, tid, source >> 16);
	}
	clock_cost(c, c->wakings, now);
	return 0;
}

/* A thread is created; no lock of the scheduler is held. io_uring and vhost workers pass here too, but never pass
 * sched_process_fork. */
SEC("tp_btf/task_newtask")
int BPF_PROG(task_newtask, struct task_struct *p)
{
	if (p->pid) /* not a CPU's idle thread */
		bpf_task_storage_get(&refs, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/* A thread is born: made runnable for the first time. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *p)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct slot *s, *parent;
	__u32 index;
	__u64 now;

	if (!c)
		return 0;
	parent = task_slot(bpf_get_current_task_btf(), &index); /* not c->current_slot: its switch-in may have been missed */
	s = slot_at(slot_new(p, parent, c, false));
	if (!s)
		return 0;
	/* sched_switch cannot run for it on another CPU yet: the thread is not on a runqueue that could run it
	 * before this program ends. */
	now = clock_now(c);
	slot_begin(s);
	s->born_ns = s->since = now;
	s->cpu = cpu;
	s->state = SLOT_RUNQUEUE;
	slot_end(s);
	if (s->in_scope)
		record(c, cpu, now, RING_NEW, p->pid != p->tgid ? RING_THREAD : 0, p->pid,
		       RING_TID((__u32)bpf_get_current_pid_tgid()));
	return 0;
}

/* The thread's memory is freed: if it still has a slot, its last switch was missed. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(sched_process_free, struct task_struct *p)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct slot_ref *ref = bpf_task_storage_get(&refs, p, 0, 0);
	struct slot *s = ref ? slot_at(ref->slot) : 0;
	__u64 now;

	if (!c || !s)
		return 0;
	now = clock_now(c);
	slot_begin(s);
	account_lost(s, now, p->se.sum_exec_runtime, p->sched_info.run_delay);
	slot_counts(s, p);
	s->since = now;
	s->state = SLOT_DEAD;
	s->task = 0;
	usage_end(p, s);
	slot_end(s);
	slot_bury(ref, ref->slot);
	return 0;
}

struct commands_map commands SEC(".maps");

/* exec: a new name and command line, and the leader's tid if another thread called it. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *p, int old_pid)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	__u32 index;
	struct slot *s = task_slot(p, &index);

	if (!c || !s)
		return 0;
	if (old_pid != (int)p->pid && !s->pid_scope) { /* -t may cover the number that it has now */
		s->pid_scope = slot_pid_scope(p, 0);
		scope_decide(p, s, c, index);
	}
	slot_identify(s, p);
	slot_changed(s);
	if (s->in_scope) {
		record(c, cpu, clock_now(c), RING_EXEC, 0, p->pid, old_pid);
		command_started(p, index, c);
	}
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *p, const char *comm)
{
	__u32 cpu = bpf_get_smp_processor_id(), index;
	struct cpu_slot *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct slot *s = task_slot(p, &index);

	if (!c || !s)
		return 0;
	bpf_probe_read_kernel_str(s->comm, sizeof(s->comm), comm);
	slot_changed(s);
	if (s->in_scope)
		record(c, cpu, clock_now(c), RING_RENAME, 0, p->pid, 0);
	return 0;
}
