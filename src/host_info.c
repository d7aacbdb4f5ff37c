/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host_info.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "collect/collect.h"
#include "config_file.h"
#include "model/health.h"
#include "proc/user.h"
#include "sym/names.h"
#include "tui/host.h"

/* More than any kernel is built for. */
#define CPUS_MAX 8192

/* "0-3,7" */
static void affinity(pid_t tid, char *buf, size_t size)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX), used = 0;

	snprintf(buf, size, "-");
	if (!set)
		return;
	CPU_ZERO_S(bytes, set);
	if (sched_getaffinity(tid, bytes, set)) {
		CPU_FREE(set);
		return;
	}
	for (int cpu = 0; cpu < CPUS_MAX && used < size; cpu++) {
		int last = cpu;

		if (!CPU_ISSET_S(cpu, bytes, set))
			continue;
		while (last + 1 < CPUS_MAX && CPU_ISSET_S(last + 1, bytes, set))
			last++;
		used += snprintf(buf + used, size - used, last > cpu ? "%s%d-%d" : "%s%d",
				 used ? "," : "", cpu, last);
		cpu = last;
	}
	CPU_FREE(set);
}

static void health(void *arg, struct health *h)
{
	collect_health(((struct host_sources *)arg)->collect, h);
	check_health(h);
}

static void write_config(void *arg, const struct settings *s, char *said, size_t size)
{
	(void)arg;
	config_write(s, said, size);
}

static const struct symbol *symbol(void *arg, uint64_t frame, uint32_t tgid)
{
	return names_frame(((struct host_sources *)arg)->names, frame, tgid);
}

void host_info_init(struct host *h, struct host_sources *from)
{
	h->arg = from;
	h->symbol = symbol;
	h->user_name = user_name;
	h->user_find = user_lookup;
	h->affinity = affinity;
	h->health = health;
	h->write_config = write_config;
}
