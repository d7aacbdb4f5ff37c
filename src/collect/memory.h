/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_MEMORY_H
#define SYSTOP_COLLECT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct bpf_map;
struct bpf_object;

#define MEMORY_MAPS 24

/* The BPF maps that are mapped into this process. Initialise with zeroes. */
struct memory {
	struct {
		void *at;
		size_t size;
	} maps[MEMORY_MAPS];
	int nr;
};

/* memory_map - maps a map's memory, until memory_unmap(). @prot: PROT_READ, PROT_WRITE. Returns NULL with errno. */
void *memory_map(struct memory *m, const struct bpf_map *map, int prot);
void memory_unmap(struct memory *m);

/* memory_bytes - size of all maps, by the kernel's account. */
uint64_t memory_bytes(const struct bpf_object *object);

#endif
