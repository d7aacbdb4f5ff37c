/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdbool.h>

#include "account.h"

/*
 * The accounting rules, one row each: a slot, the switch it sees, and the resulting times. Times are in us; the
 * scheduler's clock is RQ behind the accounting clock, so that a mix-up shows.
 */

#define US 1000ULL
#define RQ 7777777ULL

struct times {
	uint64_t run, runq, d, sleep, stopped, throttled, irq;
};

struct in_case {
	const char *rule;
	struct {
		enum slot_state state;
		uint8_t flags;
		uint64_t since, run_delay, exec, wake, lost;
		bool wake_throttled;
		uint16_t cpu;
		uint64_t stood;
	} slot;
	struct {
		uint64_t now, run_delay, last_queued, exec, stood;
	} event;
	struct times want;
	uint32_t notes;
};

static void check(const char *rule, const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		print_error("%s: %s\n", rule, what);
	assert_int_equal(got, want);
}

static void check_times(const char *rule, const struct slot *s, const struct times *want)
{
	check(rule, "run_ns", s->run_ns, want->run * US);
	check(rule, "irq_ns", s->irq_ns, want->irq * US);
	check(rule, "runq_ns", s->runq_ns, want->runq * US);
	check(rule, "d_ns", s->d_ns, want->d * US);
	check(rule, "sleep_ns", s->sleep_ns, want->sleep * US);
	check(rule, "stopped_ns", s->stopped_ns, want->stopped * US);
	check(rule, "throttled_ns", s->throttled_ns, want->throttled * US);
}

