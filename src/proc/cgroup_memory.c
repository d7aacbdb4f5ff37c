/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What cgroups are charged for: memory and swap. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proc/cgroup_internal.h"
#include "proc/mounts.h"
#include "util/clock.h"
#include "util/file.h"

/* Whether the hierarchy at @mount, of v2, has the memory controller. */
static bool has_memory(const char *mount)
{
	char buf[1024], *save = NULL;

	if (!file_text(buf, sizeof(buf), "%s/cgroup.controllers", mount))
		return false;
	for (char *word = strtok_r(buf, " \n", &save); word; word = strtok_r(NULL, " \n", &save))
		if (!strcmp(word, "memory"))
			return true;
	return false;
}

int cgroups_charged_by(struct cgroups *c, const struct cgroup_mounts *mounts)
{
	const struct cgroup_mount *mount = cgroup_mount_find(mounts, NULL);

	if (!mount || !has_memory(mount->path))
		mount = cgroup_mount_find(mounts, "memory");
	if (!mount)
		return 0;
	c->memory_v1 = mount->controllers;
	c->memory = strdup(mount->path);
	return c->memory ? 0 : -ENOMEM;
}

static uint64_t read_bytes(const struct cgroups *c, const struct node *n, const char *name)
{
	uint64_t bytes;
	char buf[32];

	if (!cgroup_file_text(c, n, c->memory, name, buf, sizeof(buf)) || sscanf(buf, "%" SCNu64, &bytes) != 1)
		return VALUE_NA;
	return bytes;
}

static void read_memory(const struct cgroups *c, struct node *n)
{
	uint64_t memory = VALUE_NA, swap = VALUE_NA;

	if (cgroup_is_there(c, n))
		memory = read_bytes(c, n, c->memory_v1 ? "memory.usage_in_bytes" : "memory.current");
	if (memory != VALUE_NA) /* v1 has the sum of both */
		swap = read_bytes(c, n, c->memory_v1 ? "memory.memsw.usage_in_bytes" : "memory.swap.current");
	if (c->memory_v1 && swap != VALUE_NA)
		swap -= memory < swap ? memory : swap;
	levels_unknown(&n->levels);
	n->levels.v[METRIC_MEMORY - METRIC_LEVELS] = memory;
	n->levels.v[METRIC_SWAP - METRIC_LEVELS] = swap;
}

void cgroups_charge(struct cgroups *c, uint64_t ns)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + ns;

	for (size_t i = 0; c->memory && i < c->nr && clock_ns(CLOCK_MONOTONIC) < until; i++) {
		struct node *n = (struct node *)c->list[c->charged++ % c->nr];

		read_memory(c, n);
		n->charged = true;
	}
}

static void folder_in(const char *mount, const char *path, char *folder, size_t size)
{
	if (!mount || snprintf(folder, size, "%s%s", mount, path) >= (int)size)
		*folder = '\0';
}

/* Cgroups aside have another hierarchy's paths. Only v2 has pressure, and only the shown hierarchy's paths are known. */
void cgroups_folders(const struct cgroups *c, const struct cgroup *cgroup, char *memory, char *pressure, size_t size)
{
	*memory = *pressure = '\0';
	if (cgroup->aside || ((const struct node *)cgroup)->unnamed || !cgroup_is_there(c, (const struct node *)cgroup))
		return;
	folder_in(c->memory, cgroup_file_path(c, cgroup), memory, size);
	folder_in(c->mount, cgroup_file_path(c, cgroup), pressure, size);
}

void cgroups_charges(const struct cgroup *cgroup, struct levels *levels)
{
	const struct node *n = (const struct node *)cgroup;

	if (n->charged)
		*levels = n->levels;
	else
		levels_unknown(levels);
}
