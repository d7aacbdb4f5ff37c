/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's BPF programs: whether one was loaded since the kernel's symbols were read. */

#include "maps.bpf.h"
#include "view.bpf.h"

/* A program's id is higher than those of all earlier ones. */
SEC("iter/bpf_prog")
int newest_program(struct bpf_iter__bpf_prog *ctx)
{
	struct bpf_prog *p = ctx->prog;
	__u32 id;

	if (!p)
		return 0;
	id = VIEW(p)->aux->id;
	if (id > shared.newest_program)
		shared.newest_program = id;
	return 0;
}
