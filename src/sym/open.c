/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

static int open_build_id(const struct open_request *r)
{
	char hex[2 * sizeof(r->build_id) + 1] = "", path[128];

	if (r->bytes < 2 || r->bytes > sizeof(r->build_id)) {
		errno = EINVAL;
		return -1;
	}
	for (uint32_t i = 0; i < r->bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", r->build_id[i]);
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

void open_run(int socket)
{
	struct open_request r;
	int passed;

	while (helper_receive(socket, &r, sizeof(r), &passed) == sizeof(r)) {
		struct open_answer a = { .id = r.id };
		int fd;

		if (passed >= 0)
			close(passed);
		r.path[sizeof(r.path) - 1] = '\0';
		fd = r.what == OPEN_BUILD_ID ? open_build_id(&r) : open_mapped(&r);
		if (fd < 0)
			a.err = -errno;
		helper_send(socket, &a, sizeof(a), fd);
		if (fd >= 0)
			close(fd);
	}
}
