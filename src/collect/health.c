/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/health.h"

#include <bpf/libbpf.h>
#include <inttypes.h>
#include <string.h>

#include "collect/files.h"
#include "collect/samplers.h"
#include "model/health.h"
#include "model/loss_names.h"
#include "slot.h"
#include "util/format.h"

/* What each program is for, and what is missing without it. */
static const struct {
	const char *name, *what, *without;
} programs[] = {
	{ "sched_switch", "where every thread's time goes", "" },
	{ "sched_waking", "wakeups, where waits begin", "" },
	{ "sched_wakeup_new", "threads that are born", "" },
	{ "sched_process_free", "threads whose end was missed", "" },
	{ "sched_process_exec", "names after exec", "" },
	{ "task_rename", "names that threads give themselves",
	  "the kernel does not let programs read names (lockdown?): threads keep the name they had" },
	{ "seed_task", "threads that were there before systop", "" },
	{ "cgroup_attach_task", "threads moved to another cgroup", "" },
	{ "softirq_entry", "softirqs: their time, and whom they wake", "no such tracepoint: a bystander is shown as waker" },
	{ "irq_handler_entry", "interrupts: their time, and whom they wake",
	  "no such tracepoint: a bystander is shown as waker" },
	{ "local_timer_entry", "CPUs' timers: their time, gaps, whom they wake",
	  "no such tracepoint: its time is the thread's that it interrupted, which is shown as waker" },
	{ "reschedule_entry", "interrupts from other CPUs: their time, and whom they wake",
	  "no such tracepoint: their time is the thread's that they interrupted, which is shown as waker" },
};

static const char *const sample_classes[SAMPLE_CLASSES] = {
	[SAMPLE_THREAD] = "threads", [SAMPLE_KERNEL] = "kernel threads",
	[SAMPLE_IDLE] = "idle",      [SAMPLE_GUEST] = "virtual machines",
	[SAMPLE_ENTRY] = "entering the kernel",
	[SAMPLE_SELF] = "systop",    [SAMPLE_MISSED] = "between two threads",
};

/* What runs, and is never called. */
static bool is_deaf(const char *name, bool timers_unseen)
{
	return timers_unseen && !strcmp(name, "local_timer_entry");
}

void health_programs(struct health *h, const struct bpf_object *object, bool timers_unseen)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const struct bpf_program *p =
			bpf_object__find_program_by_name(object, programs[i].name);

		if (!p || !bpf_program__autoload(p))
			health_add(h, "Probes", programs[i].name, HEALTH_OFF, "%s",
				   programs[i].without);
		else if (is_deaf(programs[i].name, timers_unseen))
			health_add(h, "Probes", programs[i].name, HEALTH_DEGRADED,
				   "timer interrupts are not seen here (Hyper-V's have no tracepoint): their time is the thread's that "
				   "they interrupted, which is shown as waker");
		else
			health_add(h, "Probes", programs[i].name, HEALTH_ON, "%s", programs[i].what);
	}
}

void health_samplers(struct health *h, const struct samplers *s, const struct cpu_slot *cpus, int nr)
{
	int running, wanted, hz;
	const char *event;
	long from, now;

	samplers_state(s, &running, &wanted, &hz, &event);
	if (running < wanted)
		health_add(h, "Probes", "sample", HEALTH_DEGRADED,
			   "on %d of %d CPUs: perf events cannot be opened on the others", running, wanted);
	else
		health_add(h, "Probes", "sample", HEALTH_ON, "what runs, %d times a second on %d CPUs, by %s",
			   hz, running, event);
	samplers_rate(s, &from, &now);
	if (now < from)
		health_add(h, "Probes", "sample rate", HEALTH_DEGRADED,
			   "kernel.perf_event_max_sample_rate fell from %ld to %ld: samples took long; see --clock=cpu", from, now);
	for (int class = 0; class < SAMPLE_CLASSES; class++) {
		uint64_t sum = 0;

		for (int cpu = 0; cpu < nr; cpu++)
			sum += cpus[cpu].samples[class];
		health_add(h, "Samples since the start", sample_classes[class], HEALTH_FACT,
			   "%10" PRIu64, sum);
	}
}

void health_stacks(struct health *h, const struct files *files, const struct cpu_slot *cpus, int nr)
{
	uint64_t skipped = 0, waited = 0;

	for (int cpu = 0; cpu < nr; cpu++) {
		skipped += cpus[cpu].stacks_skipped;
		waited += cpus[cpu].files_waited;
	}
	files_health(files, waited, h);
	health_add(h, "Maps", "blocks without a stack", HEALTH_FACT,
		   "%" PRIu64 " long ones, above what a CPU may spend on stacks", skipped);
}

void health_stack_ends(struct health *h, const uint64_t ends[STACK_ENDS])
{
	static const char *const names[STACK_ENDS] = {
		[STACK_COMPLETE] = "at a root",       [STACK_TRUNCATED] = "caller not told",
		[STACK_UNREADABLE] = "not readable",  [STACK_NO_CODE] = "no code there",
		[STACK_TOO_DEEP] = "too deep",        [STACK_NO_RULE] = "no rule",
		[STACK_EXEC] = "inside execve",
	};

	for (int end = 0; end < STACK_ENDS; end++)
		health_add(h, "User stacks end", names[end], HEALTH_FACT, "%10" PRIu64, ends[end]);
}

void health_slots(struct health *h, const struct shared *shared, uint32_t max, uint64_t map_bytes)
{
	char bytes[16];

	health_add(h, "Maps", "slots", shared->slots_used + 1 < max ? HEALTH_ON : HEALTH_DEGRADED,
		   "%u of %u were in use at once: %.1f %%", shared->slots_used, max - 1,
		   100.0 * shared->slots_used / (max - 1));
	health_add(h, "Maps", "memory", HEALTH_FACT, "%s",
		   format_value(bytes, sizeof(bytes), UNIT_BYTES, map_bytes, 0));
}

void health_loss(struct health *h, const uint64_t loss[LOSS_COUNT])
{
	for (int i = 0; i < LOSS_COUNT; i++)
		health_add(h, i < LOSS_REPAIRED ? "Lost since the start" : "Repaired since the start", loss_names[i].name, HEALTH_FACT,
			   "%10" PRIu64 "  %s", loss[i], loss_names[i].help);
}
