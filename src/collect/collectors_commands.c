/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The row of command lines. */
#include <errno.h>

#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "collect/commands.h"

static int commands_open(struct collect *c)
{
	c->commands = commands_new(c->model, c->options->commands_role);
	return c->commands ? 0 : -ENOMEM;
}

static void commands_row_health(const struct collect *c, struct health *h)
{
	commands_health(c->commands, h);
}

static void commands_close(struct collect *c)
{
	commands_free(c->commands);
}

const struct collector collector_commands = {
	.name = "commands",
	.open = commands_open,
	.health = commands_row_health,
	.close = commands_close,
};