static const struct in_case in_cases[] = {
	{ "preempted: all the time off the CPU is runqueue",
	  { .state = SLOT_RUNQUEUE, .since = 1000 },
	  { .now = 1500, .run_delay = 0, .last_queued = 1000 },
	  { .runq = 500 } },
	{ "preempted while not running: the kernel's run_delay never saw the wait",
	  { .state = SLOT_RUNQUEUE, .since = 1000, .run_delay = 40 },
	  { .now = 1500, .run_delay = 40 },
	  { .runq = 500 } },
	{ "slept, woken, waited: the end is runqueue, from the waking on",
	  { .state = SLOT_SLEEP, .since = 1000, .run_delay = 40, .wake = 1899 },
	  { .now = 2000, .run_delay = 40, .last_queued = 1900 },
	  { .sleep = 899, .runq = 101 } },
	{ "the scheduler did not read its clock again after the waking: what it says of the wait is nothing",
	  { .state = SLOT_SLEEP, .since = 1000, .run_delay = 40, .wake = 1200 },
	  { .now = 2000, .run_delay = 40, .last_queued = 2000 },
	  { .sleep = 200, .runq = 800 } },
	{ "no waking seen: the kernel's sum stands",
	  { .state = SLOT_SLEEP, .since = 1000, .run_delay = 40 },
	  { .now = 2000, .run_delay = 40, .last_queued = 1900 },
	  { .sleep = 900, .runq = 100 } },
	{ "woken by another CPU as it went, before its state said so",
	  { .state = SLOT_SLEEP, .flags = SLOT_WOKEN, .since = 1000, .run_delay = 40, .wake = 999 },
	  { .now = 2000, .run_delay = 40, .last_queued = 1900 },
	  { .runq = 1000 } },
	{ "woken while it had the CPU, and later again",
	  { .state = SLOT_SLEEP, .flags = SLOT_WOKEN, .since = 1000, .run_delay = 40, .wake = 1500 },
	  { .now = 2000, .run_delay = 40, .last_queued = 1900 },
	  { .sleep = 500, .runq = 500 } },
	{ "a waking of before the switch-out bounds nothing",
	  { .state = SLOT_SLEEP, .since = 1000, .run_delay = 40, .wake = 999 },
	  { .now = 2000, .run_delay = 40, .last_queued = 1900 },
	  { .sleep = 900, .runq = 100 } },
	{ "no waking seen, moved between queues while it waited: run_delay holds the first part",
	  { .state = SLOT_SLEEP, .since = 1000, .run_delay = 40 },
	  { .now = 2000, .run_delay = 240, .last_queued = 1900 },
	  { .sleep = 700, .runq = 300 } },
	{ "delayed-dequeue migration: the sleep in the kernel's sum is no wait",
	  { .state = SLOT_SLEEP, .since = 1000, .run_delay = 0, .wake = 9950 },
	  { .now = 10000, .run_delay = 7000, .last_queued = 9960 },
	  { .sleep = 8950, .runq = 50 } },
	{ "a kernel sum beyond the time off the CPU is cut to it",
	  { .state = SLOT_D, .since = 9000 },
	  { .now = 10000, .run_delay = 5000 },
	  { .runq = 1000 },
	  ACCOUNT_QUEUE_STALE },
	{ "less than 1 ms too much is cut without a word",
	  { .state = SLOT_SLEEP, .since = 1000 },
	  { .now = 2000, .run_delay = 1500 },
	  { .runq = 1000 } },
	{ "D state",
	  { .state = SLOT_D, .since = 1000, .wake = 1990 },
	  { .now = 2000, .last_queued = 1995 },
	  { .d = 990, .runq = 10 } },
	{ "stopped",
	  { .state = SLOT_STOPPED, .since = 1000 },
	  { .now = 2000, .last_queued = 1995 },
	  { .stopped = 995, .runq = 5 } },
	{ "throttled: a part of runqueue",
	  { .state = SLOT_RUNQUEUE, .flags = SLOT_THROTTLED, .since = 1000 },
	  { .now = 2000, .last_queued = 1000 },
	  { .runq = 1000, .throttled = 1000 } },
	{ "throttled until the kernel let it go on: from there it waited like any other",
	  { .state = SLOT_RUNQUEUE, .flags = SLOT_THROTTLED, .since = 1000, .cpu = 3, .stood = 7000 },
	  { .now = 2000, .last_queued = 1000, .stood = 7600 },
	  { .runq = 1000, .throttled = 600 } },
	{ "throttled, and others longer: not for longer than it waited",
	  { .state = SLOT_RUNQUEUE, .flags = SLOT_THROTTLED, .since = 1000, .cpu = 3, .stood = 7000 },
	  { .now = 2000, .last_queued = 1000, .stood = 9600 },
	  { .runq = 1000, .throttled = 1000 } },
	{ "throttled on another CPU: the sums are of two runqueues",
	  { .state = SLOT_RUNQUEUE, .flags = SLOT_THROTTLED, .since = 1000, .cpu = 2, .stood = 7000 },
	  { .now = 2000, .last_queued = 1000, .stood = 7600 },
	  { .runq = 1000, .throttled = 1000 } },
	{ "woken into a throttled cgroup: its wait is throttled, its sleep is not",
	  { .state = SLOT_SLEEP, .since = 1000, .wake = 1200, .wake_throttled = true, .cpu = 3 },
	  { .now = 2000, .last_queued = 1200 },
	  { .sleep = 200, .runq = 800, .throttled = 800 } },
	{ "its cgroup was throttled where it slept, and it was woken to another CPU",
	  { .state = SLOT_SLEEP, .since = 1000, .wake = 1200, .wake_throttled = true, .cpu = 2 },
	  { .now = 2000, .last_queued = 1200 },
	  { .sleep = 200, .runq = 800 } },
	{ "a throttled waking of before the switch-out is of another wait",
	  { .state = SLOT_SLEEP, .since = 1000, .wake = 900, .wake_throttled = true },
	  { .now = 2000, .last_queued = 1200 },
	  { .sleep = 200, .runq = 800 } },
	{ "first sight: no wait is known and none is counted",
	  { .state = SLOT_FREE },
	  { .now = 2000, .run_delay = 300, .last_queued = 1200, .exec = 99 },
	  { 0 } },
	{ "missed switch-out: it ran as long as the kernel says, waited likewise, the rest is sleep",
	  { .state = SLOT_RUNNING, .since = 1000, .run_delay = 40, .exec = 100 },
	  { .now = 2000, .run_delay = 50, .last_queued = 1970, .exec = 150 },
	  { .run = 50, .runq = 40, .sleep = 910 },
	  ACCOUNT_GAP },
	{ "the same, found by the CPU it had left",
	  { .state = SLOT_LOST, .since = 1000, .run_delay = 40, .exec = 100, .lost = 50 },
	  { .now = 2000, .run_delay = 50, .last_queued = 1970, .exec = 150 },
	  { .run = 50, .runq = 40, .sleep = 910 },
	  ACCOUNT_GAP },
	{ "the same, and it ran again, unseen: that time counts as another thread's, or as idle",
	  { .state = SLOT_LOST, .since = 1000, .run_delay = 40, .exec = 100, .lost = 50 },
	  { .now = 2000, .run_delay = 50, .last_queued = 1970, .exec = 350 },
	  { .run = 50, .runq = 40, .sleep = 910 },
	  ACCOUNT_GAP },
	{ "the CPUs' clocks disagree: never a negative time",
	  { .state = SLOT_SLEEP, .since = 2001, .wake = 2002 },
	  { .now = 2000, .last_queued = 1999 },
	  { 0 } },
};

