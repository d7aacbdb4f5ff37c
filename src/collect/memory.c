/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/memory.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

#include "util/file.h"
#include "util/text.h"

void *memory_map(struct memory *m, const struct bpf_map *map, int prot)
{
	size_t size = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *at;

	if (m->nr == MEMORY_MAPS) {
		errno = ENOSPC;
		return NULL;
	}
	at = mmap(NULL, size, prot, MAP_SHARED, bpf_map__fd(map), 0);
	if (at == MAP_FAILED)
		return NULL;
	m->maps[m->nr].at = at;
	m->maps[m->nr++].size = size;
	return at;
}

void memory_unmap(struct memory *m)
{
	while (m->nr) {
		m->nr--;
		munmap(m->maps[m->nr].at, m->maps[m->nr].size);
	}
}

uint64_t memory_bytes(const struct bpf_object *object)
{
	struct bpf_map *map;
	uint64_t sum = 0;

	bpf_object__for_each_map(map, object) {
		char text[1024];
		uint64_t bytes;

		file_text(text, sizeof(text), "/proc/self/fdinfo/%d", bpf_map__fd(map));
		if (text_number(text, "memlock", &bytes))
			sum += bytes;
	}
	return sum;
}
