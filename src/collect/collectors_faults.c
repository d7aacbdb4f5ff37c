/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of page faults: stacks of major ones, and of some minor ones. How many there were is in the slots, see
 * SLOT_COUNTS. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "collect/samplers.h"
#include "slot.h"

#include "systop.skel.h"

/* --- Major ones: each */

static int faults_attach(struct collect *c)
{
	c->faults = samplers_count(c->skel->progs.sample, c->online, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
				   STACK_COUNTED + COUNT_major_faults, 1, c->options->all_cpus);
	return c->faults ? 0 : -ENOMEM;
}

static int faults_follow(struct collect *c, bool changed)
{
	samplers_follow(c->faults, changed);
	return 0;
}

static void faults_health(const struct collect *c, struct health *h)
{
	samplers_count_health(c->faults, "page-faults-maj", "stacks of major page faults", h);
}

const struct collector collector_faults = {
	.name = "page faults",
	.attach = faults_attach,
	.follow = faults_follow,
	.health = faults_health,
};

/* --- Minor ones: one random one in about FAULT_PERIOD * FAULT_POINTS, the programs' part of which is in sample.bpf.c. */

/*
 * The number of faults between two events. It changes four times a second where there are many faults, and counting
 * restarts then, so that a loop over as many pages, or a multiple, is sampled at another place each time.
 */
static const uint64_t periods[] = { 29, 31, 37, 41 };

/* Events of a CPU after which the period changes before the next tick: 2,000 faults in 250 ms. */
#define POINTS_DUE (8 * FAULT_POINTS)

static int minors_attach(struct collect *c)
{
	c->minors = samplers_count(c->skel->progs.sample, c->online, PERF_COUNT_SW_PAGE_FAULTS_MIN,
				   STACK_COUNTED + COUNT_minor_faults, FAULT_PERIOD, c->options->all_cpus);
	return c->minors ? 0 : -ENOMEM;
}

static bool minors_due(const struct collect *c)
{
	for (int cpu = 0; cpu < c->nr_cpus; cpu++)
		if (samplers_grew(c->minors, cpu, c->cpus_memory[cpu].fault_points) >= POINTS_DUE)
			return true;
	return false;
}

static int minors_follow(struct collect *c, bool changed)
{
	samplers_follow(c->minors, changed);
	for (int cpu = 0; cpu < c->nr_cpus; cpu++) {
		uint64_t period = periods[random() % (sizeof(periods) / sizeof(periods[0]))];
		uint32_t points = c->cpus_memory[cpu].fault_points;

		if (samplers_grew(c->minors, cpu, points) >= FAULT_POINTS)
			samplers_period(c->minors, cpu, period, points);
	}
	return 0;
}

static void minors_health(const struct collect *c, struct health *h)
{
	char what[64];

	snprintf(what, sizeof(what), "stacks of one in %d minor page faults", FAULT_PERIOD * FAULT_POINTS);
	samplers_count_health(c->minors, "page-faults-min", what, h);
}

const struct collector collector_minors = {
	.name = "minor page faults",
	.attach = minors_attach,
	.due = minors_due,
	.follow = minors_follow,
	.health = minors_health,
};