TEST(account, switch_in)
{
	FOR_EACH (c, in_cases) {
		struct slot s = {
			.state = c->slot.state,
			.flags = c->slot.flags,
			.since = c->slot.since * US,
			.run_delay = c->slot.run_delay * US,
			.exec_ns = c->slot.exec * US,
			.wake = c->slot.wake * US | (c->slot.wake_throttled ? WAKE_THROTTLED : 0),
			.cpu = c->slot.cpu,
			.throttle_ns = c->slot.stood * US,
			.lost_ns = c->slot.lost * US,
		};
		struct account_event e = {
			.now = c->event.now * US,
			.rq_clock = c->event.now * US + RQ,
			.clock_offset = -RQ,
			.run_delay = c->event.run_delay * US,
			.last_queued = c->event.last_queued ? c->event.last_queued * US + RQ : 0,
			.exec_ns = c->event.exec * US,
			.cpu = 3,
		};
		bool known = account_wait_known(&s);
		uint64_t delay = e.run_delay + (!known && e.last_queued ? e.rq_clock - e.last_queued : 0);
		uint32_t notes, waits = 0;

		if (s.flags & SLOT_THROTTLED)
			account_stood(&s, c->event.stood * US, e.cpu);
		notes = account_in(&s, &e);
		check_times(c->rule, &s, &c->want);
		check(c->rule, "notes", notes, c->notes);
		check(c->rule, "state", s.state, SLOT_RUNNING);
		check(c->rule, "flags", s.flags, 0);
		check(c->rule, "since", s.since, e.now > c->slot.since * US ? e.now : c->slot.since * US);
		check(c->rule, "cpu", s.cpu, 3);
		check(c->rule, "run_delay", s.run_delay, delay + (known ? c->want.runq * US : 0));
		for (int i = 0; i < HIST_SLOTS; i++)
			waits += s.runq_hist[i];
		if (c->slot.state == SLOT_FREE) {
			check(c->rule, "born_ns", s.born_ns, e.now);
			check(c->rule, "exec_ns", s.exec_ns, e.exec_ns);
		} else if (notes & ACCOUNT_GAP) {
			check(c->rule, "what the CPU it left can count", s.lost_ns, s.run_ns);
		} else {
			check(c->rule, "longest wait", s.runq_max_ns, c->want.runq * US);
			check(c->rule, "waits in the histogram", waits, 1);
		}
	}
}

struct out_case {
	const char *rule;
	struct {
		enum slot_state state;
		uint16_t cpu;
		uint64_t since, run_delay, exec, wake, lost;
	} slot;
	struct {
		uint64_t now;
		uint32_t prev_state, task_state;
		bool preempt, throttled, frozen;
		uint64_t run_delay, last_arrival, exec, stint, cpu_since, other, stolen;
	} event;
	enum slot_state state;
	struct times want;
	uint8_t flags;
	uint32_t notes;
};

