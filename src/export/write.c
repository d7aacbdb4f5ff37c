/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/write.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/image.h"
#include "export/trace.h"
#include "helper/helper.h"
#include "helper/proto.h"
#include "slot.h"

/* Handed to the file at once. */
#define BUFFER_BYTES (1 << 20)

struct job {
	int socket;
	const struct image *image;
	const struct cpu_slot *cpus;
	const struct ring_slot **rings; /* one a CPU of the image */
	int percent;
};

/* --- The file */

/* A file in the folder of @path that has no name yet, or, where the file system has no such files, one that nobody
 * knows. Sets what it is called then, "": nothing. Returns its fd or -errno. */
static int create(const char *path, char *name, size_t size)
{
	char copy[4096];
	const char *folder;
	int fd;

	snprintf(copy, sizeof(copy), "%s", path);
	folder = dirname(copy);
	*name = '\0';
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd < 0 ? -errno : fd;
	snprintf(name, size, "%.4000s/.systop-%d.pb", folder, getpid());
	fd = open(name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		*name = '\0';
	return fd < 0 ? -errno : fd;
}

/* The file gets its name, in one step and only when all of it is on the disk. */
static int finish(int fd, const char *path, const char *name)
{
	char from[64], new_name[4200], copy[4096];
	int folder, err = 0;

	if (fsync(fd))
		return -errno;
	snprintf(new_name, sizeof(new_name), "%s", name);
	if (!*name) {
		snprintf(copy, sizeof(copy), "%s", path);
		snprintf(new_name, sizeof(new_name), "%s/.systop-%d.pb", dirname(copy), getpid());
		snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
		if (linkat(AT_FDCWD, from, AT_FDCWD, new_name, AT_SYMLINK_FOLLOW))
			return -errno;
	}
	if (rename(new_name, path)) {
		err = -errno;
		unlink(new_name);
		return err;
	}
	snprintf(copy, sizeof(copy), "%s", path);
	folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0) {
		fsync(folder);
		close(folder);
	}
	return 0;
}

/* --- The trace */

static bool tell_progress(void *arg, int percent)
{
	struct job *job = arg;
	struct write_answer a = { .percent = percent };
	int sent;

	if (percent == job->percent)
		a.percent = percent; /* said again: whether somebody listens is found out by it */
	job->percent = percent;
	sent = helper_send(job->socket, &a, sizeof(a), -1);
	return sent >= 0 || sent == -EAGAIN;
}

static int write_trace(struct job *job, int fd, struct write_answer *a)
{
	struct trace_rings rings = { job->cpus, job->rings };
	struct trace_result result;
	int copy = dup(fd), err;
	FILE *to = copy < 0 ? NULL : fdopen(copy, "w");

	if (!to) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		return err;
	}
	setvbuf(to, NULL, _IOFBF, BUFFER_BYTES);
	err = trace_write(to, job->image, &rings, tell_progress, job, &result);
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

static int write_path(struct job *job, const char *path, struct write_answer *a)
{
	char name[4200];
	int fd = create(path, name, sizeof(name)), err;

	if (fd < 0)
		return fd;
	err = write_trace(job, fd, a);
	if (!err)
		err = finish(fd, path, name);
	if (err && *name)
		unlink(name);
	close(fd);
	return err;
}

/* --- What it is told */

static const void *map_fd(int fd, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int take(struct job *job, const struct write_request *r, int fd)
{
	switch (r->what) {
	case WRITE_IMAGE:
		job->image = image_open(fd);
		job->rings = job->image ? calloc(job->image->cpus.nr + 1, sizeof(*job->rings)) : NULL;
		return job->rings ? 0 : -EINVAL;
	case WRITE_CPUS:
		if (job->image)
			job->cpus = map_fd(fd, job->image->cpus.nr * sizeof(struct cpu_slot));
		return job->cpus ? 0 : -EINVAL;
	case WRITE_RING:
		if (!job->image || r->cpu >= job->image->cpus.nr)
			return -EINVAL;
		job->rings[r->cpu] = map_fd(fd, (size_t)job->image->ring_slots * sizeof(struct ring_slot));
		return job->rings[r->cpu] ? 0 : -errno;
	default:
		return -EINVAL;
	}
}

void write_run(int socket)
{
	static struct write_request r;
	struct write_answer a = { .done = 1 };
	struct job job = { .socket = socket };
	int fd, got;

	while (!a.err && (got = helper_receive(socket, &r, sizeof(r), &fd)) >= (int)offsetof(struct write_request, path)) {
		r.path[sizeof(r.path) - 1] = '\0';
		if (r.what == WRITE_TO || r.what == WRITE_PATH) {
			a.err = !job.cpus		 ? -EINVAL
				: r.what == WRITE_TO ? write_trace(&job, fd, &a)
						     : write_path(&job, r.path, &a);
			break;
		}
		a.err = take(&job, &r, fd);
		if (fd >= 0)
			close(fd);
	}
	a.percent = 100;
	helper_send(socket, &a, sizeof(a), -1);
}
