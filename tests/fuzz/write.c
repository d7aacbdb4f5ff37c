/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the helper that writes traces, in sequence, of any kind and with any files. */
#include "fuzz.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Its mappings live until its process ends: here they are unmapped. */
#define MAPS_MAX 64

static struct {
	void *at;
	size_t bytes;
} maps[MAPS_MAX];
static int nr_maps;

static void *map_here(size_t bytes, int fd)
{
	void *at = nr_maps < MAPS_MAX ? mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (at != MAP_FAILED) {
		maps[nr_maps].at = at;
		maps[nr_maps++].bytes = bytes;
	}
	return at;
}

#define write_run write_run_here
#define write_kind write_kind_here
#define mmap(at, bytes, rights, flags, fd, offset) map_here(bytes, fd)
#define setpriority(which, who, priority) ((void)0)
#include "../../src/save/write.c"
#undef mmap

#define SLOTS 64

static void forget_job(struct job *job, uint32_t copied_cpus, uint32_t copied_slots)
{
	const char *copy = NULL;
	size_t ring = copied_slots * sizeof(struct ring_slot);

	for (uint32_t i = 0; i < copied_cpus && !copy; i++)
		if (job->rings[i].slots && job->rings[i].head == &job->rings[i].copied)
			copy = (const char *)job->rings[i].slots - i * ring;
	if (copy)
		munmap((void *)copy, copied_cpus * ring);
	while (nr_maps--)
		munmap(maps[nr_maps].at, maps[nr_maps].bytes);
	nr_maps = 0;
	trace_index_close(job->index);
	path_close(&job->path);
	free(job->rings);
	if (job->fd >= 0)
		close(job->fd);
}

/* A file of the requested size, or of another one. */
static int file_for(struct feed *f, size_t bytes)
{
	bool right = feed_number(f, 1);
	int fd = fuzz_fd(f->at, f->left < 200 ? f->left : 200);

	fuzz_check(!right || bytes > 1 << 20 || !ftruncate(fd, bytes), "no file of memory: %m");
	return fd;
}

static int take_one(struct feed *f, struct job *job, struct write_answer *a)
{
	static struct write_request r;
	int fd = -1, err;

	r = (struct write_request){ .what = feed_number(f, 1) };
	r.cpu = feed_number(f, 1);
	r.exporter = exporter_index(&export_trace);
	switch (r.what) {
	case WRITE_CPUS:
		if (job->rings) /* sent only once */
			return -EINVAL;
		r.slots = feed_number(f, 1) & 1 ? SLOTS : feed_number(f, 4);
		fd = file_for(f, r.cpu * sizeof(struct cpu_slot));
		break;
	case WRITE_RING:
		r.from = feed_number(f, 1);
		r.end = feed_number(f, 1);
		fd = file_for(f, (size_t)job->ring_slots * sizeof(struct ring_slot));
		break;
	case WRITE_PATH:
		snprintf(r.path, sizeof(r.path), "%s", fuzz_path(NULL, 0));
		feed_line(f, r.temporary, sizeof(r.temporary));
		break;
	case WRITE_TO:
		fd = file_for(f, 0);
		break;
	case WRITE_REMOVE:
		return -EINVAL;
	default:
		fd = fuzz_fd(f->at, f->left);
		f->left = 0;
	}
	err = take(job, &r, fd, a);
	if (fd >= 0)
		close(fd);
	return err;
}

void fuzz_write(const uint8_t *bytes, size_t size)
{
	struct job job = { .fd = -1, .path.folder = -1 };
	uint32_t copied_cpus = 0, copied_slots = 0;
	struct feed f = { bytes, size };
	struct write_answer a = { 0 };
	int pair[2], err = 0;

	fuzz_check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), "no socket: %m");
	job.socket = pair[0];
	while (f.left && !a.done && !err) {
		bool open = job.fd >= 0 || job.path.folder >= 0;

		err = take_one(&f, &job, &a);
		if (!open && (job.fd >= 0 || job.path.folder >= 0)) {
			copied_cpus = job.nr_cpus;
			copied_slots = job.ring_slots;
		}
	}
	if (job.named)
		unlinkat(job.path.folder, job.temporary, 0);
	forget_job(&job, copied_cpus, copied_slots);
	close(pair[0]);
	close(pair[1]);
}