#define RAN .slot = { .state = SLOT_RUNNING, .cpu = 3, .since = 1000 }
#define RUN .want = { .run = 500 }
#define LEFT(...) .event = { .now = 1500, __VA_ARGS__ }

static const struct out_case out_cases[] = {
	{ "yields", RAN, LEFT(.prev_state = 0), SLOT_RUNQUEUE, RUN },
	{ "preempted, whatever its state says", RAN,
	  LEFT(.preempt = true, .prev_state = 2, .task_state = 2), SLOT_RUNQUEUE, RUN },
	{ "sleeps", RAN, LEFT(.prev_state = 0x1, .task_state = 0x1), SLOT_SLEEP, RUN },
	{ "sleeps, freezable", RAN, LEFT(.prev_state = 0x2001, .task_state = 0x2001), SLOT_SLEEP,
	  RUN },
	{ "sleeps, woken since it came", .slot = { .state = SLOT_RUNNING, .cpu = 3, .since = 1000, .wake = 1450 },
	  LEFT(.prev_state = 0x1, .task_state = 0x1), SLOT_SLEEP, RUN, SLOT_WOKEN },
	{ "sleeps, woken since it came, long before it went",
	  .slot = { .state = SLOT_RUNNING, .cpu = 3, .since = 1000, .wake = 1300 },
	  LEFT(.prev_state = 0x1, .task_state = 0x1), SLOT_SLEEP, RUN },
	{ "sleeps, woken before it came", .slot = { .state = SLOT_RUNNING, .cpu = 3, .since = 1000, .wake = 900 },
	  LEFT(.prev_state = 0x1, .task_state = 0x1), SLOT_SLEEP, RUN },
	{ "D", RAN, LEFT(.prev_state = 0x2, .task_state = 0x2), SLOT_D, RUN },
	{ "D, killable", RAN, LEFT(.prev_state = 0x102, .task_state = 0x102), SLOT_D, RUN },
	{ "idle kernel thread", RAN, LEFT(.prev_state = 0x402, .task_state = 0x402), SLOT_SLEEP,
	  RUN },
	{ "stopped", RAN, LEFT(.prev_state = 0x104, .task_state = 0x104), SLOT_STOPPED, RUN },
	{ "traced", RAN, LEFT(.prev_state = 0x8, .task_state = 0x8), SLOT_STOPPED, RUN },
	{ "frozen", RAN, LEFT(.prev_state = 0x8000, .task_state = 0x8000), SLOT_STOPPED, RUN },
	{ "frozen by cgroup v2", RAN, LEFT(.prev_state = 0x2001, .task_state = 0x2001, .frozen = true), SLOT_STOPPED, RUN },
	{ "marked as frozen, waits for its vfork() child", RAN,
	  LEFT(.prev_state = 0x2102, .task_state = 0x2102, .frozen = true), SLOT_D, RUN },
	{ "parked", RAN, LEFT(.prev_state = 0x40, .task_state = 0x40), SLOT_STOPPED, RUN },
	{ "dead", RAN, LEFT(.prev_state = 0x80, .task_state = 0x80), SLOT_DEAD, RUN },
	{ "zombie", RAN, LEFT(.prev_state = 0x20, .task_state = 0x20), SLOT_DEAD, RUN },
	{ "RT lock", RAN, LEFT(.prev_state = 0x1000, .task_state = 0x1000), SLOT_D, RUN,
	  SLOT_RTLOCK },
	{ "a bit nobody knows", RAN, LEFT(.prev_state = 0x40000, .task_state = 0x40000),
	  SLOT_SLEEP, RUN, 0, ACCOUNT_STATE_UNKNOWN },
	{ "a pending signal kept it runnable (before 6.15)", RAN,
	  LEFT(.prev_state = 0x1, .task_state = 0), SLOT_RUNQUEUE, RUN },
	{ "already being woken on another CPU: it waits", RAN,
	  LEFT(.prev_state = 0x1, .task_state = TASK_WAKING), SLOT_RUNQUEUE, RUN },
	{ "the same, in D", RAN, LEFT(.prev_state = 0x2, .task_state = TASK_WAKING), SLOT_RUNQUEUE, RUN },
	{ "throttled by its cgroup's CPU limit", RAN, LEFT(.preempt = true, .throttled = true),
	  SLOT_RUNQUEUE, RUN, SLOT_THROTTLED },
	{ "goes to sleep in a throttled cgroup: the wakeup decides about the wait", RAN,
	  LEFT(.prev_state = 0x1, .task_state = 0x1, .throttled = true), SLOT_SLEEP, RUN },

	{ "interrupts took a part of it", RAN, LEFT(.prev_state = 1, .task_state = 1, .stolen = 120), SLOT_SLEEP,
	  { .run = 380, .irq = 120 } },
	{ "not more than all of it: they began before it came", RAN,
	  LEFT(.prev_state = 1, .task_state = 1, .stolen = 800), SLOT_SLEEP, { .irq = 500 } },

	{ "first sight: runs since the kernel says it came", { 0 },
	  LEFT(.prev_state = 1, .task_state = 1, .last_arrival = 1100, .stint = 400,
	       .cpu_since = 900),
	  SLOT_SLEEP, { .run = 400 } },
	{ "first sight: not before another thread came to the CPU", { 0 },
	  LEFT(.prev_state = 1, .task_state = 1, .last_arrival = 100, .stint = 9999,
	       .cpu_since = 1400),
	  SLOT_SLEEP, { .run = 100 } },
	{ "first sight: not longer than the scheduler charged it for", { 0 },
	  LEFT(.prev_state = 1, .task_state = 1, .last_arrival = 100, .stint = 30,
	       .cpu_since = 200),
	  SLOT_SLEEP, { .run = 30 } },
	{ "missed switch-in after a sleep: the wait by the kernel's sum, running since its arrival",
	  { .state = SLOT_SLEEP, .cpu = 2, .since = 1000, .run_delay = 40 },
	  LEFT(.prev_state = 1, .task_state = 1, .run_delay = 60, .last_arrival = 1400,
	       .stint = 100, .cpu_since = 1300),
	  SLOT_SLEEP, { .sleep = 380, .runq = 20, .run = 100 }, 0, ACCOUNT_GAP },
	{ "missed switch-in after a preemption: all of it is runqueue",
	  { .state = SLOT_RUNQUEUE, .cpu = 2, .since = 1000, .run_delay = 40 },
	  LEFT(.prev_state = 1, .task_state = 1, .run_delay = 60, .last_arrival = 1400,
	       .stint = 100, .cpu_since = 1300),
	  SLOT_SLEEP, { .runq = 400, .run = 100 }, 0, ACCOUNT_GAP },
	{ "running on another CPU: it left that one and came here unseen",
	  { .state = SLOT_RUNNING, .cpu = 2, .since = 1000, .run_delay = 40, .exec = 100 },
	  LEFT(.prev_state = 1, .task_state = 1, .run_delay = 60, .exec = 330), SLOT_SLEEP,
	  { .run = 230, .runq = 20, .sleep = 250 }, 0, ACCOUNT_GAP },
	{ "found by the CPU it had left, and came here unseen: what it ran there, and since its arrival",
	  { .state = SLOT_LOST, .cpu = 2, .since = 1000, .run_delay = 40, .exec = 100, .lost = 50 },
	  LEFT(.prev_state = 1, .task_state = 1, .run_delay = 60, .exec = 330, .last_arrival = 1400, .stint = 100,
	       .cpu_since = 1300),
	  SLOT_SLEEP, { .run = 150, .runq = 20, .sleep = 330 }, 0, ACCOUNT_GAP },
	{ "missed switch-in: not before the thread that came before it was done",
	  { .state = SLOT_RUNQUEUE, .cpu = 2, .since = 1000, .run_delay = 40 },
	  LEFT(.prev_state = 1, .task_state = 1, .run_delay = 60, .last_arrival = 1400, .stint = 100,
	       .cpu_since = 1300, .other = 130),
	  SLOT_SLEEP, { .runq = 430, .run = 70 }, 0, ACCOUNT_GAP },
};

