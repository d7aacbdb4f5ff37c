/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proc/mounts.h"
#include "util/fail.h"
#include "util/file.h"
#include "util/text.h"

/* With less memory, systop would be killed while running. */
#define MEMORY_NEEDED (80 << 20)

/* Reads a number from a kernel file; false: it holds none, like "max". */
static bool read_number(const char *folder, const char *name, uint64_t *v)
{
	char line[64];

	file_line(line, sizeof(line), "%s/%s", folder, name);
	return sscanf(line, "%" SCNu64, v) == 1;
}

/* The path in a line of /proc/self/cgroup, "4:memory:/path" or "0::/path", if it is of this hierarchy. */
static const char *own_path(char *line, const char *controller)
{
	char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

	if (!path)
		return NULL;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	return !strcmp(list + 1, controller) ? path : NULL;
}

/* Finds the folder of this process's cgroup. */
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

/* The lowest limit and the least memory left among a cgroup and its ancestors; UINT64_MAX: there is no limit. */
struct room {
	uint64_t limit, left;
};

/* How many of a cgroup's @used bytes are of files that were not read lately: the kernel frees these when it needs memory. */
static uint64_t reclaimable(const struct cgroup_mount *mount, const char *folder, uint64_t used)
{
	char text[8192];
	uint64_t bytes;

	file_text(text, sizeof(text), "%s/memory.stat", folder);
	if (!text_number(text, mount->controllers ? "total_inactive_file" : "inactive_file", &bytes))
		return 0;
	return bytes < used ? bytes : used;
}

static struct room room_in(const struct cgroup_mount *mount)
{
	const char *most = mount->controllers ? "memory.limit_in_bytes" : "memory.max";
	const char *now = mount->controllers ? "memory.usage_in_bytes" : "memory.current";
	struct room room = { UINT64_MAX, UINT64_MAX };
	uint64_t max, used;
	char folder[PATH_MAX];

	if (!own_folder(mount, folder, sizeof(folder)))
		return room;
	while (strlen(folder) >= strlen(mount->path)) {
		char *last = strrchr(folder, '/');

		if (read_number(folder, most, &max) && read_number(folder, now, &used)) {
			uint64_t left;

			used -= reclaimable(mount, folder, used);
			left = max > used ? max - used : 0;
			room.limit = max < room.limit ? max : room.limit;
			room.left = left < room.left ? left : room.left;
		}
		if (!last)
			break;
		*last = '\0';
	}
	return room;
}

/* The least room in the memory controllers of v2 and v1. */
static struct room room_of_all(const struct cgroup_mounts *mounts)
{
	static const char *const controllers[] = { NULL, "memory" };
	struct room least = { UINT64_MAX, UINT64_MAX };

	for (int i = 0; i < 2; i++) {
		const struct cgroup_mount *mount = cgroup_mount_find(mounts, controllers[i]);
		struct room room = mount ? room_in(mount) : least;

		least.limit = room.limit < least.limit ? room.limit : least.limit;
		least.left = room.left < least.left ? room.left : least.left;
	}
	return least;
}

uint64_t memory_spare(const struct cgroup_mounts *mounts)
{
	uint64_t spare = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 100;
	uint64_t left = room_of_all(mounts).left;

	left = left > MEMORY_NEEDED ? left - MEMORY_NEEDED : 0;
	return left / 4 < spare ? left / 4 : spare;
}

int memory_check(const struct cgroup_mounts *mounts)
{
	uint64_t limit = room_of_all(mounts).limit;

	if (limit >= MEMORY_NEEDED)
		return 0;
	fail(-ENOMEM, EXIT_STATUS_RUNTIME, "too little memory: %" PRIu64 " MiB", limit >> 20);
	fail_why("its cgroup's limit; systop needs at least %d MiB", MEMORY_NEEDED >> 20);
	fail_fix("systemd-run --scope -p MemoryMax=%dM systop", 2 * (MEMORY_NEEDED >> 20));
	return -ENOMEM;
}
