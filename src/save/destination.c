/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "save/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "save/write.h"
#include "util/fail.h"
#include "util/format.h"
#include "util/invoker.h"
#include "util/path.h"
#include "util/text.h"

/* Characters of a path in a message: a line has 80 cells. */
#define PATH_WIDTH 40

static const struct {
	int err;
	const char *cause, *fix; /* NULL: the C library's text */
} failures[] = {
	{ -EACCES, NULL, "cd    # or another folder where you can write" },
	{ -EAGAIN, NULL, "systop    # start it again" },
	{ -EDQUOT, NULL, "quota    # or a file elsewhere, or fewer seconds" },
	{ -EFBIG, NULL, "ulimit -f unlimited    # or fewer seconds" },
	{ -EISDIR, "it is a directory", "ls -d FILE/*    # a file in it" },
	{ -ELOOP, "a link to it belongs to another user", "readlink -f FILE    # then try again with that" },
	{ -EMFILE, NULL, "ulimit -n 4096    # then start it again" },
	{ -EMLINK, "its links lead in a circle, or are too many", "namei FILE    # shows them" },
	{ -ENOENT, NULL, "mkdir -p \"$(dirname FILE)\"" },
	{ -ENOMEM, NULL, "free -m    # then try again" },
	{ -ENOSPC, NULL, "df -h .    # or a file elsewhere, or fewer seconds" },
	{ -ENXIO, "this FIFO has no reader", "cat FIFO >FILE &    # before it is saved" },
	{ -EOPNOTSUPP, "not a file, FIFO or character device", "stat FILE    # then try again with another one" },
	{ -EPERM, "it is another user's, or its folder takes no files", "cd    # or another folder where you can write" },
	{ -EPIPE, "its helper ended, or the reader closed it", "systop --check    # then try again" },
	{ -EROFS, NULL, "cd    # or another folder where you can write" },
	{ -ETIMEDOUT, "nothing was written for 20 s", "df -h    # then a file on another disk" },
};

#define NR_FAILURES (sizeof(failures) / sizeof(failures[0]))

static size_t find(int err)
{
	size_t i = 0;

	while (i < NR_FAILURES && failures[i].err != err)
		i++;
	return i;
}

void save_cause(const struct save_failure *f, char *buf, size_t size)
{
	size_t i = find(f->err);
	const char *need = BYTES_TEXT(f->need), *room = BYTES_TEXT(f->room);

	snprintf(buf, size, "%s", i < NR_FAILURES && failures[i].cause ? failures[i].cause : strerror(-f->err));
	if (!f->need)
		return;
	if (f->err == -EFBIG)
		text_add(buf, size, " (need %s, ulimit -f is %s)", need, room);
	else if (f->err == -ENOSPC)
		text_add(buf, size, " (need %s, %s free)", need, room);
	else
		text_add(buf, size, " (need %s)", need);
}

const char *save_fix(int err)
{
	size_t i = find(err);

	return i < NR_FAILURES ? failures[i].fix : "cd    # or another folder, then try again";
}

/* A duplicate of our descriptor that the path names. -1: it is another process's, or none. */
static int own_descriptor(const struct path *p)
{
	struct stat folder, own;

	if (fstat(p->folder, &folder) || stat("/proc/self/fd", &own) || folder.st_dev != own.st_dev ||
	    folder.st_ino != own.st_ino)
		return -1;
	return fcntl(atoi(p->name), F_DUPFD_CLOEXEC, 3);
}

/* Tries to create a file: some file systems refuse new files even to those who may write to the folder. */
static int try_create(int folder)
{
	char temporary[WRITE_TEMPORARY_SIZE];
	bool named;
	int fd;

	write_temporary(temporary);
	fd = write_create(folder, temporary, 0600, &named);
	if (fd < 0)
		return fd;
	if (named)
		unlinkat(folder, temporary, 0);
	close(fd);
	return 0;
}

/* In a sticky folder such as /tmp, nobody can replace files of others: not even root, as the helper that writes has no
 * capabilities. */
static int check_owner(const struct path *p)
{
	uid_t writer = invoker()->uid;
	struct stat folder;

	if (!p->st.st_mode || fstat(p->folder, &folder) || !(folder.st_mode & S_ISVTX) || p->st.st_uid == writer ||
	    folder.st_uid == writer)
		return 0;
	return -EPERM;
}

static int look(const char *path, int *fd, bool *streams)
{
	struct path p;
	mode_t stream = 0;
	int err = path_resolve(path, invoker()->uid, 0, &p);

	if (!err && p.magic) {
		*fd = own_descriptor(&p);
		err = *fd < 0 ? -EOPNOTSUPP : 0;
	} else if (!err) {
		err = write_kind(&p, &stream);
		if (!err && !stream)
			err = check_owner(&p);
		if (!err && !stream)
			err = try_create(p.folder);
		else if (!err && faccessat(p.folder, p.name, W_OK, AT_EACCESS))
			err = -errno;
	}
	path_close(&p);
	*streams = stream;
	return err;
}

int destination_check(const char *path, int *fd, bool *streams)
{
	char safe[4 * 256], cut[256], cause[128];
	bool is_kind; /* the path leads to a kind of file that is refused */
	int err;

	*fd = -1;
	err = invoker_drop();
	if (!err)
		err = look(path, fd, streams);
	if (!err)
		return 0;
	text_safe(safe, sizeof(safe), path, strlen(path));
	text_elide(cut, sizeof(cut), safe, PATH_WIDTH);
	is_kind = err == -EISDIR || err == -EOPNOTSUPP;
	save_cause(&(struct save_failure){ .err = err }, cause, sizeof(cause));
	fail(err, is_kind ? EXIT_STATUS_USAGE : EXIT_STATUS_RUNTIME, "cannot save %s: %s", cut, cause);
	if (is_kind)
		fail_why("systop writes to a file, a FIFO or a character device");
	else if (err == -ENOENT)
		fail_why("a folder in its path does not exist, and systop creates none");
	else if (err == -EACCES && !invoker()->uid)
		fail_why("the helper that writes has no capabilities: even root needs the rights that the folder's mode gives");
	fail_fix("%s", save_fix(err));
	return err;
}