TEST(account, switch_out)
{
	FOR_EACH (c, out_cases) {
		struct slot s = {
			.state = c->slot.state,
			.cpu = c->slot.cpu,
			.since = c->slot.since * US,
			.run_delay = c->slot.run_delay * US,
			.exec_ns = c->slot.exec * US,
			.wake = c->slot.wake * US,
			.lost_ns = c->slot.lost * US,
		};
		struct account_event e = {
			.now = c->event.now * US,
			.rq_clock = c->event.now * US + RQ,
			.clock_offset = -RQ,
			.run_delay = c->event.run_delay * US,
			.last_arrival = c->event.last_arrival * US + RQ,
			.exec_ns = c->event.exec * US,
			.stint_ns = c->event.stint * US,
			.cpu_since = c->event.cpu_since * US,
			.other_ns = c->event.other * US,
			.stolen_ns = c->event.stolen * US,
			.prev_state = c->event.frozen ? account_frozen(c->event.prev_state) : c->event.prev_state,
			.task_state = c->event.task_state,
			.preempt = c->event.preempt,
			.throttled = c->event.throttled,
			.cpu = 3,
		};
		uint32_t notes = account_out(&s, &e);

		check_times(c->rule, &s, &c->want);
		check(c->rule, "state", s.state, c->state);
		check(c->rule, "flags", s.flags, c->flags);
		check(c->rule, "notes", notes, c->notes);
		check(c->rule, "since", s.since, e.now);
		check(c->rule, "cpu", s.cpu, 3);
		check(c->rule, "run_delay", s.run_delay, e.run_delay);
		check(c->rule, "exec_ns", s.exec_ns, e.exec_ns);
		if (c->slot.state == SLOT_FREE)
			check(c->rule, "born_ns", s.born_ns, e.now - c->want.run * US);
	}
}

