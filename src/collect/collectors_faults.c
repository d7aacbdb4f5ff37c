/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The row of page faults: stacks of the major ones. How many there were is in the slots, see SLOT_COUNTS. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>

#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "collect/samplers.h"
#include "slot.h"

#include "systop.skel.h"

static int faults_attach(struct collect *c)
{
	c->faults = samplers_count(c->skel->progs.sample, c->online, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
				   STACK_COUNTED + COUNT_major_faults, c->options->all_cpus);
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

static void faults_close(struct collect *c)
{
	samplers_free(c->faults);
}

const struct collector collector_faults = {
	.name = "page faults",
	.attach = faults_attach,
	.follow = faults_follow,
	.health = faults_health,
	.close = faults_close,
};
