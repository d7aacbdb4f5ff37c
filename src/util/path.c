/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "util/file.h"

#define LINKS_MAX 40 /* the kernel's limit, too */

struct walk {
	struct path *p;
	uid_t uid;
	int flags, links;
	char rest[2 * PATH_MAX]; /* the part still to be walked */
};

static bool is_trusted(const struct walk *w, const struct stat *st)
{
	return !st->st_uid || st->st_uid == w->uid;
}

/* Makes @fd, a directory, the current one. Takes @fd over. */
static int enter(struct walk *w, int fd)
{
	struct stat st;

	if (fd < 0)
		return -errno;
	file_close(&w->p->folder);
	w->p->folder = fd;
	if (!(w->flags & PATH_OWNED))
		return 0;
	if (fstat(fd, &st))
		return -errno;
	return is_trusted(w, &st) ? 0 : -EPERM;
}

static int enter_first(struct walk *w)
{
	return enter(w, open(*w->rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Takes the first name off the rest. Returns whether it is the last one. */
static bool take_name(struct walk *w, char *name, size_t size, bool *fits)
{
	size_t begin = strspn(w->rest, "/"), len = strcspn(w->rest + begin, "/");
	size_t next = begin + len + strspn(w->rest + begin + len, "/");
	bool last = !w->rest[next];

	*fits = len < size;
	snprintf(name, size, "%.*s", (int)len, w->rest + begin);
	if (!len || (last && (!strcmp(name, "..") || w->rest[begin + len])))
		last = false; /* it has to be a directory, whatever its name */
	memmove(w->rest, w->rest + next, strlen(w->rest + next) + 1);
	return last;
}

/* Whether a name in /proc is that of a descriptor, whose link text does not identify the file. */
static bool is_magic(const struct walk *w, const char *name)
{
	struct statfs fs;

	return name[strspn(name, "0123456789")] == '\0' && !fstatfs(w->p->folder, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Puts a link's target before the rest. */
static int follow(struct walk *w, const char *name, const struct stat *st)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t len;

	if (!is_trusted(w, st))
		return -ELOOP;
	if (++w->links > LINKS_MAX)
		return -EMLINK;
	len = readlinkat(w->p->folder, name, target, sizeof(target) - 1);
	if (len < 0)
		return -errno;
	target[len] = '\0';
	if (snprintf(rest, sizeof(rest), "%s", w->rest) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	snprintf(w->rest, sizeof(w->rest), "%s%s%s", target, *rest ? "/" : "", rest);
	return *target == '/' ? enter_first(w) : 0;
}

static int walk_into(struct walk *w, const char *name)
{
	int fd = openat(w->p->folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && w->flags & PATH_MAKE) {
		if (mkdirat(w->p->folder, name, 0700) && errno != EEXIST)
			return -errno;
		fd = openat(w->p->folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	return enter(w, fd);
}

/* Walks one name further. Returns 1 if there are more, 0 at the end, or -errno. */
static int step(struct walk *w)
{
	struct path *p = w->p;
	char name[NAME_MAX + 1];
	bool fits, last = take_name(w, name, sizeof(name), &fits);
	int err;

	if (!fits)
		return -ENAMETOOLONG;
	if (!*name || !strcmp(name, ".")) {
		snprintf(p->name, sizeof(p->name), ".");
		return *w->rest ? 1 : fstat(p->folder, &p->st) ? -errno : 0;
	}
	p->st = (struct stat){ 0 };
	if (fstatat(p->folder, name, &p->st, AT_SYMLINK_NOFOLLOW) && errno != ENOENT)
		return -errno;
	if (S_ISLNK(p->st.st_mode) && last && is_magic(w, name))
		p->magic = true;
	else if (S_ISLNK(p->st.st_mode))
		return (err = follow(w, name, &p->st)) ? err : 1;
	if (!last)
		return (err = walk_into(w, name)) ? err : 1;
	snprintf(p->name, sizeof(p->name), "%s", name);
	return 0;
}

int path_resolve(const char *path, uid_t uid, int flags, struct path *p)
{
	struct walk w = { .p = p, .uid = uid, .flags = flags };
	int err;

	*p = (struct path){ .folder = -1 };
	if (!*path)
		return -ENOENT;
	if (snprintf(w.rest, sizeof(w.rest), "%s", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	err = enter_first(&w);
	while (!err && (err = step(&w)) > 0)
		err = 0;
	return err;
}

void path_close(struct path *p)
{
	file_close(&p->folder);
}

int path_open(const struct path *p, mode_t mode, int flags)
{
	char place[32];
	struct stat st;
	int held = openat(p->folder, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd = -1, err = 0;

	if (held < 0)
		return -errno;
	if (fstat(held, &st))
		err = -errno;
	else if ((st.st_mode & S_IFMT) != mode || st.st_uid != p->st.st_uid)
		err = -EAGAIN;
	if (!err) {
		snprintf(place, sizeof(place), "/proc/self/fd/%d", held);
		fd = open(place, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		err = fd < 0 ? -errno : 0;
	}
	close(held);
	return err ? err : fd;
}

static const char *distrust(const struct stat *st, uid_t uid)
{
	if (st->st_uid && st->st_uid != uid)
		return "belongs to another user: not read";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "can be written by others: not read (chmod go-w)";
	return NULL;
}

static int open_trusted(const struct path *p, uid_t uid, const char **why)
{
	struct stat st;
	int fd;

	if (!p->st.st_mode)
		return -ENOENT;
	*why = S_ISREG(p->st.st_mode) ? NULL : "is not a file";
	if (*why)
		return -EPERM;
	fd = path_open(p, S_IFREG, O_RDONLY);
	if (fd < 0)
		return fd;
	*why = fstat(fd, &st) ? "cannot be examined" : distrust(&st, uid);
	if (!*why)
		return fd;
	close(fd);
	return -EPERM;
}

FILE *path_read_at(const struct path *p, uid_t uid, const char **why)
{
	int fd = open_trusted(p, uid, why);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd < 0)
		errno = -fd;
	else if (!file)
		close(fd);
	return file;
}

FILE *path_read(const char *path, uid_t uid, const char **why)
{
	struct path p;
	int err = path_resolve(path, uid, 0, &p);
	FILE *file = err ? NULL : path_read_at(&p, uid, why);

	if (err)
		errno = -err;
	if (err == -ELOOP)
		*why = "is reached through another user's link: not read";
	path_close(&p);
	return file;
}
