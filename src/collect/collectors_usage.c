/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The row of what threads used: bytes read and written. Slots ask for it, see slots_tick(). */
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

#include "collect/collect_internal.h"
#include "collect/collectors.h"
#include "collect/slots.h"
#include "collect/usages.h"

#include "systop.skel.h"

static void usage_configure(struct systop *skel, struct load *l)
{
	(void)l;
	bpf_map__set_max_entries(skel->maps.usage_ended, skel->rodata->slots_max);
}

static int usage_open(struct collect *c)
{
	struct usages_memory mem = {
		.prog_fd = bpf_program__fd(c->skel->progs.usage_read),
		.asked = collect_map(c, c->skel->maps.usage_asked, PROT_READ | PROT_WRITE),
		.ended = collect_map(c, c->skel->maps.usage_ended, PROT_READ | PROT_WRITE),
	};

	if (!mem.asked || !mem.ended)
		return -errno;
	c->usage = usages_new(&mem);
	if (!c->usage)
		return -ENOMEM;
	slots_usage(c->sched, c->usage);
	return 0;
}

static void usage_close(struct collect *c)
{
	usages_free(c->usage);
}

static const struct collector_program usage_programs[] = {
	{ .name = "usage_read", .what = "bytes that threads read and wrote",
	  .without = "the kernel does not run it: READ and WRITE are unknown", .attempt = 1 },
	{ 0 }
};

const struct collector collector_usage = {
	.name = "usage",
	.programs = usage_programs,
	.configure = usage_configure,
	.open = usage_open,
	.close = usage_close,
};
