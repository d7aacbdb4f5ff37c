/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proc/mounts.h"

/* A number in a file of the kernel's; false: there is none, as in "max". */
static bool read_number(const char *folder, const char *name, uint64_t *v)
{
	char path[PATH_MAX + 64];
	FILE *f;
	bool is;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	is = fscanf(f, "%" SCNu64, v) == 1;
	fclose(f);
	return is;
}

/* Of a line of /proc/self/cgroup, "4:memory:/path" or "0::/path": the path, if it is of this hierarchy. */
static const char *own_path(char *line, const char *controller)
{
	char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

	if (!path)
		return NULL;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	return !strcmp(list + 1, controller) ? path : NULL;
}

/* The folder of the cgroup that this process is in. */
static bool own_folder(const struct cgroup_mount *mount, char *folder, size_t size)
{
	const char *controller = mount->controllers ? mount->controllers : "", *path = NULL;
	size_t skip = strcmp(mount->root, "/") ? strlen(mount->root) : 0;
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];

	while (f && !path && fgets(line, sizeof(line), f))
		path = own_path(line, controller);
	if (f)
		fclose(f);
	if (!path || strncmp(path, mount->root, skip) || strstr(path, "/.."))
		return false;
	return snprintf(folder, size, "%s%s", mount->path, path + skip) < (int)size;
}

/* The least that a cgroup on the way up may still take. */
static uint64_t room_in(const struct cgroup_mount *mount)
{
	const char *most = mount->controllers ? "memory.limit_in_bytes" : "memory.max";
	const char *now = mount->controllers ? "memory.usage_in_bytes" : "memory.current";
	uint64_t least = UINT64_MAX, max, used;
	char folder[PATH_MAX];

	if (!own_folder(mount, folder, sizeof(folder)))
		return least;
	while (strlen(folder) >= strlen(mount->path)) {
		char *last = strrchr(folder, '/');

		if (read_number(folder, most, &max) && read_number(folder, now, &used)) {
			uint64_t room = max > used ? max - used : 0;

			least = room < least ? room : least;
		}
		if (!last)
			break;
		*last = '\0';
	}
	return least;
}

uint64_t memory_spare(const struct cgroup_mounts *mounts)
{
	static const char *const controllers[] = { NULL, "memory" };
	uint64_t spare = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 100;

	for (int i = 0; i < 2; i++) {
		const struct cgroup_mount *mount = cgroup_mount_find(mounts, controllers[i]);
		uint64_t room = mount ? room_in(mount) : UINT64_MAX;

		if (room / 4 < spare)
			spare = room / 4;
	}
	return spare;
}
