/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "export/capture.h"
#include "export/exporter.h"
#include "export/trace_index.h"
#include "helper/helper.h"
#include "helper/proto.h"
#include "record/keep.h"
#include "ring.h"
#include "save/kept.h"
#include "slot.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/invoker.h"
#include "util/path.h"

/* Niceness added once the rings are copied. */
#define LATER 10

/* Bytes written at once. */
#define BUFFER_BYTES (1 << 20)

/* Our own buffer, as for a device the C library would query the terminal before allocating one. */
static char buffer[BUFFER_BYTES];

/* How long to wait for a FIFO's reader, and how often to look. */
#define READER_NS 10000000000LL
#define READER_NAP_NS 50000000LL

/* Maximum number of files of the same name. */
#define BESIDE_MAX 99

/* No kernel has more CPUs. */
#define CPUS_MAX 8192

struct job {
	int socket;
	const struct cpu_slot *cpus;
	struct keep_ring *rings; /* one per CPU */
	uint32_t nr_cpus, ring_slots;
	int fd;                  /* output; -1: not open yet */
	struct path path;        /* final name; folder -1: the file was opened by the caller */
	mode_t stream;           /* S_IFIFO or S_IFCHR: written to directly */
	char temporary[WRITE_TEMPORARY_SIZE]; /* name until then, if @named */
	bool named;
	const char *beside;      /* suffix of its name, if it must not replace a file; else NULL */
	const struct trace_index *index;
	const struct exporter *exporter; /* writes the trace */
	const uint8_t *content;  /* to be written in place of a trace; NULL: a trace */
	size_t content_bytes;
};

/* --- The file */

int write_kind(const struct path *p, mode_t *stream)
{
	mode_t kind = p->st.st_mode & S_IFMT;

	*stream = kind == S_IFIFO || kind == S_IFCHR ? kind : 0;
	if (kind == S_IFIFO && p->st.st_uid && p->st.st_uid != invoker()->uid) /* anyone can make one in /tmp, and read it */
		return -EPERM;
	if (!kind || kind == S_IFREG || *stream)
		return 0;
	return kind == S_IFDIR ? -EISDIR : -EOPNOTSUPP;
}

void write_temporary(char name[static WRITE_TEMPORARY_SIZE])
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = clock_ns(CLOCK_MONOTONIC);
	snprintf(name, WRITE_TEMPORARY_SIZE, ".systop-%016" PRIx64 ".part", random);
}

int write_create(int folder, const char *temporary, mode_t mode, bool *named)
{
	struct stat st;
	int fd;

	*named = false;
	if (!fstat(folder, &st) && !st.st_nlink) /* removed by someone: some file systems report EPERM then */
		return -ENOENT;
	fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
		fd = openat(folder, temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, mode);
		*named = fd >= 0;
	}
	if (fd < 0)
		return errno == ENOENT ? -EPERM : -errno; /* the folder is there: no file can be made, as in /proc */
	fchmod(fd, mode); /* whatever systop's umask is */
	return fd;
}

void write_numbered(char *name, size_t size, const char *suffix, unsigned int number)
{
	size_t len = strlen(name), end = strlen(suffix) + 1;

	if (len < end || strcmp(name + len - end + 1, suffix))
		end = 0;
	len -= end;
	snprintf(name + len, size - len, "-%u%s%s", number, end ? "." : "", end ? suffix : "");
}

