/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/write.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/image.h"
#include "export/trace.h"
#include "helper/helper.h"
#include "helper/proto.h"
#include "record/keep.h"
#include "ring.h"
#include "slot.h"

/* By so much less urgent it is when it has its copy of the rings. */
#define LATER 10

/* Handed to the file at once. */
#define BUFFER_BYTES (1 << 20)

struct job {
	int socket;
	const struct cpu_slot *cpus;
	struct keep_ring *rings; /* one a CPU */
	uint32_t nr_cpus, ring_slots;
	int fd;                  /* what is written to */
	char path[4096];         /* what it will be called; "": it is somebody else's */
	char name[4200];         /* what it is called until then, if @named */
	bool named;
	const struct image *image;
};

/* --- The file */

static const char *folder_of(const char *path, char *buf, size_t size)
{
	snprintf(buf, size, "%s", path);
	return dirname(buf);
}

/* A file that has no name yet, or, where the file system has no such files, another one. */
static int create(struct job *job, const char *folder)
{
	struct stat st;

	if (!stat(folder, &st) && !st.st_nlink) /* somebody removed it: some file systems say that it is not allowed */
		return -ENOENT;
	job->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (job->fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return job->fd < 0 ? -errno : 0;
	snprintf(job->name, sizeof(job->name), "%s/.systop-%d.pb", folder, getpid());
	job->fd = open(job->name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
	job->named = job->fd >= 0;
	return job->fd < 0 ? -errno : 0;
}

static int give_name(int fd, const char *name)
{
	char from[64];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* That a file has a name is on the disk when its folder is. */
static void sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/* --- The trace */

/* Also where nothing changed: whether somebody listens is found out by it. */
static bool tell_progress(void *arg, int percent)
{
	struct job *job = arg;
	struct write_answer a = { .percent = percent };
	int sent = helper_send(job->socket, &a, sizeof(a), -1);

	return sent >= 0 || sent == -EAGAIN;
}

static int write_trace(struct job *job, struct write_answer *a)
{
	struct trace_result result;
	int copy = dup(job->fd), err;
	FILE *to = copy < 0 ? NULL : fdopen(copy, "w");

	if (!to) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		return err;
	}
	setvbuf(to, NULL, _IOFBF, BUFFER_BYTES);
	err = trace_write(to, job->image, job->rings, tell_progress, job, &result);
	if (fclose(to) && !err)
		err = -errno;
	a->bytes = result.bytes;
	a->events = result.events;
	a->lost = result.lost;
	a->gaps = result.gaps;
	a->from = result.from;
	a->to = result.to;
	return err;
}

/* The file is there in one step, and only when all of it is on the disk. */
static int publish(struct job *job)
{
	char copy[4096];
	int err = 0;

	if (!*job->path)
		return 0;
	if (fsync(job->fd))
		return -errno;
	if (!job->named)
		err = give_name(job->fd, job->path);
	if (err == -EEXIST) { /* what was there before is there until the new one is */
		snprintf(job->name, sizeof(job->name), "%s/.systop-%d.pb", folder_of(job->path, copy, sizeof(copy)),
			 getpid());
		err = give_name(job->fd, job->name);
		job->named = !err;
	}
	if (!err && job->named) {
		err = rename(job->name, job->path) ? -errno : 0;
		job->named = err;
	}
	if (!err)
		sync_folder(folder_of(job->path, copy, sizeof(copy)));
	return err;
}

/* --- What it is told */

static const void *map_fd(int fd, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int take_cpus(struct job *job, const struct write_request *r, int fd)
{
	job->rings = calloc(r->cpu + 1, sizeof(*job->rings));
	job->cpus = map_fd(fd, r->cpu * sizeof(struct cpu_slot));
	job->nr_cpus = r->cpu;
	job->ring_slots = r->slots;
	return job->rings && job->cpus ? 0 : -ENOMEM;
}

static int take_ring(struct job *job, const struct write_request *r, int fd)
{
	struct keep_ring *ring = r->cpu < job->nr_cpus ? &job->rings[r->cpu] : NULL;

	if (!ring || r->from > r->end)
		return -EINVAL;
	*ring = (struct keep_ring){ .slots = map_fd(fd, (size_t)job->ring_slots * sizeof(struct ring_slot)),
				    .head = (const uint64_t *)&job->cpus[r->cpu].records,
				    .from = r->end - r->from > job->ring_slots ? r->end - job->ring_slots : r->from,
				    .end = r->end };
	return ring->slots ? 0 : -ENOMEM;
}

/* What can go wrong with the file is known before anybody waits; without a copy the rings themselves are read. */
static int take_file(struct job *job, const struct write_request *r, int fd)
{
	char copy[4096];
	const char *folder = r->what == WRITE_PATH ? folder_of(r->path, copy, sizeof(copy)) : NULL;
	int err = 0;

	if (folder) {
		snprintf(job->path, sizeof(job->path), "%s", r->path);
		err = create(job, folder);
	} else {
		job->fd = dup(fd);
	}
	if (!err)
		keep_rings(job->rings, job->nr_cpus, job->ring_slots, folder);
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + LATER); /* nothing is lost by waiting now */
	return err;
}

static int take_image(struct job *job, int fd, struct write_answer *a)
{
	int err;

	job->image = image_open(fd);
	if (!job->image || job->fd < 0 || job->image->cpus.nr != job->nr_cpus || job->image->ring_slots != job->ring_slots)
		return -EINVAL;
	err = write_trace(job, a);
	if (!err)
		err = publish(job);
	a->done = 1;
	return err;
}

static int take(struct job *job, const struct write_request *r, int fd, struct write_answer *a)
{
	switch (r->what) {
	case WRITE_CPUS:
		return take_cpus(job, r, fd);
	case WRITE_RING:
		return take_ring(job, r, fd);
	case WRITE_TO:
	case WRITE_PATH:
		return take_file(job, r, fd);
	case WRITE_IMAGE:
		return take_image(job, fd, a);
	default:
		return -EINVAL;
	}
}

void write_run(int socket)
{
	static struct job job = { .fd = -1 };
	static struct write_request r;
	struct write_answer a = { 0 };
	int fd, got;

	job.socket = socket;
	signal(SIGPIPE, SIG_IGN); /* a reader that goes is an error like others */
	while (!a.done && !a.err &&
	       (got = helper_receive(socket, &r, sizeof(r), &fd)) >= (int)offsetof(struct write_request, path)) {
		r.path[sizeof(r.path) - 1] = '\0';
		a.err = take(&job, &r, fd, &a);
		if (fd >= 0)
			close(fd);
	}
	if (job.named)
		unlink(job.name);
	a.done = 1;
	a.percent = 100;
	helper_send(socket, &a, sizeof(a), -1);
}
