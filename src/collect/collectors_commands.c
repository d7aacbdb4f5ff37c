/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The row of command lines. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>

#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "collect/commands.h"
#include "collect/slots.h"
#include "model/health.h"
#include "slot.h"

#include "systop.skel.h"

static int commands_open(struct collect *c)
{
	const struct commands_options o = {
		.model = c->model,
		.role = c->options->commands_role,
		.ring_fd = bpf_map__fd(c->skel->maps.commands),
		.cpus = c->cpus_memory,
		.nr_cpus = c->nr_cpus,
		.life = slots_life,
		.arg = c->sched,
	};

	c->commands = commands_new(&o);
	return c->commands ? 0 : -ENOMEM;
}

static int commands_row_drain(void *state)
{
	int read = commands_drain(state);

	return read < 0 ? read : 0;
}

static bool commands_row_due(const struct collect *c)
{
	return commands_due(c->commands);
}

static void commands_loss(const struct collect *c, uint64_t loss[LOSS_COUNT])
{
	loss[LOSS_COMMANDS] += commands_lost(c->commands);
}

static void commands_row_health(const struct collect *c, struct health *h)
{
	uint64_t started = 0, unread = 0;

	for (int cpu = 0; cpu < c->nr_cpus; cpu++) {
		started += c->cpus_memory[cpu].commands;
		unread += c->cpus_memory[cpu].commands_unread;
	}
	commands_health(c->commands, h);
	health_add(h, "Maps", "programs started", HEALTH_FACT,
		   "%" PRIu64 ", of which %" PRIu64 " had arguments that could not be read then", started, unread);
}

const struct collector collector_commands = {
	.name = "commands",
	.open = commands_open,
	.due = commands_row_due,
	.drain = commands_row_drain,
	.loss = commands_loss,
	.health = commands_row_health,
};
