/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/model.h"
#include "model/wait.h"

#define READ_TRIES 256

/* A CPU can be stolen in the middle of a switch, for ms: then it is looked at again after a nap. */
#define AGAIN_TIMES 10
#define AGAIN_NAP_NS 300000

struct cpu_reader {
	bool seen;
	uint64_t run_ns, idle_ns, hardirq_ns, softirq_ns, switches;
	uint32_t away[2][HIST_SLOTS];
};

struct cpus {
	struct cpus_memory mem;
	uint64_t baseline; /* 0: not set yet */
	struct cpu_reader readers[];
};

struct cpus *cpus_new(const struct cpus_memory *mem)
{
	struct cpus *c = calloc(1, sizeof(*c) + mem->nr * sizeof(c->readers[0]));

	if (c)
		c->mem = *mem;
	return c;
}

void cpus_free(struct cpus *c)
{
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

static bool cpu_read(const struct cpu_slot *slot, struct cpu_slot *copy)
{
	const struct timespec nap = { .tv_nsec = AGAIN_NAP_NS };

	for (int i = 0; i < AGAIN_TIMES; i++) {
		if (cpu_read_now(slot, copy))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

/*
 * Moves the shown sums on to @run and @idle, which reach @early ns too far, and puts the growth into
 * @v. A switch can come with an instant before the last tick (its CPU was stolen on the way to the
 * tracepoint), or after this one (it came while we read): what is shown too much of the one is then
 * taken from what grew of the other, and the next tick has the rest.
 */
static void cpu_show(struct cpu_reader *r, uint64_t run, uint64_t idle, uint64_t early,
		     struct cpu_values *v)
{
	int64_t grown = run + idle - (r->run_ns + r->idle_ns) - early;
	int64_t ran = run - r->run_ns;

	if (grown < 0)
		grown = 0;
	v->run_ns = ran < 0 ? 0 : ran < grown ? ran : grown;
	v->idle_ns = grown - v->run_ns;
	r->run_ns += v->run_ns;
	r->idle_ns += v->idle_ns;
}

static void cpu_show_irqs(struct cpu_reader *r, const struct cpu_slot *slot, struct cpu_values *v)
{
	v->hardirq_ns = slot->hardirq_ns - r->hardirq_ns;
	v->softirq_ns = slot->softirq_ns - r->softirq_ns;
	r->hardirq_ns = slot->hardirq_ns;
	r->softirq_ns = slot->softirq_ns;
}

/* Who runs there. */
static void cpu_show_now(const struct cpus *c, const struct cpu_slot *slot, int cpu, struct cpu_values *v)
{
	bool idle = slot->current_idle || slot->offline;
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

static void tick_latency(struct cpus *c, struct model *model)
{
	struct latency latency[2] = { 0 };

	for (int i = 0; i < c->mem.nr; i++) {
		for (int slot = 0; slot < 2 * HIST_SLOTS; slot++) {
			int d = slot / HIST_SLOTS, at = slot % HIST_SLOTS;
			uint32_t now = c->mem.slots[i].away_hist[d][at];

			latency[d].n[at + HIST_SHIFT] += now - c->readers[i].away[d][at];
			c->readers[i].away[d][at] = now;
		}
	}
	if (!model)
		return;
	model_latency(model, LATENCY_SLEEP, &latency[0]);
	model_latency(model, LATENCY_D, &latency[1]);
}

int cpus_tick(struct cpus *c, struct model *model, uint64_t now)
{
	tick_latency(c, model);
	for (int i = 0; i < c->mem.nr; i++) {
		struct cpu_reader *r = &c->readers[i];
		struct cpu_values v = { .cpu = i };
		struct cpu_slot copy;
		uint64_t run, idle, early;
		int err;

		if (!cpu_read(&c->mem.slots[i], &copy) || !copy.since)
			continue;
		run = copy.run_ns;
		idle = copy.idle_ns;
		early = 0;
		if (now > copy.since)
			*(copy.current_idle || copy.offline ? &idle : &run) += now - copy.since;
		else
			early = copy.since - now;
		/* First seen after the baseline: the time before it is not of this interval. */
		if (!r->seen && c->baseline)
			*(idle > run ? &r->idle_ns : &r->run_ns) =
				c->baseline - c->mem.shared->started_ns;
		cpu_show(r, run, idle, early, &v);
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
		ns += c->mem.slots[i].bpf_ns;
	return ns;
}

uint64_t cpus_suspended(const struct cpus *c)
{
	uint64_t ns = 0;

	for (int i = 0; i < c->mem.nr; i++)
		if (c->mem.slots[i].suspended_ns > ns)
			ns = c->mem.slots[i].suspended_ns;
	return ns;
}
