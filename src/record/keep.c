/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "ring.h"
#include "util/file.h"

#define MEMORY_MAX (32ULL << 20)

static uint64_t wanted_bytes(const struct keep_ring *rings, uint32_t nr)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (rings[i].slots)
			sum += (rings[i].end - rings[i].from) * sizeof(struct ring_slot);
	return sum;
}

static int open_store(const char *folder, uint64_t bytes)
{
	struct statvfs fs;
	int fd;

	if (bytes > MEMORY_MAX && !folder)
		return -EOPNOTSUPP;
	fd = bytes > MEMORY_MAX ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
				: memfd_create("systop-window", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* The trace, which is smaller, needs room beside the copy. A file system without a limit, such as ramfs, has no size. */
	if (bytes <= MEMORY_MAX || fstatvfs(fd, &fs) || !fs.f_blocks || fs.f_bavail * fs.f_frsize / 2 >= bytes)
		return fd;
	close(fd);
	return -ENOSPC;
}

/* Slots keep their places in the copy; the ring begins at offset @at. */
static int copy(int fd, off_t at, struct keep_ring *r, uint32_t nr_slots)
{
	uint32_t first = r->from & (nr_slots - 1);
	uint64_t nr = r->end - r->from, upper = nr < nr_slots - first ? nr : nr_slots - first;
	int err = file_write(fd, at + first * sizeof(*r->slots), r->slots + first, upper * sizeof(*r->slots));

	if (!err)
		err = file_write(fd, at, r->slots, (nr - upper) * sizeof(*r->slots));
	r->copied = __atomic_load_n(r->head, __ATOMIC_ACQUIRE);
	return err;
}

int keep_rings(struct keep_ring *rings, uint32_t nr, uint32_t nr_slots, const char *folder)
{
	size_t ring_bytes = (size_t)nr_slots * sizeof(struct ring_slot);
	int fd = open_store(folder, wanted_bytes(rings, nr)), err;
	const char *map = MAP_FAILED;

	if (fd < 0)
		return fd;
	err = ftruncate(fd, nr * ring_bytes) ? -errno : 0;
	for (uint32_t i = 0; i < nr && !err; i++)
		if (rings[i].slots)
			err = copy(fd, i * ring_bytes, &rings[i], nr_slots);
	if (!err)
		map = mmap(NULL, nr * ring_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (!err && map == MAP_FAILED)
		err = -errno;
	close(fd);
	for (uint32_t i = 0; i < nr; i++) {
		if (err) /* also of rings that were copied: all are read in place */
			rings[i].copied = 0;
		if (err || !rings[i].slots)
			continue;
		rings[i].slots = (const struct ring_slot *)(map + i * ring_bytes);
		rings[i].head = &rings[i].copied;
	}
	return err;
}
