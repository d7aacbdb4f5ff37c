/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The row of the recorder. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "model/model.h"
#include "record/rings.h"
#include "slot.h"
#include "util/clock.h"
#include "util/fail.h"
#include "util/online.h"

#include "systop.skel.h"

/* The recorder's part of --max-mem: with more it would be shed at once. */
#define MEMORY_PART 4

static uint64_t limited(const struct collect_options *o, uint64_t bytes)
{
	uint64_t part = o->max_memory / MEMORY_PART;

	return part && part < bytes ? part : bytes;
}

static void recorder_configure(struct systop *skel, struct load *l)
{
	const struct collect_options *o = l->options;

	if (!l->ring_slots) {
		l->ring_slots = rings_size(o->window_s, limited(o, o->window_bytes), limited(o, o->memory_spare),
					   online_count(l->online));
		l->ring_fd = l->ring_slots ? rings_pattern(l->ring_slots) : -1;
		if (l->ring_fd < 0)
			l->ring_slots = 0;
	}
	bpf_map__set_max_entries(skel->maps.rings, online_possible(l->online));
	skel->rodata->ring_bits = l->ring_slots ? __builtin_ctz(l->ring_slots) : 0;
	if (l->ring_slots)
		bpf_map__set_inner_map_fd(skel->maps.rings, l->ring_fd);
}

static int recorder_open(struct collect *c)
{
	const struct collect_options *o = c->options;
	struct rings_options rings = {
		.map_fd = bpf_map__fd(c->skel->maps.rings),
		.pattern_fd = c->load.ring_fd,
		.cpus = c->cpus_memory,
		.nr_cpus = c->nr_cpus,
		.online = c->online,
		.max_bytes = rings_room(limited(o, o->window_bytes), limited(o, o->memory_spare)),
		.slots = c->load.ring_slots,
		.window_s = o->window_s,
		.save_s = o->save_s,
	};

	c->recorder = rings_new(&rings);
	if (!c->recorder)
		return -ENOMEM;
	c->load.ring_fd = -1;
	return 0;
}

static int recorder_ready(struct collect *c)
{
	int err;

	if (!c->options->window_now)
		return 0;
	while ((err = rings_grow(c->recorder)) > 0)
		;
	if (!err)
		return 0;
	fail(err, EXIT_STATUS_RUNTIME, "cannot record all CPUs: %s", strerror(-err));
	fail_why("all rings together take --window-mem, which the kernel cannot swap out, and the limit of systop's cgroup counts");
	fail_fix("systop --window-mem 64M    # or less");
	return err;
}

static bool recorder_due(const struct collect *c)
{
	return rings_missing(c->recorder);
}

static void recorder_grow(struct collect *c)
{
	rings_grow(c->recorder); /* its health line reports a failure */
}

static void recorder_after(struct collect *c)
{
	rings_tick(c->recorder, clock_ns(CLOCK_BOOTTIME));
}

static void recorder_cost(const struct collect *c, struct self_cost *cost)
{
	cost->recorder_bytes += rings_bytes(c->recorder);
}

static void recorder_shed(struct collect *c, bool shed)
{
	rings_shed(c->recorder, shed);
}

static void recorder_health(const struct collect *c, struct health *h)
{
	rings_health(c->recorder, h);
}

/* A run that ends with a trace has no other purpose; one with --window 0 records nothing. */
static bool recorder_can_go(const struct collect_options *o)
{
	return o->window_s && !o->window_now;
}

const struct collector collector_recorder = {
	.name = "recorder",
	.sheds = {
		{ "recorder", "nothing is recorded: no traces, no seconds in detail", 60, SHEDS(BUDGET_CPU) | SHEDS(BUDGET_MEMORY),
		  recorder_shed, recorder_can_go },
	},
	.cost = recorder_cost,
	.configure = recorder_configure,
	.open = recorder_open,
	.ready = recorder_ready,
	.due = recorder_due,
	.grow = recorder_grow,
	.after = recorder_after,
	.health = recorder_health,
};
