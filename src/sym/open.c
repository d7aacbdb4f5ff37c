/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/proto.h"
#include "sym/roles.h"

/* As the kernel packs it in memory: 12 bits of major, 20 of minor. */
static bool same_device(dev_t dev, uint32_t kernel)
{
	return major(dev) == kernel >> 20 && minor(dev) == (kernel & 0xfffff);
}

/* Whether it is the file that was mapped. What stat() calls its device is another one on some file
 * systems (btrfs, overlayfs): @exact says whether that must agree. */
static bool is_file(int fd, const struct file_key *key, bool exact)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_ino == key->inode &&
	       (uint64_t)st.st_size == key->size && (uint64_t)st.st_mtim.tv_sec == key->mtime_s &&
	       (!exact || same_device(st.st_dev, key->device));
}

static int open_checked(const char *path, const struct file_key *key, bool exact)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && !is_file(fd, key, exact)) {
		close(fd);
		errno = ESTALE;
		return -1;
	}
	return fd;
}

/* The mapping itself leads to files that were deleted, and to those of containers. */
static int open_mapped(const struct open_request *r)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%lx-%lx", r->tgid, (unsigned long)r->start,
		 (unsigned long)r->end);
	fd = open_checked(path, &r->key, false);
	if (fd < 0 && r->path[0])
		fd = open_checked(r->path, &r->key, true);
	return fd;
}

/* --- Debug information */

/* Symbolic links of a container lead nowhere outside of it. */
static int open_below(const char *root, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, .resolve = resolve };
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	struct stat st;

	if (dir < 0)
		return -1;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	close(dir);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = ENOENT;
		return -1;
	}
	return fd;
}

/* The folder a file is in, as its process sees it. */
static void folder_of(int fd, char *buf, size_t size)
{
	char link[64];
	ssize_t len;
	char *end;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, buf, size - 1);
	buf[len > 0 ? len : 0] = '\0';
	end = strrchr(buf, '/');
	if (end)
		*end = '\0';
}

/* Place @nr of a file's debug information, in the order gdb looks for it; false: there are no more.
 * An empty path: not for this file. */
static bool debug_place(const struct open_request *r, const char *folder, uint32_t nr, char *path, size_t size)
{
	char hex[2 * sizeof(r->build_id) + 1] = "";

	*path = '\0';
	for (uint32_t i = 0; i < r->build_id_bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", r->build_id[i]);
	switch (nr) {
	case 0:
		if (r->build_id_bytes > 1)
			snprintf(path, size, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
		return true;
	case 1:
	case 2:
	case 3:
		if (*r->debuglink)
			snprintf(path, size, "%s%s/%s%s", nr == 3 ? "/usr/lib/debug" : "", folder,
				 nr == 2 ? ".debug/" : "", r->debuglink);
		return true;
	default:
		return false;
	}
}

#define PLACES 4

/* Those of the process's own root come first, then those of the host. */
static int open_debug(const struct open_request *r, int fd, uint32_t *attempt)
{
	char root[32], path[1024], folder[768];

	if (r->build_id_bytes > sizeof(r->build_id) || strchr(r->debuglink, '/')) {
		errno = EINVAL;
		return -1;
	}
	folder_of(fd, folder, sizeof(folder));
	for (*attempt = r->attempt; *attempt < 2 * PLACES; ++*attempt) {
		int found;

		snprintf(root, sizeof(root), *attempt < PLACES ? "/proc/%u/root" : "/", r->tgid);
		debug_place(r, folder, *attempt % PLACES, path, sizeof(path));
		found = *path ? open_below(root, path, RESOLVE_IN_ROOT) : -1;
		if (found >= 0)
			return found;
	}
	errno = ENOENT;
	return -1;
}

/* --- What a JIT says of its code */

/* The process's number in its own PID namespace, and the user it runs as. */
static bool process_status(uint32_t tgid, uint32_t *inner, uint32_t *uid)
{
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", tgid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "Uid: %*u %u", uid);
		if (!strncmp(line, "NSpid:", 6)) {
			*inner = strtoul(strrchr(line, '\t') + 1, NULL, 10);
			found = true;
		}
	}
	if (f)
		fclose(f);
	return found;
}

/* Anyone can write to /tmp: it is believed only if it is the process's own, and no link. */
static int open_perf_map(const struct open_request *r)
{
	uint32_t inner, uid = UINT32_MAX;
	char root[64], path[64];
	struct stat st;
	int fd;

	if (!process_status(r->tgid, &inner, &uid)) {
		errno = ESRCH;
		return -1;
	}
	snprintf(root, sizeof(root), "/proc/%u/root", r->tgid);
	snprintf(path, sizeof(path), "tmp/perf-%u.map", inner);
	fd = open_below(root, path, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != uid)) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

void open_run(int socket)
{
	struct open_request r;
	int passed;

	while (helper_receive(socket, &r, sizeof(r), &passed) == sizeof(r)) {
		struct open_answer a = { .id = r.id };
		int fd;

		r.path[sizeof(r.path) - 1] = r.debuglink[sizeof(r.debuglink) - 1] = '\0';
		fd = r.what == OPEN_DEBUG      ? open_debug(&r, passed, &a.attempt)
		     : r.what == OPEN_PERF_MAP ? open_perf_map(&r)
					       : open_mapped(&r);
		if (fd < 0)
			a.err = -errno;
		helper_send(socket, &a, sizeof(a), fd);
		if (fd >= 0)
			close(fd);
		if (passed >= 0)
			close(passed);
	}
}
