/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives all threads to scheduler.bpf.c until its stdin ends. Its first line reports that it has them. */
#include <stdio.h>

#include <bpf/libbpf.h>

#include "scheduler.skel.h"

int main(void)
{
	struct scheduler_bpf *s = scheduler_bpf__open_and_load();
	struct bpf_link *link = s ? bpf_map__attach_struct_ops(s->maps.scheduler) : NULL;

	if (!link) {
		fprintf(stderr, "scheduler: cannot load or attach\n");
		return 1;
	}
	printf("scheduling\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
	bpf_link__destroy(link);
	scheduler_bpf__destroy(s);
	return 0;
}
