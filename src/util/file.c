/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

int file_write(int fd, uint64_t at, const void *from, size_t bytes)
{
	while (bytes) {
		ssize_t n = pwrite(fd, from, bytes, at);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += n;
		from = (const char *)from + n;
		bytes -= n;
	}
	return 0;
}

static int open_small(const char *path, va_list args)
{
	char name[PATH_MAX];

	if (vsnprintf(name, sizeof(name), path, args) < (int)sizeof(name))
		return open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	errno = ENAMETOOLONG;
	return -1;
}

static size_t read_small(char *text, size_t size, const char *path, va_list args)
{
	int fd = open_small(path, args);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	file_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? n : 0;
}

size_t file_text(char *text, size_t size, const char *path, ...)
{
	va_list args;
	size_t bytes;

	va_start(args, path);
	bytes = read_small(text, size, path, args);
	va_end(args);
	return bytes;
}

void file_line(char *line, size_t size, const char *path, ...)
{
	va_list args;

	va_start(args, path);
	read_small(line, size, path, args);
	va_end(args);
	line[strcspn(line, "\n")] = '\0';
}

FILE *file_open(const char *path, ...)
{
	va_list args;
	FILE *f;
	int fd;

	va_start(args, path);
	fd = open_small(path, args);
	va_end(args);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		file_close(&fd);
	return f;
}

void file_close(int *fd)
{
	int err = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = err;
}

bool file_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

int file_flush(FILE *to)
{
	return fflush(to) || ferror(to) ? errno ? -errno : -EIO : 0;
}

char *file_gets(char *buf, int size, FILE *f, bool *cut)
{
	int c;

	buf[size - 2] = '\0';
	if (!fgets(buf, size, f))
		return NULL;
	*cut = buf[size - 2] && buf[size - 2] != '\n';
	if (!*cut)
		return buf;
	buf[size - 2] = '\n';
	do
		c = getc(f);
	while (c != '\n' && c != EOF);
	return buf;
}

int file_seal(int fd)
{
	return fcntl(fd, F_ADD_SEALS, SEALS) ? -errno : 0;
}

bool file_sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

bool file_is_overlay(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* On an overlay the upper half of a file's inode number may identify the file system of its layer (xino). */
static bool same_inode(int fd, uint64_t found, uint64_t inode)
{
	return found == inode || ((uint32_t)found == (uint32_t)inode && file_is_overlay(fd));
}

bool file_is(int fd, uint64_t inode, uint64_t size, uint64_t mtime_s, struct stat *st)
{
	return !fstat(fd, st) && S_ISREG(st->st_mode) && same_inode(fd, st->st_ino, inode) && (uint64_t)st->st_size == size &&
	       (uint64_t)st->st_mtim.tv_sec == mtime_s;
}

int file_look_in(int folder, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = FILE_LOOK | flags, .resolve = resolve | RESOLVE_NO_MAGICLINKS };

	return syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

int file_look_below(const char *root, const char *path, uint64_t flags, uint64_t resolve)
{
	int dir = open(root, FILE_LOOK | O_DIRECTORY), fd;

	if (dir < 0)
		return -1;
	fd = file_look_in(dir, path, flags, resolve);
	file_close(&dir);
	return fd;
}

int file_open_seen(int seen)
{
	struct stat st;
	char path[32];
	int fd = -1;

	if (fstat(seen, &st) || !S_ISREG(st.st_mode)) {
		errno = ENOENT;
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", seen);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	file_close(&seen);
	return fd;
}

FILE *file_stream(int fd, const char *mode)
{
	int copy = dup(fd);
	FILE *f = copy < 0 ? NULL : fdopen(copy, mode);

	if (f)
		rewind(f);
	else
		file_close(&copy);
	return f;
}