TEST(account, what_the_hypervisor_took)
{
	struct slot s = { .run_ns = 500 * US };

	account_steal(&s, 20 * US);
	check("taken out of its running time", "run_ns", s.run_ns, 480 * US);
	check("a state of its own", "steal_ns", s.steal_ns, 20 * US);
	account_steal(&s, 900 * US);
	check("no more than it ran", "run_ns", s.run_ns, 0);
	check("no more than it ran", "steal_ns", s.steal_ns, 500 * US);
}

/* If only switches to a thread are reported, its running time since the last one counts once. */
TEST(account, switches_out_never_reported)
{
	struct slot s = { .state = SLOT_RUNNING, .cpu = 3, .since = 1000 * US };

	for (uint64_t i = 1; i <= 25; i++) {
		struct account_event e = {
			.now = (1000 + 1000 * i) * US,
			.rq_clock = (1000 + 1000 * i) * US + RQ,
			.clock_offset = -RQ,
			.exec_ns = 4 * i * US,
			.cpu = 3,
		};

		account_in(&s, &e);
		s.state = SLOT_LOST;
		s.lost_ns = 4 * US;
	}
	assert_int_equal(s.run_ns, 25 * 4 * US);
	assert_int_equal(s.run_ns + s.sleep_ns, 25 * 1000 * US);
}

