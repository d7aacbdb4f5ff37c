/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_AREA_BPF_H
#define SYSTOP_BPF_AREA_BPF_H

#include <bpf/bpf_helpers.h>

#include "area.h"

/* Each area is an array of one element. */
struct area_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, sizeof(struct cpu_area));
};

/* One per possible CPU: resized before load. */
struct areas_map {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 4);
	__array(values, struct area_map);
};
extern struct areas_map areas SEC(".maps");

/* area_of - NULL if the CPU has just come online. */
static __always_inline struct cpu_area *area_of(__u32 cpu)
{
	void *map = bpf_map_lookup_elem(&areas, &cpu);
	struct cpu_area *area;
	__u32 zero = 0;

	area = map ? bpf_map_lookup_elem(map, &zero) : NULL;
	if (area)
		barrier_var(area); /* or the compiler computes addresses in it before the check, which the verifier refuses */
	return area;
}

#endif
