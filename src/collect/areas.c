/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/areas.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/health.h"
#include "record/inner_maps.h"
#include "util/file.h"
#include "util/format.h"
#include "util/online.h"

struct areas {
	int map_fd, nr_cpus, made, err;
	const struct online *online;
	struct cpu_area **list;
	uint32_t *places; /* CPUs whose areas are being put into the map, */
	int *fds;         /* and the maps of these areas */
};

static void area_unmap(struct cpu_area **area)
{
	if (*area)
		munmap(*area, sizeof(**area));
	*area = NULL;
}

struct areas *areas_new(int map_fd, const struct online *online)
{
	struct areas *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->map_fd = map_fd;
	a->nr_cpus = online_possible(online);
	a->online = online;
	a->list = calloc(a->nr_cpus, sizeof(*a->list));
	a->places = calloc(a->nr_cpus, sizeof(*a->places));
	a->fds = calloc(a->nr_cpus, sizeof(*a->fds));
	if (a->list && a->places && a->fds)
		return a;
	areas_free(a);
	return NULL;
}

void areas_free(struct areas *a)
{
	if (!a)
		return;
	for (int cpu = 0; a->list && cpu < a->nr_cpus; cpu++)
		area_unmap(&a->list[cpu]);
	free(a->list);
	free(a->places);
	free(a->fds);
	free(a);
}

/* Creates an area, which is a map: returns its fd or -errno. */
static int area_make(struct cpu_area **area)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "cpu_area", 4, sizeof(struct cpu_area), 1, &opts);
	void *memory;

	if (fd < 0)
		return -errno;
	memory = mmap(NULL, sizeof(struct cpu_area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		file_close(&fd);
		return -errno;
	}
	*area = memory;
	return fd;
}

int areas_follow(struct areas *a)
{
	int nr = 0, err;

	a->err = 0;
	for (int cpu = 0; cpu < a->nr_cpus && !a->err; cpu++) {
		if (a->list[cpu] || !online_is(a->online, cpu))
			continue;
		a->fds[nr] = area_make(&a->list[cpu]);
		if (a->fds[nr] < 0)
			a->err = a->fds[nr];
		else
			a->places[nr++] = cpu;
	}
	err = nr ? inner_maps_put(a->map_fd, a->places, a->fds, nr) : 0;
	if (err)
		a->err = err;
	else
		a->made += nr;
	while (nr--) {
		close(a->fds[nr]); /* the map of areas and the mapping keep it alive */
		if (err)
			area_unmap(&a->list[a->places[nr]]);
	}
	return a->err;
}

struct cpu_area *const *areas_list(const struct areas *a)
{
	return a->list;
}

uint64_t areas_bytes(const struct areas *a)
{
	return (uint64_t)a->made * sizeof(struct cpu_area);
}

void areas_health(const struct areas *a, struct health *h)
{
	if (a->err)
		health_add(h, "Maps", "CPU areas", HEALTH_DEGRADED, "%d of %d CPUs have one: %s", a->made,
			   online_count(a->online), strerror(-a->err));
	else
		health_add(h, "Maps", "CPU areas", HEALTH_ON, "events and interrupts of %d CPUs: %s", a->made,
			   BYTES_TEXT(areas_bytes(a)));
}
