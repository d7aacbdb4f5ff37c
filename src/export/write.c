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
};

/* --- The file */

static const char *folder_of(const char *path, char *buf, size_t size)
{
	snprintf(buf, size, "%s", path);
	return dirname(buf);
}

/* A file in @folder that has no name yet, or, where the file system has no such files, has @name. */
static int create(const char *folder, const char *name, bool *named)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	*named = false;
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd < 0 ? -errno : fd;
	fd = open(name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
	*named = fd >= 0;
	return fd < 0 ? -errno : fd;
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

/* The file is there in one step, and only when all of it is on the disk. */
static int write_path(struct job *job, const char *path, struct write_answer *a)
{
	char copy[4096], name[4200];
	const char *folder = folder_of(path, copy, sizeof(copy));
	bool named;
	int fd, err;

	snprintf(name, sizeof(name), "%s/.systop-%d.pb", folder, getpid());
	fd = create(folder, name, &named);
	if (fd < 0)
		return fd;
	err = write_trace(job, fd, a);
	if (!err && fsync(fd))
		err = -errno;
	if (!err && !named)
		err = give_name(fd, path);
	if (err == -EEXIST) { /* what was there before is there until the new one is */
		err = give_name(fd, name);
		named = !err;
	}
	if (!err && named && rename(name, path))
		err = -errno;
	if (err && named)
		unlink(name);
	else if (!err)
		sync_folder(folder);
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

	signal(SIGPIPE, SIG_IGN); /* a reader that goes is an error like others */
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
