/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/usages.h"

#include <bpf/bpf.h>
#include <stdlib.h>

struct usages {
	struct usages_memory mem;
	bool batched;
};

struct usages *usages_new(const struct usages_memory *mem)
{
	struct usages *u = calloc(1, sizeof(*u));

	if (u)
		u->mem = *mem;
	return u;
}

void usages_free(struct usages *u)
{
	free(u);
}

struct usage *usages_asked(struct usages *u)
{
	return u->mem.asked;
}

static void nothing_known(struct usage *u)
{
	u->io = (struct usage_io){ USAGE_UNKNOWN, USAGE_UNKNOWN };
	u->memory = (struct usage_memory){ .rss = USAGE_UNKNOWN, .swap = USAGE_UNKNOWN };
	u->read = 1;
}

void usages_read(struct usages *u, uint32_t nr)
{
	struct usage_ask ask = { nr };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &ask, .ctx_size_in = sizeof(ask));

	if (!nr)
		return;
	if (!bpf_prog_test_run_opts(u->mem.prog_fd, &opts)) {
		for (uint32_t i = 0; i < nr && !u->batched; i++)
			u->batched = u->mem.asked[i].read && u->mem.asked[i].memory.rss != USAGE_UNKNOWN &&
				     u->mem.asked[i].memory.batched;
		return;
	}
	for (uint32_t i = 0; i < nr; i++)
		nothing_known(&u->mem.asked[i]);
}

const struct usage_io *usages_ended(const struct usages *u, uint32_t slot)
{
	return &u->mem.ended[slot];
}

void usages_reuse(struct usages *u, uint32_t slot)
{
	u->mem.ended[slot] = (struct usage_io){ 0 };
}

bool usages_batched(const struct usages *u)
{
	return u->batched;
}