/* The values of a CPU whose last switch was 1 ms ago; a thread that leaves it now arrived 400 us ago. */
TEST(account, what_a_cpu_did)
{
	static const struct {
		const char *rule;
		bool idle, gap, was_idle;
		uint64_t ran, run, off;
	} cases[] = {
		{ "a thread ran", false, false, false, ACCOUNT_UNKNOWN, 1000, 0 },
		{ "it was idle", true, false, true, ACCOUNT_UNKNOWN, 0, 1000 },
		{ "idle until the switch that was missed", false, true, true, ACCOUNT_UNKNOWN, 400, 600 },
		{ "another thread ran until then", false, true, false, 600 * US, 1000, 0 },
		{ "another thread ran for a part of that", false, true, false, 100 * US, 500, 500 },
		{ "another thread ran, for how long is unknown", false, true, false, ACCOUNT_UNKNOWN, 1000, 0 },
		{ "a thread ran, then it was idle", true, true, false, 100 * US, 100, 900 },
		{ "a thread ran, when it left is unknown", true, true, false, ACCOUNT_UNKNOWN, 1000, 0 },
	};

	FOR_EACH (c, cases) {
		struct cpu_slot cpu = { .since = 1000 * US, .current_idle = c->was_idle };
		struct account_event e = {
			.now = 2000 * US,
			.cpu_since = 1000 * US,
			.last_arrival = 1600 * US + RQ,
			.clock_offset = -RQ,
			.stint_ns = ACCOUNT_UNKNOWN,
		};

		account_cpu(&cpu, &e, c->idle, c->gap, c->ran);
		check(c->rule, "run_ns", cpu.run_ns, c->run * US);
		check(c->rule, "idle_ns", cpu.idle_ns, c->off * US);
	}
}

TEST(account, states_add_up_to_the_time_alive)
{
	static const uint32_t prev_states[] = { 0, 1, 2, 4, 0x402, 0x1000 };
	struct slot s = { .state = SLOT_RUNQUEUE, .since = 1000 * US };
	uint64_t now = 1000 * US, sum;
	uint32_t random = 1;

	for (int i = 0; i < 10000; i++) {
		struct account_event e = { .cpu = random % 2, .last_arrival = RQ, .clock_offset = -RQ };

		random = random * 1103515245 + 12345;
		now += random >> 16;
		e.now = now;
		e.rq_clock = now + RQ;
		e.run_delay = now / 3;
		e.exec_ns = now / 5;
		e.stolen_ns = random >> 20;
		e.prev_state = e.task_state = prev_states[random % ARRAY_SIZE(prev_states)];
		if (random & 0x40) /* switches in and out in any order, with gaps */
			account_in(&s, &e);
		else
			account_out(&s, &e);
		sum = s.run_ns + s.irq_ns + s.runq_ns + s.d_ns + s.sleep_ns + s.stopped_ns;
		assert_int_equal(sum, now - 1000 * US);
		assert_true(s.throttled_ns <= s.runq_ns);
	}
}

/* Only the fair class notes a thread's running time when it picks the thread: the note is stale if another class, or
 * a BPF scheduler, has it. */
TEST(account, how_long_it_ran_since_it_was_picked)
{
	static const struct {
		int prio;
		bool sched_ext;
		uint64_t want;
	} cases[] = {
		{ 120, false, 30 * US },                 { 100, false, 30 * US },
		{ 99, false, ACCOUNT_UNKNOWN },          { -1, false, ACCOUNT_UNKNOWN },
		{ 120, true, ACCOUNT_UNKNOWN },          { 99, true, ACCOUNT_UNKNOWN },
	};

	FOR_EACH (c, cases)
		assert_int_equal(account_stint(c->prio, c->sched_ext, 100 * US, 70 * US), c->want);
}

TEST(account, histogram_slots)
{
	static const struct {
		uint64_t wait_ns;
		uint32_t want;
	} cases[] = {
		{ 0, 0 },       { 1023, 0 },     { 2047, 0 },      { 2048, 1 },     { 4095, 1 },
		{ 4096, 2 },    { 1 << 20, 10 }, { 3 << 19, 10 },  { 1ULL << 35, 22 },
		{ ~0ULL, 22 },  { 1ULL << 31, 21 },
	};

	FOR_EACH (c, cases)
		assert_int_equal(account_hist_slot(c->wait_ns), c->want);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(account_switch_in), cmocka_unit_test(account_switch_out),
		  cmocka_unit_test(account_what_the_hypervisor_took),
		  cmocka_unit_test(account_switches_out_never_reported),
		  cmocka_unit_test(account_what_a_cpu_did),
		  cmocka_unit_test(account_how_long_it_ran_since_it_was_picked),
		  cmocka_unit_test(account_states_add_up_to_the_time_alive),
		  cmocka_unit_test(account_histogram_slots));
}
