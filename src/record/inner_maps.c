/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/inner_maps.h"

#include <bpf/bpf.h>
#include <errno.h>

int inner_maps_put(int map_fd, const uint32_t *at, const int *fds, uint32_t nr)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	uint32_t done = nr;

	if (nr > 1 && !bpf_map_update_batch(map_fd, at, fds, &done, &opts))
		return 0;
	/* One at a time: a single map, or a kernel before 5.19, whose arrays of maps take no batch. */
	for (uint32_t i = 0; i < nr; i++)
		if (bpf_map_update_elem(map_fd, &at[i], &fds[i], BPF_ANY))
			return -errno;
	return 0;
}
