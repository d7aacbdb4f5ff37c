/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/cpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/model.h"

#define READ_TRIES 256

/* A CPU can be stolen in the middle of a switch, for ms: then it is looked at again after a nap. */
#define AGAIN_TIMES 10
#define AGAIN_NAP_NS 300000

struct cpu_reader {
	bool seen;
	uint64_t run_ns, idle_ns, irq_ns, switches;
};

struct cpus {
	const struct cpu_slot *slots;
	const struct shared *shared;
	int nr;
	uint64_t baseline; /* 0: not set yet */
	struct cpu_reader readers[];
};

struct cpus *cpus_new(const struct cpu_slot *slots, int nr, const struct shared *shared)
{
	struct cpus *c = calloc(1, sizeof(*c) + nr * sizeof(c->readers[0]));

	if (!c)
		return NULL;
	c->slots = slots;
	c->shared = shared;
	c->nr = nr;
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

int cpus_tick(struct cpus *c, struct model *model, uint64_t now)
{
	for (int i = 0; i < c->nr; i++) {
		struct cpu_reader *r = &c->readers[i];
		struct cpu_values v = { .cpu = i };
		struct cpu_slot copy;
		uint64_t run, idle, early;
		int err;

		if (!cpu_read(&c->slots[i], &copy) || !copy.since)
			continue;
		run = copy.run_ns;
		idle = copy.idle_ns;
		early = 0;
		if (now > copy.since)
			*(copy.current_idle ? &idle : &run) += now - copy.since;
		else
			early = copy.since - now;
		/* First seen after the baseline: the time before it is not of this interval. */
		if (!r->seen && c->baseline)
			*(idle > run ? &r->idle_ns : &r->run_ns) =
				c->baseline - c->shared->started_ns;
		cpu_show(r, run, idle, early, &v);
		v.irq_ns = copy.irq_ns - r->irq_ns;
		r->irq_ns = copy.irq_ns;
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
	for (int i = 0; i < c->nr; i++)
		for (int cause = 0; cause < LOSS_COUNT; cause++)
			loss[cause] += c->slots[i].loss[cause];
}

uint64_t cpus_bpf_ns(const struct cpus *c)
{
	uint64_t ns = 0;

	for (int i = 0; i < c->nr; i++)
		ns += c->slots[i].bpf_ns;
	return ns;
}

uint64_t cpus_suspended(const struct cpus *c)
{
	uint64_t ns = 0;

	for (int i = 0; i < c->nr; i++)
		if (c->slots[i].suspended_ns > ns)
			ns = c->slots[i].suspended_ns;
	return ns;
}