static int give_name(const struct job *job, const char *name)
{
	char from[64];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", job->fd);
	return linkat(AT_FDCWD, from, job->path.folder, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* A file's name is on the disk only when its folder is. */
static void sync_folder(const struct job *job)
{
	int fd = openat(job->path.folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/* --- The trace */

/* Also sent without progress: it shows whether the socket is still open. */
static bool report_progress(void *arg, int percent)
{
	struct job *job = arg;
	struct write_answer a = { .percent = percent, .stream = job->stream == S_IFIFO };
	int sent = helper_send(job->socket, &a, sizeof(a), -1);

	return sent >= 0 || sent == -EAGAIN;
}

static int export_window(struct job *job, FILE *to, struct capture_result *result)
{
	struct kept kept = { job->index, job->rings };
	struct capture c = { .progress = report_progress, .progress_arg = job };

	kept_capture(&c, &kept);
	return job->exporter->window(to, &c, result);
}

static int write_trace(struct job *job, struct write_answer *a)
{
	struct capture_result result;
	int copy = dup(job->fd), err;
	FILE *to = copy < 0 ? NULL : fdopen(copy, "w");

	if (!to) {
		file_close(&copy);
		return -errno;
	}
	setvbuf(to, buffer, _IOFBF, sizeof(buffer));
	err = export_window(job, to, &result);
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

/* Bytes that the disk gets at once: on a slow one a whole trace takes minutes. */
#define SYNC_BYTES (256 << 10)

/* Like fsync(), but reports progress, which shows that the disk works. The first step only starts writing all of the file, the
 * second one waits. On an overlay nothing happens before the fsync() at the end. */
static int sync_file(struct job *job)
{
	static const unsigned int steps[] = {
		SYNC_FILE_RANGE_WRITE,
		SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER,
	};
	struct stat st;

	if (fstat(job->fd, &st))
		return -errno;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		for (off_t at = 0; at < st.st_size; at += SYNC_BYTES) {
			if (sync_file_range(job->fd, at, SYNC_BYTES, steps[i]))
				return -errno;
			if (!report_progress(job, 100))
				return -ECANCELED;
		}
	}
	return fsync(job->fd) ? -errno : 0;
}

/* The old file stays until the new one is complete. */
static int replace(struct job *job, const char *name)
{
	int err = job->named ? 0 : give_name(job, name);

	if (err == -EEXIST) {
		err = give_name(job, job->temporary);
		job->named = !err;
	}
	if (!err && job->named) {
		err = renameat(job->path.folder, job->temporary, job->path.folder, name) ? -errno : 0;
		job->named = err;
	}
	return err;
}

/* -EEXIST: the name is taken. -EINVAL: it is free, but the file system cannot promise not to replace a file. */
static int claim(struct job *job, const char *name)
{
	int err;

	if (!job->named)
		return give_name(job, name);
	err = renameat2(job->path.folder, job->temporary, job->path.folder, name, RENAME_NOREPLACE) ? -errno : 0;
	job->named = err;
	return err;
}

/* Two saves in the same second have the same name. @number: set to the number that was added to the name, 0: none */
static int put_beside(struct job *job, uint32_t *number)
{
	char name[sizeof(job->path.name)];
	int err = -EEXIST;

	for (uint32_t i = 1; err == -EEXIST && i <= BESIDE_MAX; i++) {
		memcpy(name, job->path.name, sizeof(name));
		*number = i > 1 ? i : 0;
		if (*number)
			write_numbered(name, sizeof(name), job->beside, i);
		err = claim(job, name);
	}
	return err == -EINVAL ? replace(job, name) : err;
}

/* Makes the file appear in one step, and only once all of it is on the disk. */
static int publish(struct job *job, struct write_answer *a)
{
	int err;

	if (job->path.folder < 0 || job->stream)
		return 0;
	err = sync_file(job);
	if (!err && !report_progress(job, 100)) /* saving was cancelled while the disk was slow */
		err = -ECANCELED;
	if (!err)
		err = job->beside ? put_beside(job, &a->number) : replace(job, job->path.name);
	if (!err)
		sync_folder(job);
	return err;
}

/* Bytes of content per write: progress is reported in between. */
#define CONTENT_BYTES (64 << 10)

static int write_content(struct job *job, struct write_answer *a)
{
	for (size_t at = 0; at < job->content_bytes;) {
		size_t left = job->content_bytes - at;
		ssize_t n = write(job->fd, job->content + at, left < CONTENT_BYTES ? left : CONTENT_BYTES);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n < 0 ? 0 : n;
		if (!report_progress(job, 100 * at / job->content_bytes))
			return -ECANCELED;
	}
	a->bytes = job->content_bytes;
	return 0;
}

/* Opens the device or FIFO. A FIFO needs a reader, which may come later than the end of the recording. */
static int open_stream(struct job *job)
{
	const struct timespec nap = { .tv_nsec = READER_NAP_NS };
	int64_t waited = 0;
	int fd;

	while ((fd = path_open(&job->path, job->stream, O_WRONLY)) == -ENXIO && job->stream == S_IFIFO &&
	       waited < READER_NS) {
		if (!report_progress(job, 0))
			return -ECANCELED;
		nanosleep(&nap, NULL);
		waited += nap.tv_nsec;
	}
	if (fd < 0)
		return fd;
	fcntl(fd, F_SETFL, 0);
	job->fd = fd;
	return report_progress(job, 0) ? 0 : -ECANCELED; /* the first write may already wait for the reader */
}

/* Bytes that the whole trace needs; 0: unknown. */
static uint64_t measure_trace(struct job *job)
{
	FILE *to = fopen("/dev/null", "we");
	struct capture_result result = { 0 };
	int err = -1;

	if (to) {
		setvbuf(to, buffer, _IOFBF, sizeof(buffer));
		err = export_window(job, to, &result);
		fclose(to);
	}
	return err ? 0 : result.bytes;
}

/* Finds how much is free without the unfinished file. A file that the caller opened stays, as it may have other content. */
static void measure_room(struct job *job, int err, struct write_answer *a)
{
	struct statvfs fs;

	if (err == -ENOSPC && (job->path.folder < 0 || !ftruncate(job->fd, 0)) && !fstatvfs(job->fd, &fs))
		a->room = fs.f_bavail * fs.f_frsize;
}

static int write_file(struct job *job, struct write_answer *a)
{
	int err = job->stream ? open_stream(job) : 0;

	if (!err)
		err = job->content ? write_content(job, a) : write_trace(job, a);
	if (!err)
		err = publish(job, a);
	if (err == -ENOSPC || err == -EDQUOT || err == -EFBIG) {
		a->need = job->content ? job->content_bytes : measure_trace(job);
		measure_room(job, err, a);
	}
	a->done = 1;
	return err;
}

/* --- Requests */

/* fstat() reports no size for BPF maps; mmap() refuses more than they have. */
static const void *map_fd(int fd, size_t bytes)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) || (S_ISREG(st.st_mode) && (uint64_t)st.st_size < bytes))
		return NULL;
	p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

static int take_cpus(struct job *job, const struct write_request *r, int fd)
{
	if (job->rings || r->cpu > CPUS_MAX || r->slots & (r->slots - 1))
		return -EINVAL;
	job->rings = calloc(r->cpu + 1, sizeof(*job->rings));
	job->cpus = map_fd(fd, r->cpu * sizeof(struct cpu_slot));
	job->nr_cpus = r->cpu;
	job->ring_slots = r->slots;
	return job->rings && job->cpus ? 0 : -ENOMEM;
}

static int take_ring(struct job *job, const struct write_request *r, int fd)
{
	struct keep_ring *ring = r->cpu < job->nr_cpus ? &job->rings[r->cpu] : NULL;

	if (!ring || ring->slots || r->from > r->end)
		return -EINVAL;
	*ring = (struct keep_ring){ .slots = map_fd(fd, (size_t)job->ring_slots * sizeof(struct ring_slot)),
				    .head = (const uint64_t *)&job->cpus[r->cpu].records,
				    .from = r->end - r->from > job->ring_slots ? r->end - job->ring_slots : r->from,
				    .end = r->end };
	return ring->slots ? 0 : -ENOMEM;
}

static int take_path(struct job *job, const struct write_request *r)
{
	const struct exporter *as = exporter_at(r->exporter);
	int err;

	if (!as || !*r->temporary || strchr(r->temporary, '/'))
		return -EINVAL;
	snprintf(job->temporary, sizeof(job->temporary), "%s", r->temporary);
	job->beside = r->beside ? as->suffix : NULL;
	err = path_resolve(r->path, invoker()->uid, 0, &job->path);
	if (!err && job->path.magic)
		err = -EOPNOTSUPP;
	else if (!err && !job->beside) /* otherwise whatever is there has taken the name */
		err = write_kind(&job->path, &job->stream);
	if (err || job->stream)
		return err;
	job->fd = write_create(job->path.folder, job->temporary, as->others_read ? 0644 : 0600, &job->named);
	return job->fd < 0 ? job->fd : 0;
}

/* Errors of the file are found before anyone waits. If the copy fails, the rings themselves are read. */
static int take_file(struct job *job, const struct write_request *r, int fd)
{
	char folder[32] = "";
	int err = 0;

	if (job->fd >= 0 || job->path.folder >= 0)
		return -EINVAL;
	if (r->what == WRITE_PATH)
		err = take_path(job, r);
	else
		job->fd = dup(fd);
	if (job->path.folder >= 0 && !job->stream)
		snprintf(folder, sizeof(folder), "/proc/self/fd/%d", job->path.folder);
	if (!err && job->rings)
		keep_rings(job->rings, job->nr_cpus, job->ring_slots, *folder ? folder : NULL);
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + LATER); /* waiting costs no data any more */
	return err;
}

static int remove_rest(const struct write_request *r)
{
	struct path p;
	int err = path_resolve(r->path, invoker()->uid, 0, &p);

	if (!err && !strncmp(r->temporary, ".systop-", 8) && !strchr(r->temporary, '/'))
		err = unlinkat(p.folder, r->temporary, 0) ? -errno : 0;
	path_close(&p);
	return err;
}

static int take_index(struct job *job, const struct write_request *r, int fd, struct write_answer *a)
{
	job->exporter = exporter_at(r->exporter);
	job->index = trace_index_open(fd);
	if (!job->exporter || !job->exporter->window || !job->index || (job->fd < 0 && !job->stream) ||
	    job->index->cpus.nr != job->nr_cpus || job->index->ring_slots != job->ring_slots)
		return -EINVAL;
	return write_file(job, a);
}

static int take_content(struct job *job, int fd, struct write_answer *a)
{
	struct stat st;

	if ((job->fd < 0 && !job->stream) || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return -EINVAL;
	job->content = map_fd(fd, st.st_size);
	job->content_bytes = st.st_size;
	return job->content ? write_file(job, a) : -ENOMEM;
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
	case WRITE_INDEX:
		return take_index(job, r, fd, a);
	case WRITE_CONTENT:
		return take_content(job, fd, a);
	case WRITE_REMOVE:
		a->done = 1;
		return remove_rest(r);
	default:
		return -EINVAL;
	}
}

void write_run(int socket)
{
	static struct job job = { .fd = -1, .path.folder = -1 };
	static struct write_request r;
	struct write_answer a = { 0 };
	int fd, got;

	job.socket = socket;
	signal(SIGPIPE, SIG_IGN); /* a closed reader is an error like any other */
	while (!a.done && !a.err &&
	       (got = helper_receive(socket, &r, sizeof(r), &fd)) >= (int)offsetof(struct write_request, path)) {
		r.path[sizeof(r.path) - 1] = '\0';
		r.temporary[sizeof(r.temporary) - 1] = '\0';
		a.err = take(&job, &r, fd, &a);
		file_close(&fd);
	}
	if (job.named)
		unlinkat(job.path.folder, job.temporary, 0);
	a.done = 1;
	a.percent = 100;
	helper_send(socket, &a, sizeof(a), -1);
}
