/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/topology.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/metric.h"
#include "util/file.h"
#include "util/online.h"

/* No kernel is built for more. */
#define CPUS_MAX 8192

/* Puts the CPUs of a list into group @number, unless they are in one. */
static void put_in(struct topology *t, const char *list, enum topology_level level, int number)
{
	int first, last;

	while (cpulist_next(&list, &first, &last))
		for (int cpu = first; cpu <= last && cpu < t->nr; cpu++)
			if (t->cpus[cpu].in[level] < 0)
				t->cpus[cpu].in[level] = number;
}

static void read_nodes(struct topology_reader *r)
{
	char nodes[4096], cpus[4096];
	const char *at = nodes;
	int first, last;

	file_line(nodes, sizeof(nodes), "%s/node/online", r->sys);
	while (cpulist_next(&at, &first, &last)) {
		for (int node = first; node <= last && node < CPUS_MAX; node++) {
			file_line(cpus, sizeof(cpus), "%s/node/node%d/cpulist", r->sys, node);
			put_in(&r->topology, cpus, TOPOLOGY_NODE, node);
		}
	}
}

/* The CPUs that share this one's highest-level cache. */
static void read_llc(const struct topology_reader *r, int cpu, char *list, size_t size)
{
	int highest = 0, which = -1;
	char level[16];

	for (int index = 0;; index++) {
		file_line(level, sizeof(level), "%s/cpu/cpu%d/cache/index%d/level", r->sys, cpu, index);
		if (!*level)
			break;
		if (atoi(level) > highest) {
			highest = atoi(level);
			which = index;
		}
	}
	*list = '\0';
	if (which >= 0)
		file_line(list, size, "%s/cpu/cpu%d/cache/index%d/shared_cpu_list", r->sys, cpu, which);
}

static void read_list(const struct topology_reader *r, enum topology_level level, int cpu, char *list, size_t size)
{
	if (level == TOPOLOGY_LLC)
		read_llc(r, cpu, list, size);
	else
		file_line(list, size, "%s/cpu/cpu%d/topology/%s_siblings_list", r->sys, cpu,
			  level == TOPOLOGY_CORE ? "thread" : "core");
}

/* Each CPU lists its whole group, so reading one CPU of a group is enough. */
static void read_groups(struct topology_reader *r, enum topology_level level)
{
	struct topology *t = &r->topology;
	char list[4096];
	int nr = 0;

	for (int cpu = 0; cpu < t->nr; cpu++) {
		if (!t->cpus[cpu].online || t->cpus[cpu].in[level] >= 0)
			continue;
		read_list(r, level, cpu, list, sizeof(list));
		put_in(t, list, level, nr);
		nr += t->cpus[cpu].in[level] == nr;
	}
}

/* Allocates the online CPUs. */
static void read_online(struct topology_reader *r)
{
	struct topology *t = &r->topology;
	const char *at = r->online;
	int first, last, nr = 0;

	while (cpulist_next(&at, &first, &last))
		nr = last >= nr && last < CPUS_MAX ? last + 1 : nr;
	t->cpus = calloc(nr, sizeof(*t->cpus));
	t->nr = t->cpus ? nr : 0;
	for (int cpu = 0; cpu < t->nr; cpu++)
		for (int level = 0; level < TOPOLOGY_LEVELS; level++)
			t->cpus[cpu].in[level] = -1;
	for (at = r->online; cpulist_next(&at, &first, &last);)
		for (int cpu = first; cpu <= last && cpu < t->nr; cpu++)
			t->cpus[cpu].online = true;
}

const struct topology *topology_read(struct topology_reader *r)
{
	char online[sizeof(r->online)];

	file_line(online, sizeof(online), "%s/cpu/online", r->sys);
	if (!strcmp(online, r->online))
		return &r->topology;
	topology_fini(r);
	strcpy(r->online, online);
	read_online(r);
	read_nodes(r);
	read_groups(r, TOPOLOGY_LLC);
	read_groups(r, TOPOLOGY_CORE);
	read_groups(r, TOPOLOGY_PACKAGE);
	return &r->topology;
}

void topology_fini(struct topology_reader *r)
{
	free(r->topology.cpus);
	r->topology = (struct topology){ 0 };
	r->online[0] = '\0';
}

uint64_t topology_hz(const struct topology_reader *r, int cpu)
{
	uint64_t khz;
	char text[32];

	file_line(text, sizeof(text), "%s/cpu/cpu%d/cpufreq/scaling_cur_freq", r->sys, cpu);
	return sscanf(text, "%" SCNu64, &khz) == 1 && khz ? khz * 1000 : VALUE_NA;
}
