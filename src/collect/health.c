/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/health.h"

#include <bpf/libbpf.h>
#include <inttypes.h>
#include <string.h>

#include "model/health.h"
#include "slot.h"
#include "util/format.h"

/* What each program is for, and what is missing without it. */
static const struct {
	const char *name, *what, *without;
} programs[] = {
	{ "sched_switch", "where every thread's time goes", "" },
	{ "sched_waking", "wakeups, bounds of waits", "" },
	{ "sched_wakeup_new", "threads that are born", "" },
	{ "sched_process_free", "threads whose end was missed", "" },
	{ "sched_process_exec", "names after exec", "" },
	{ "task_rename", "names that threads give themselves",
	  "the kernel does not let programs read names (lockdown?): threads keep the name they had" },
	{ "sample", "user and kernel time of threads that never switch", "" },
	{ "seed_task", "threads that were there before systop", "" },
};

static const struct {
	const char *name, *help;
} losses[LOSS_COUNT] = {
#define _(id, name, help) { name, help },
	LOSSES(_)
#undef _
};

void health_programs(struct health *h, const struct bpf_object *object, int samplers, int cpus)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const struct bpf_program *p =
			bpf_object__find_program_by_name(object, programs[i].name);

		if (!p || !bpf_program__autoload(p))
			health_add(h, "Probes", programs[i].name, HEALTH_OFF, "%s",
				   programs[i].without);
		else if (!strcmp(programs[i].name, "sample") && samplers < cpus)
			health_add(h, "Probes", programs[i].name, HEALTH_DEGRADED,
				   "on %d of %d CPUs: perf events cannot be opened on the others",
				   samplers, cpus);
		else
			health_add(h, "Probes", programs[i].name, HEALTH_ON, "%s", programs[i].what);
	}
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
		health_add(h, "Lost since the start", losses[i].name, HEALTH_FACT,
			   "%10" PRIu64 "  %s", loss[i], losses[i].help);
}
