/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows for interrupts, for the time of each CPU, and for the threads that ran while another one waited. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "collect/areas.h"
#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "collect/cpus.h"
#include "collect/irq_lines.h"
#include "collect/irqs.h"
#include "collect/maxima.h"
#include "collect/slots.h"
#include "collect/waits.h"
#include "model/model.h"
#include "slot.h"
#include "util/online.h"

#include "systop.skel.h"

/* --- Interrupts */

/* Whether softirqs are preemptible here. Not every such kernel has /sys/kernel/realtime. */
static bool is_realtime(void)
{
	struct utsname uts;

	return !uname(&uts) && strstr(uts.version, "PREEMPT_RT");
}

/* The line of the CPUs' timers, or IRQ_NO_LINE: on x86 they have a vector of their own. */
static uint32_t timer_line(void)
{
	static const char *const handlers[] = { "arch_timer", "riscv-timer" };
	long line = -1;

	for (size_t i = 0; line < 0 && i < sizeof(handlers) / sizeof(handlers[0]); i++)
		line = irq_lines_find("/proc/interrupts", handlers[i]);
	return line < 0 ? IRQ_NO_LINE : (uint32_t)line;
}

static void irqs_configure(struct systop *skel, struct load *l)
{
	(void)l;
	skel->rodata->timer_line = timer_line();
	skel->rodata->preempt_rt = is_realtime();
	skel->rodata->irq_named = maxima()->irq_lines;
}

static int irqs_open(struct collect *c)
{
	struct irqs_memory mem = {
		.areas = areas_list(c->areas),
		.lines = collect_map(c, c->skel->maps.irq_lines, PROT_READ | PROT_WRITE),
		.nr_given = &c->shared->irq_lines,
		.named = c->skel->rodata->irq_named,
		.path = "/proc/interrupts",
		.cpus = c->cpus_memory,
		.nr_cpus = c->nr_cpus,
	};

	if (!mem.lines)
		return -errno;
	c->irqs = irqs_new(&mem);
	return c->irqs ? 0 : -ENOMEM;
}

static int irqs_baseline(struct collect *c, uint64_t now)
{
	(void)now;
	return irqs_tick(c->irqs, NULL);
}

static void irqs_row_capture(struct collect *c)
{
	irqs_capture(c->irqs);
}

static bool timers_are_line(const struct collect *c)
{
	return c->skel->rodata->timer_line != IRQ_NO_LINE;
}

/* Whether a program watches the timers of the CPUs. */
static bool timers_watched(const struct collect *c)
{
	return bpf_program__autoload(timers_are_line(c) ? c->skel->progs.irq_handler_entry : c->skel->progs.local_timer_entry);
}

/* Whether timer interrupts come without being seen by the program. */
static bool timers_unseen(const struct collect *c)
{
	return timers_watched(c) && irqs_timers_unseen(c->irqs, cpus_busy_ns(c->cpus));
}

static int irqs_row_tick(struct collect *c, uint64_t now)
{
	bool unseen = timers_unseen(c);

	(void)now;
	cpus_timers(c->cpus, timers_watched(c) && !unseen);
	if (unseen)
		model_timers_unseen(c->model);
	return irqs_tick(c->irqs, c->model);
}

static const char *irqs_deaf(const struct collect *c, const char *program)
{
	if (strcmp(program, "local_timer_entry") || !timers_unseen(c))
		return NULL;
	return "timer interrupts are not seen here (Hyper-V's have no tracepoint): their time counts for the thread that "
	       "they interrupted, which is shown as waker";
}

static const char *irqs_elsewhere(const struct collect *c, const char *program)
{
	if (!bpf_program__autoload(c->skel->progs.irq_handler_entry))
		return NULL;
	if (!strcmp(program, "local_timer_entry") && timers_are_line(c))
		return "timers of CPUs: their interrupts are a line here, see irq_handler_entry";
	if (!strcmp(program, "reschedule_entry") && irqs_ipis_are_lines())
		return "interrupts from other CPUs: they are lines here, see irq_handler_entry";
	return NULL;
}

static const struct collector_program irqs_programs[] = {
	{ .name = "softirq_entry", .what = "softirqs: their time, and the threads they wake",
	  .without = "no such tracepoint: a bystander is shown as waker" },
	{ .name = "irq_handler_entry", .what = "interrupts: their time, and the threads they wake",
	  .without = "no such tracepoint: a bystander is shown as waker" },
	{ .name = "local_timer_entry", .what = "timers of CPUs: their time, gaps, the threads they wake",
	  .without = "no such tracepoint: its time counts as the interrupted thread's, which is shown as waker" },
	{ .name = "reschedule_entry", .what = "interrupts from other CPUs: their time, and the threads they wake",
	  .without = "no such tracepoint: their time counts as the interrupted thread's, which is shown as waker" },
	{ 0 }
};

