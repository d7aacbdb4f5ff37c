/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "scene.h"

#define SEC 1000000000ULL

void scene_cpus(struct scene *s, int nr)
{
	for (int cpu = 0; cpu < s->topology.nr; cpu++) {
		int like = cpu % 4, idle = cpu < 4 ? 0 : cpu * 7 % 11;
		struct cpu_values v = {
			.cpu = cpu,
			.tid = like == 1 ? 2001 : like == 3 ? 0 : 3000,
			.queued = cpu % 12 ? 0 : 3,
			.run_ns = (9 - 2 * like) * SEC / 10 / (1 + idle),
			.hardirq_ns = s->timers_unseen ? 0 : like * SEC / 100,
			.steal_ns = cpu == 1 ? SEC / 50 : 0,
			.softirq_ns = cpu % 32 == 6 ? SEC / 2 : like == 2 ? SEC / 5 : SEC / 200,
			.switches = 1000 * like,
			.gap_ns = s->timers_unseen ? VALUE_NA : cpu == 2 ? 180000000 : 0,
			.gap_at = (5000 + nr) * SEC - SEC / 4,
			.gap_tid = 3000,
		};

		v.idle_ns = SEC - v.run_ns - v.steal_ns;
		strcpy(v.comm, like == 1 ? "api-server" : like == 3 ? "" : "postgres");
		if (model_cpu(s->model, &v))
			abort();
	}
}

void scene_topology(struct scene *s, int nr_cpus)
{
	int cores = nr_cpus / 2;

	s->topology.cpus = calloc(nr_cpus, sizeof(*s->topology.cpus));
	if (!s->topology.cpus)
		abort();
	s->topology.nr = nr_cpus;
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		int core = nr_cpus == 4 ? cpu / 2 : cpu % cores, socket = nr_cpus == 4 ? 0 : core / (cores / 2);

		s->topology.cpus[cpu] = (struct topology_cpu){
			.online = true,
			.in = { [TOPOLOGY_NODE] = socket, [TOPOLOGY_LLC] = core / 8, [TOPOLOGY_CORE] = core,
				[TOPOLOGY_PACKAGE] = socket },
		};
	}
}
