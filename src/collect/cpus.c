/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/cpus.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/model.h"
#include "model/wait.h"

#define READ_TRIES 256

/* The hypervisor can take a CPU away in the middle of a switch, for ms: it is then read again after a nap. */
#define AGAIN_TIMES 10
#define AGAIN_NAP_NS 300000

struct cpu_reader {
	bool seen;
	uint64_t run_ns, idle_ns, steal_ns, hardirq_ns, softirq_ns, switches;
	uint32_t away[2][HIST_SLOTS];
};

struct cpus {
	struct cpus_memory mem;
	uint64_t baseline; /* 0: not set yet */
	struct cpu_capture {
		bool read;
		struct cpu_slot copy;
	} *captures;       /* of cpus_capture() */
	struct cpu_reader readers[];
};

struct cpus *cpus_new(const struct cpus_memory *mem)
{
	struct cpus *c = calloc(1, sizeof(*c) + mem->nr * sizeof(c->readers[0]));

	if (!c)
		return NULL;
	c->mem = *mem;
	c->captures = calloc(mem->nr, sizeof(*c->captures));
	if (c->captures)
		return c;
	free(c);
	return NULL;
}

void cpus_free(struct cpus *c)
{
	if (c)
		free(c->captures);
	free(c);
}

static bool cpu_read_now(const struct cpu_slot *slot, struct cpu_slot *copy)
{
	for (int i = 0; i < READ_TRIES; i++) {
		uint64_t done = __atomic_load_n(&slot->switches_done, __ATOMIC_ACQUIRE);

		memcpy(copy, slot, sizeof(*copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&slot->switches, __ATOMIC_RELAXED) == done)
			return true;
	}
	return false;
}

void cpus_capture(struct cpus *c)
{
	for (int i = 0; i < c->mem.nr; i++)
		c->captures[i].read = cpu_read_now(&c->mem.slots[i], &c->captures[i].copy);
}