const struct collector collector_irqs = {
	.name = "interrupts",
	.programs = irqs_programs,
	.configure = irqs_configure,
	.open = irqs_open,
	.baseline = irqs_baseline,
	.capture = irqs_row_capture,
	.tick = irqs_row_tick,
	.deaf = irqs_deaf,
	.elsewhere = irqs_elsewhere,
};

/* --- The time of each CPU */

static int cpus_open(struct collect *c)
{
	c->cpus = cpus_new(&(struct cpus_memory){
		.slots = c->cpus_memory,
		.nr = c->nr_cpus,
		.shared = c->shared,
		.threads = c->threads,
		.max_threads = c->max_threads,
		.queued = slots_queued(c->sched),
		.running = slots_running(c->sched),
		.ticks = timers_watched(c),
	});
	return c->cpus ? 0 : -ENOMEM;
}

static int cpus_baseline(struct collect *c, uint64_t now)
{
	return cpus_tick(c->cpus, NULL, now);
}

static void cpus_row_capture(struct collect *c)
{
	cpus_capture(c->cpus);
}

static int cpus_row_tick(struct collect *c, uint64_t now)
{
	return cpus_tick(c->cpus, c->model, now);
}

static void cpus_row_loss(const struct collect *c, uint64_t loss[LOSS_COUNT])
{
	cpus_loss(c->cpus, loss);
}

static void cpus_cost(const struct collect *c, struct self_cost *cost)
{
	cost->bpf_ns += cpus_bpf_ns(c->cpus);
}

const struct collector collector_cpus = {
	.name = "CPUs",
	.open = cpus_open,
	.baseline = cpus_baseline,
	.capture = cpus_row_capture,
	.tick = cpus_row_tick,
	.loss = cpus_row_loss,
	.cost = cpus_cost,
};

/* --- Which threads ran instead of a waiting one, and what woke it */

static void waits_configure(struct systop *skel, struct load *l)
{
	uint64_t wait_ns = l->options->wait_ns;

	skel->rodata->wait_ns = wait_ns;
	skel->bss->shared.wait_price_ns = waits_price(online_count(l->online));
	skel->rodata->away_ns = wait_ns < AWAY_NS ? wait_ns : AWAY_NS;
}

static int waits_open(struct collect *c)
{
	struct waits_memory mem = {
		.areas = areas_list(c->areas),
		.cpus = c->cpus_memory,
		.slots = c->threads,
		.nr_cpus = c->nr_cpus,
		.max_slots = c->max_threads,
	};

	c->waits = waits_new(&mem, c->model, slots_life, c->sched);
	return c->waits ? 0 : -ENOMEM;
}

static int waits_row_drain(void *state)
{
	return waits_drain(state);
}

static int waits_row_take(void *state, uint32_t index, const struct slot *copy, bool over, uint32_t *taken)
{
	return waits_take(state, index, copy, over, taken);
}

static int waits_met(void *state, const struct collector_thread *t)
{
	return waits_show(state, t->taken, t->life);
}

static int waits_threads_end(void *state, uint64_t now, bool baseline)
{
	(void)now;
	/* Most events that arrived while slots were read predate the baseline. */
	int err = baseline ? waits_drain(state) : 0;

	waits_end(state);
	return err;
}

/* Factor of the price of a wait while waits are shed. */
#define WAITS_SHED_TIMES 64

static int waits_follow(struct collect *c, bool changed)
{
	if (changed)
		c->shared->wait_price_ns = waits_price(online_count(c->online)) * c->waits_rarely;
	return 0;
}

static void waits_shed(struct collect *c, bool shed)
{
	c->waits_rarely = shed ? WAITS_SHED_TIMES : 1;
	waits_follow(c, true);
}

static bool waits_row_due(const struct collect *c)
{
	return waits_due(c->waits);
}

static void waits_loss(const struct collect *c, uint64_t loss[LOSS_COUNT])
{
	loss[LOSS_WAITS] += waits_lost(c->waits);
}

const struct collector collector_waits = {
	.name = "waits",
	.sheds = {
		{ "waits", "what ran during waits and what woke threads, except 390 per second and CPU, 1,170 on all CPUs", 40,
		  SHEDS(BUDGET_CPU), waits_shed },
	},
	.configure = waits_configure,
	.open = waits_open,
	.due = waits_row_due,
	.follow = waits_follow,
	.drain = waits_row_drain,
	.thread_take = waits_row_take,
	.thread_met = waits_met,
	.threads_end = waits_threads_end,
	.loss = waits_loss,
};
