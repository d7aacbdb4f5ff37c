/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's BPF programs: whether one was loaded since the kernel's symbols were read. */

#include "maps.bpf.h"

/* A program's id is higher than those of all earlier ones. */
SEC("iter/bpf_prog")
int newest_program(struct bpf_iter__bpf_prog *ctx)
{
	struct bpf_prog *p = ctx->prog;

	if (p && p->aux->id > shared.newest_program)
		shared.newest_program = p->aux->id;
	return 0;
}
