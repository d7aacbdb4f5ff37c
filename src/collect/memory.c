/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/memory.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "collect/maxima.h"

#include "systop.skel.h"

static void *map_memory(struct bpf_map *map, int prot)
{
	size_t size = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *p = mmap(NULL, size, prot, MAP_SHARED, bpf_map__fd(map), 0);

	return p == MAP_FAILED ? NULL : p;
}

static void unmap_memory(void *p, struct bpf_map *map)
{
	if (p)
		munmap(p, (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map));
}

int memory_map(struct collect_memory *m, struct systop *skel, struct cpu_area *const *areas,
	       int nr_cpus, int table_mib)
{
	struct shared *shared = &skel->bss->shared;

	m->cpus = map_memory(skel->maps.cpus, PROT_READ | PROT_WRITE);
	m->blocked_wanted = map_memory(skel->maps.blocked_wanted, PROT_READ | PROT_WRITE);
	m->slots = (struct slots_memory){
		.slots = map_memory(skel->maps.slots, PROT_READ | PROT_WRITE),
		.cpus = m->cpus,
		.nr_cpus = nr_cpus,
		.max = skel->rodata->slots_max,
		.dead = map_memory(skel->maps.dead_ring, PROT_READ | PROT_WRITE),
		.limit_cgroups = map_memory(skel->maps.limit_cgroups, PROT_READ),
		.shared = shared,
		.free_fd = bpf_map__fd(skel->maps.free_slots),
	};
	m->stacks = (struct stacks_memory){
		.index_bits = skel->rodata->stack_index_bits,
		.entries = map_memory(skel->maps.stacks, PROT_READ | PROT_WRITE),
		.lines = map_memory(skel->maps.stack_lines, PROT_READ),
		.areas = areas,
		.cpus = m->cpus,
		.nr_cpus = nr_cpus,
		.max_slots = skel->rodata->slots_max,
		.shared = shared,
	};
	m->irqs = (struct irqs_memory){
		.areas = areas,
		.lines = map_memory(skel->maps.irq_lines, PROT_READ | PROT_WRITE),
		.nr_given = &shared->irq_lines,
		.named = skel->rodata->irq_named,
		.path = "/proc/interrupts",
		.cpus = m->cpus,
		.nr_cpus = nr_cpus,
	};
	m->slots.waits = (struct waits_memory){
		.areas = areas,
		.cpus = m->cpus,
		.slots = m->slots.slots,
		.nr_cpus = nr_cpus,
		.max_slots = skel->rodata->slots_max,
	};
	m->tables = (struct unwind_tables_memory){
		.files = map_memory(skel->maps.unwind_files, PROT_READ | PROT_WRITE),
		.pages = map_memory(skel->maps.unwind_pages, PROT_READ | PROT_WRITE),
		.rules = map_memory(skel->maps.unwind_rules, PROT_READ | PROT_WRITE),
		.areas = areas,
		.nr_cpus = nr_cpus,
		.chunks_fd = bpf_map__fd(skel->maps.unwind_chunks),
		.max_chunks = table_mib,
		.seconds = &shared->seconds,
	};
	m->files = (struct files_memory){
		.files_fd = bpf_map__fd(skel->maps.files),
		.asked_fd = bpf_map__fd(skel->maps.files_asked),
		.free_fd = bpf_map__fd(skel->maps.free_files),
		.max = skel->rodata->files_max,
		.rest_s = maxima()->file_rest_s,
		.of = m->tables.files,
		.shared = shared,
	};
	return m->cpus && m->blocked_wanted && m->slots.slots && m->slots.dead && m->slots.limit_cgroups && m->stacks.entries &&
			       m->stacks.lines && m->tables.files && m->tables.pages && m->tables.rules && m->irqs.lines
		       ? 0
		       : -errno;
}

void memory_unmap(const struct collect_memory *m, struct systop *skel)
{
	unmap_memory(m->cpus, skel->maps.cpus);
	unmap_memory(m->blocked_wanted, skel->maps.blocked_wanted);
	unmap_memory(m->slots.slots, skel->maps.slots);
	unmap_memory(m->slots.dead, skel->maps.dead_ring);
	unmap_memory((void *)m->slots.limit_cgroups, skel->maps.limit_cgroups);
	unmap_memory(m->stacks.entries, skel->maps.stacks);
	unmap_memory((void *)m->stacks.lines, skel->maps.stack_lines);
	unmap_memory(m->irqs.lines, skel->maps.irq_lines);
	unmap_memory(m->tables.files, skel->maps.unwind_files);
	unmap_memory(m->tables.pages, skel->maps.unwind_pages);
	unmap_memory(m->tables.rules, skel->maps.unwind_rules);
}

uint64_t memory_bytes(const struct systop *skel)
{
	struct bpf_map *map;
	uint64_t sum = 0;

	bpf_object__for_each_map(map, skel->obj) {
		char path[64], line[128];
		uint64_t bytes;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_map__fd(map));
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "memlock: %lu", &bytes) == 1)
				sum += bytes;
		if (f)
			fclose(f);
	}
	return sum;
}
