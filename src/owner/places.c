/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "owner/places.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

#define CONTAINERD "io.containerd.runtime.v2.task"

/* @below @base, %s is the id. The folder of @base may be reached by links of root, nothing below it. @each: the files
 * are in every folder of @base whose name ends with this, "": in every one. */
/* clang-format off */
static const struct place {
	const char *base, *each, *below;
	enum owner_format format;
	const char *runtimes[2];
} places[] = {
	{ "/var/lib/docker/containers", NULL, "%s/config.v2.json", OWNER_DOCKER, { "docker" } },
	{ "/run/containerd/" CONTAINERD, "", "%s/config.json", OWNER_OCI, { "cri-containerd", "nerdctl" } },
	{ "/run/k3s/containerd/" CONTAINERD, "", "%s/config.json", OWNER_OCI, { "cri-containerd", "nerdctl" } },
	{ "/var/snap/microk8s/common/run/containerd/" CONTAINERD, "", "%s/config.json", OWNER_OCI, { "cri-containerd" } },
	{ "/run/containers/storage", "-containers", "%s/userdata/config.json", OWNER_OCI, { "crio", "libpod" } },
	{ "/var/lib/containers/storage", "-containers", "%s/userdata/config.json", OWNER_OCI, { "crio", "libpod" } },
	{ "/var/lib/containers/storage", "-containers", "containers.json", OWNER_LIST, { "crio", "libpod" } },
	{ "/var/lib/containers/storage", "-containers", "volatile-containers.json", OWNER_LIST, { "libpod" } },
	{ "/run/containers/storage", "-containers", "volatile-containers.json", OWNER_LIST, { "libpod" } },
	{ "/var/snap/docker/common/var-lib-docker/containers", NULL, "%s/config.v2.json", OWNER_DOCKER, { "docker" } },
};
/* clang-format on */

#define PLACES (sizeof(places) / sizeof(places[0]))

/* Maximum number of folders of a base that are searched: containerd's namespaces, drivers of a storage. */
#define EACH_MAX 32

/* Maximum number of entries of a folder that are read. */
#define ENTRIES_MAX 65536

#define LOGS "/var/log/pods"

_Static_assert(PLACES <= OWNER_BASES_MAX, "each has a number");

uint32_t owner_base(uint32_t place)
{
	return place / EACH_MAX < PLACES ? place / EACH_MAX : PLACES - 1;
}

uint32_t owner_next(uint32_t place)
{
	return (place / EACH_MAX + 1) * EACH_MAX;
}

/* A runtime that no place names may run on top of containerd. */
bool owner_suits(uint32_t place, const char *runtime)
{
	bool named = false;

	for (size_t i = 0; i < PLACES; i++) {
		for (int j = 0; j < 2 && places[i].runtimes[j]; j++) {
			if (strcmp(places[i].runtimes[j], runtime))
				continue;
			if (i == place / EACH_MAX)
				return true;
			named = true;
		}
	}
	return !named;
}

enum owner_format owner_format(uint32_t place)
{
	return place / EACH_MAX < PLACES ? places[place / EACH_MAX].format : OWNER_FORMATS;
}

/* Whether it belongs to root, and nobody else can change it. */
static bool is_roots(const struct stat *st)
{
	return !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static bool is_roots_folder(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISDIR(st.st_mode) && is_roots(&st);
}

/* Opens a folder that is root's, to look into it or to read its entries. Returns -1 with errno. */
static int open_folder(const char *path, int flags)
{
	char whole[1024];
	int fd;

	snprintf(whole, sizeof(whole), "%s%s", owner_root(), path);
	fd = open(whole, flags | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && !is_roots_folder(fd)) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

/* Opens the file behind @seen, a descriptor of FILE_LOOK, if it may be read, and closes @seen. */
static int open_seen(int seen)
{
	struct stat st;
	int err = fstat(seen, &st) ? errno : !S_ISREG(st.st_mode) || !is_roots(&st) ? EPERM : st.st_size > OWNER_BYTES_MAX ? EFBIG : 0;

	if (!err)
		return file_open_seen(seen);
	close(seen);
	errno = err;
	return -1;
}

/* Whether it can be the name of a single folder or file. */
static bool is_name(const char *id)
{
	size_t len = strlen(id);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)id[i]) && !strchr("-_.", id[i]))
			return false;
	return len && len < 128 && *id != '.';
}

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), tail = strlen(end);

	return len >= tail && !strcmp(s + len - tail, end);
}

/* The @nr-th of the folders whose names end with @end. */
static bool nth_folder(const char *base, const char *end, uint32_t nr, char *name, size_t size)
{
	int fd = open_folder(base, O_RDONLY), entries = 0;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;
	bool found = false;

	if (!dir) {
		file_close(&fd);
		return false;
	}
	while (!found && entries++ < ENTRIES_MAX && (e = readdir(dir)))
		if (*e->d_name != '.' && ends_with(e->d_name, end) && !nr--) {
			snprintf(name, size, "%s", e->d_name);
			found = true;
		}
	closedir(dir);
	return found;
}

/* Path of a file below the base. @nr: of the folder, if there are several. False: there is no such folder. */
static bool path_below(const struct place *p, uint32_t nr, const char *id, char *path, size_t size)
{
	char folder[256];
	size_t used;

	if (!p->each && nr)
		return false;
	if (p->each && !nth_folder(p->base, p->each, nr, folder, sizeof(folder)))
		return false;
	used = snprintf(path, size, "%s%s", p->each ? folder : "", p->each ? "/" : "");
	snprintf(path + used, size - used, p->below, id);
	return true;
}

static int look_at(const char *base, const char *path)
{
	int folder = open_folder(base, O_PATH), seen;

	if (folder < 0)
		return -1;
	seen = file_look_in(folder, path, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	file_close(&folder);
	return seen < 0 ? -1 : open_seen(seen);
}

int owner_look(const char *id, uint32_t *place)
{
	uint32_t base = *place / EACH_MAX;
	char path[512];

	if (!is_name(id)) {
		errno = EINVAL;
		return -1;
	}
	for (; base < PLACES && *place / EACH_MAX == base; ++*place) {
		int fd;

		if (!path_below(&places[base], *place % EACH_MAX, id, path, sizeof(path)))
			break;
		fd = look_at(places[base].base, path);
		if (fd >= 0)
			return fd;
	}
	*place = (base + 1) * EACH_MAX;
	errno = ENOENT;
	return -1;
}

int owner_pod_folder(const char *uid, char *buf, size_t size)
{
	char end[160], name[256];
	int fd, err;

	if (!is_name(uid))
		return -EINVAL;
	snprintf(end, sizeof(end), "_%s", uid);
	if (!nth_folder(LOGS, end, 0, name, sizeof(name)))
		return -ENOENT;
	fd = open_folder(LOGS, O_PATH);
	if (fd < 0)
		return -errno;
	err = file_look_in(fd, name, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	close(fd);
	if (err < 0)
		return -errno;
	fd = err;
	err = is_roots_folder(fd) ? 0 : -EPERM;
	close(fd);
	snprintf(buf, size, "%.*s", (int)(strlen(name) - strlen(end)), name);
	return err;
}
