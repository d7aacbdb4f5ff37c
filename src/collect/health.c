/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/health.h"

#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdbool.h>

#include "collect/budget.h"
#include "collect/collector.h"
#include "collect/slot_values.h"
#include "helper/helper.h"
#include "model/health.h"
#include "model/loss_names.h"
#include "slot.h"
#include "util/format.h"

static void health_program(struct health *h, const struct collect *c, const struct bpf_object *object,
			   const struct collector *row, const struct collector_program *program)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(object, program->name);
	const char *deaf = row->deaf ? row->deaf(c, program->name) : NULL;
	bool runs = p && bpf_program__autoload(p);
	const char *elsewhere = !runs && row->elsewhere ? row->elsewhere(c, program->name) : NULL;

	if (!runs && elsewhere)
		health_add(h, "Probes", program->name, HEALTH_ON, "%s", elsewhere);
	else if (!runs)
		health_add(h, "Probes", program->name, HEALTH_OFF, "%s", program->without ? program->without : "");
	else if (deaf)
		health_add(h, "Probes", program->name, HEALTH_DEGRADED, "%s", deaf);
	else
		health_add(h, "Probes", program->name, HEALTH_ON, "%s", program->what);
}

void health_programs(struct health *h, const struct collect *c, const struct bpf_object *object)
{
	for (int i = 0; i < COLLECTOR_COUNT; i++)
		for (const struct collector_program *p = collectors[i]->programs; p && p->name; p++)
			if (p->what)
				health_program(h, c, object, collectors[i], p);
}

void health_stack_ends(struct health *h, const uint64_t ends[STACK_ENDS])
{
	static const char *const names[STACK_ENDS] = {
		[STACK_COMPLETE] = "at a root",       [STACK_TRUNCATED] = "caller not found",
		[STACK_UNREADABLE] = "memory not readable",  [STACK_NO_CODE] = "no code there",
		[STACK_TOO_DEEP] = "too deep",        [STACK_NO_RULE] = "no rule for the caller",
		[STACK_EXEC] = "inside execve",
	};

	for (int end = 0; end < STACK_ENDS; end++)
		health_add(h, "User stacks end", names[end], HEALTH_FACT, "%10" PRIu64, ends[end]);
}

void health_slots(struct health *h, const struct shared *shared, uint32_t max)
{
	uint32_t used = slots_used(shared, max);

	health_add(h, "Maps", "slots", used + 1 < max ? HEALTH_ON : HEALTH_DEGRADED, "%u of %u were in use at once: %.1f %%", used,
		   max - 1, 100.0 * used / (max - 1));
}

void health_memory(struct health *h, uint64_t map_bytes)
{
	health_add(h, "Maps", "memory", HEALTH_FACT, "%s", BYTES_TEXT(map_bytes));
}

static void budget_text(enum budget_kind kind, char buf[32], uint64_t value)
{
	if (kind == BUDGET_CPU)
		snprintf(buf, 32, "%.2f %%", value / 1000.0);
	else
		format_value(buf, 32, UNIT_BYTES, value, 0);
}

void health_budget(struct health *h, const struct budget *b)
{
	static const char *const names[BUDGET_KINDS] = { [BUDGET_CPU] = "CPU", [BUDGET_MEMORY] = "memory" };
	const struct collector_shed *row;

	for (enum budget_kind kind = 0; kind < BUDGET_KINDS; kind++) {
		const struct budget_part *p = &b->parts[kind];
		char cost[32], limit[32];

		if (!p->limit)
			continue;
		budget_text(kind, cost, p->cost);
		budget_text(kind, limit, p->limit);
		health_add(h, "Budget", names[kind], p->cost > p->limit ? HEALTH_DEGRADED : HEALTH_ON, "%s of %s%s", cost, limit,
			   budget_over(b, kind) ? ": nothing else can be left out" : "");
	}
	if (b->parts[BUDGET_MEMORY].limit && helper_starter() && !helper_private_bytes())
		health_add(h, "Budget", "helpers", HEALTH_DEGRADED,
			   "their memory is unknown, as /proc hides them; fix: mount -o remount,hidepid=0 /proc");
	for (int i = 0; (row = budget_shed(b, i)); i++)
		health_add(h, "Budget", row->name, HEALTH_DEGRADED, "left out: %s", row->what);
}

void health_loss(struct health *h, const uint64_t loss[LOSS_COUNT])
{
	for (int i = 0; i < LOSS_COUNT; i++)
		health_add(h, i < LOSS_REPAIRED ? "Lost since the start" : "Repaired since the start", loss_names[i].name, HEALTH_FACT,
			   "%10" PRIu64 "  %s", loss[i], loss_names[i].help);
}
