/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of what threads used, bytes and memory, which slots request (slots_usage.c), and of facts about what the screen
 * shows. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "collect/facts.h"
#include "collect/slots.h"
#include "collect/usages.h"
#include "model/model.h"
#include "util/online.h"

#include "systop.skel.h"

static int usage_open(struct collect *c)
{
	struct usages_memory mem = {
		.prog_fd = bpf_program__fd(c->skel->progs.usage_read),
		.asked = collect_map(c, c->skel->maps.usage_asked, PROT_READ | PROT_WRITE),
	};

	if (!mem.asked)
		return -errno;
	c->usage = usages_new(&mem);
	if (!c->usage)
		return -ENOMEM;
	slots_usage(c->sched, c->usage);
	return 0;
}

/* The kernel's percpu_counter_batch, and its TASK_RSS_EVENTS_THRESH, in pages; there are three counters in RSS. */
#define BATCH_LEAST 32
#define BATCH_THREAD 64
#define COUNTERS 3

static int usage_tick(struct collect *c, uint64_t now)
{
	uint64_t cpus = online_count(c->online), batch = 2 * cpus > BATCH_LEAST ? 2 * cpus : BATCH_LEAST;
	uint64_t page = sysconf(_SC_PAGESIZE);
	struct level_error error = { 0 };

	(void)now;
	if (usages_batched(c->usage))
		error.process = COUNTERS * batch * cpus * page;
	else
		error.thread = COUNTERS * BATCH_THREAD * page;
	model_rss_error(c->model, &error);
	return 0;
}

static const struct collector_program usage_programs[] = {
	{ .name = "usage_read", .what = "bytes that threads read and wrote, memory of processes",
	  .without = "the kernel does not run it: READ, WRITE, RSS and SWAP are unknown", .attempt = 2 },
	{ 0 }
};

const struct collector collector_usage = {
	.name = "usage",
	.programs = usage_programs,
	.open = usage_open,
	.tick = usage_tick,
};

/* --- Facts about what the screen shows */

static int facts_open(struct collect *c)
{
	c->facts = facts_new(c->options->facts_role, c->cgroups);
	return c->facts ? 0 : -ENOMEM;
}

static void facts_row_health(const struct collect *c, struct health *h)
{
	facts_health(c->facts, h);
}

const struct collector collector_facts = {
	.name = "memory facts",
	.open = facts_open,
	.health = facts_row_health,
};