static bool cpu_read(const struct cpu_slot *slot, struct cpu_capture *captured, struct cpu_slot *copy)
{
	const struct timespec nap = { .tv_nsec = AGAIN_NAP_NS };

	if (captured->read) {
		*copy = captured->copy;
		captured->read = false;
		return true;
	}
	for (int i = 0; i < AGAIN_TIMES; i++) {
		if (cpu_read_now(slot, copy))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

/* What the CPU did up to an instant, ns. */
struct cpu_sums {
	uint64_t run, idle, steal;
};

/* The sums at @now; time stolen since the last switch is not yet in any of them. */
static struct cpu_sums cpu_sums(const struct cpu_slot *slot, uint64_t now)
{
	struct cpu_sums sums = { slot->run_ns, slot->idle_ns, slot->steal_ns };
	uint64_t since = now > slot->since && !slot->offline ? now - slot->since : 0, steal = 0;
	uint64_t irq = slot->hardirq_ns + slot->softirq_ns - slot->irq_charged;

	if (slot->steal_charged && slot->steal_seen > slot->steal_charged && since > irq)
		steal = slot->steal_seen - slot->steal_charged;
	if (steal && steal > since - irq)
		steal = since - irq;
	*(slot->current_idle ? &sums.idle : &sums.run) += since - steal;
	sums.steal += steal;
	return sums;
}

/* The part of @grown for a sum that went from @before to @now. */
static uint64_t cpu_part(uint64_t now, uint64_t before, int64_t grown)
{
	int64_t part = now - before;

	return part < 0 ? 0 : part < grown ? part : grown;
}

/*
 * Advances the shown sums to @sums, which reach @early ns too far, and puts the growth into @v. A switch can have a
 * timestamp before the last tick (its CPU was stolen on the way to the tracepoint), or after this one (it came while we
 * read): if one sum was shown too large, the excess is deducted from the growth of the others, and the next tick gets
 * the rest.
 */
static void cpu_show(struct cpu_reader *r, const struct cpu_sums *sums, uint64_t early, struct cpu_values *v)
{
	int64_t grown = sums->run + sums->idle + sums->steal - (r->run_ns + r->idle_ns + r->steal_ns) - early;

	if (grown < 0)
		grown = 0;
	v->steal_ns = cpu_part(sums->steal, r->steal_ns, grown);
	v->run_ns = cpu_part(sums->run, r->run_ns, grown - v->steal_ns);
	v->idle_ns = grown - v->steal_ns - v->run_ns;
	r->run_ns += v->run_ns;
	r->idle_ns += v->idle_ns;
	r->steal_ns += v->steal_ns;
}

static void cpu_show_irqs(struct cpu_reader *r, const struct cpu_slot *slot, struct cpu_values *v)
{
	v->hardirq_ns = slot->hardirq_ns - r->hardirq_ns;
	v->softirq_ns = slot->softirq_ns - r->softirq_ns;
	r->hardirq_ns = slot->hardirq_ns;
	r->softirq_ns = slot->softirq_ns;
}

/* Sets the thread that runs on the CPU. */
static void cpu_show_now(const struct cpus *c, const struct cpu_slot *slot, int cpu, struct cpu_values *v)
{
	bool idle = slot->current_idle || slot->offline; /* it went offline in this interval */
	uint32_t index = slot->current_slot;
	const struct slot *thread = index && index < c->mem.max_threads ? &c->mem.threads[index] : NULL;

	v->tid = idle ? 0 : -1;
	if (!idle && thread) {
		v->tid = thread->tid;
		memcpy(v->comm, thread->comm, sizeof(v->comm) - 1);
	}
	v->queued = c->mem.queued ? c->mem.queued[cpu] : 0;
}

static void cpu_show_gap(const struct cpus *c, struct cpu_slot *slot, struct cpu_values *v)
{
	if (!c->mem.ticks || slot->tickless)
		v->gap_ns = VALUE_NA;
	else if (slot->gap_ns)
		v->gap_ns = __atomic_exchange_n(&slot->gap_ns, 0, __ATOMIC_RELAXED);
	if (!v->gap_ns || v->gap_ns == VALUE_NA)
		return;
	v->gap_at = slot->gap_at + slot->suspended_ns;
	v->gap_tid = slot->gap_tid;
}

static void tick_hists(struct cpus *c, struct model *model)
{
	struct hist sleep = { 0 }, d = { 0 };

	for (int i = 0; i < c->mem.nr; i++) {
		hist_grew(&sleep, HIST_SHIFT, c->mem.slots[i].away_hist[0], c->readers[i].away[0], HIST_SLOTS);
		hist_grew(&d, HIST_SHIFT, c->mem.slots[i].away_hist[1], c->readers[i].away[1], HIST_SLOTS);
	}
	if (!model)
		return;
	model_hist(model, HIST_SLEEP, &sleep);
	model_hist(model, HIST_D, &d);
}

/* There was no switch since the start: the CPU still runs what it ran then, a thread or idle. */
static void cpu_still(const struct cpus *c, struct cpu_slot *slot, int cpu)
{
	slot->since = c->mem.shared->started_ns;
	slot->current_slot = c->mem.running ? c->mem.running[cpu] : 0;
	slot->current_idle = !slot->current_slot;
}

/* Whether the CPU is offline and completely shown. More than it did may have been shown before it was known to be
 * offline. */
static bool cpu_is_off(struct cpu_reader *r, const struct cpu_slot *slot, const struct cpu_sums *sums)
{
	if (!slot->offline || sums->run + sums->idle + sums->steal > r->run_ns + r->idle_ns + r->steal_ns)
		return false;
	r->seen = true;
	r->run_ns = sums->run;
	r->idle_ns = sums->idle;
	r->steal_ns = sums->steal;
	return true;
}

int cpus_tick(struct cpus *c, struct model *model, uint64_t now)
{
	tick_hists(c, model);
	for (int i = 0; i < c->mem.nr; i++) {
		struct cpu_reader *r = &c->readers[i];
		struct cpu_values v = { .cpu = i };
		struct cpu_slot copy;
		struct cpu_sums sums;
		int err;

		if (!cpu_read(&c->mem.slots[i], &c->captures[i], &copy))
			continue;
		if (!copy.since && !copy.offline)
			cpu_still(c, &copy, i);
		sums = cpu_sums(&copy, now);
		if (cpu_is_off(r, &copy, &sums))
			continue;
		/* First seen after the baseline: the time before it is not part of this interval. */
		if (!r->seen && c->baseline)
			*(sums.idle > sums.run ? &r->idle_ns : &r->run_ns) =
				c->baseline - c->mem.shared->started_ns;
		cpu_show(r, &sums, copy.since > now ? copy.since - now : 0, &v);
		if (!c->mem.shared->steal_known)
			v.steal_ns = VALUE_NA;
		cpu_show_irqs(r, &copy, &v);
		cpu_show_now(c, &copy, i, &v);
		cpu_show_gap(c, &c->mem.slots[i], &v);
		v.switches = copy.switches - r->switches;
		r->seen = true;
		r->switches = copy.switches;
		if (!model)
			continue;
		err = model_cpu(model, &v);
		if (err)
			return err;
	}
	if (!model)
		c->baseline = now;
	return 0;
}

void cpus_timers(struct cpus *c, bool seen)
{
	c->mem.ticks = seen;
}

uint64_t cpus_busy_ns(const struct cpus *c)
{
	uint64_t ns = 0;

	for (int i = 0; i < c->mem.nr; i++)
		if (!c->mem.slots[i].tickless)
			ns += c->readers[i].run_ns;
	return ns;
}

void cpus_loss(const struct cpus *c, uint64_t loss[LOSS_COUNT])
{
	for (int i = 0; i < c->mem.nr; i++)
		for (int cause = 0; cause < LOSS_COUNT; cause++)
			loss[cause] += c->mem.slots[i].loss[cause];
}

uint64_t cpus_bpf_ns(const struct cpus *c)
{
	uint64_t ns = 0;

	for (int i = 0; i < c->mem.nr; i++)
		ns += c->mem.slots[i].bpf_ns + c->mem.slots[i].sample_ns;
	return ns;
}
