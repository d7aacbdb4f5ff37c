/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/package.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/file.h"

/* Longer lists are left out. */
#define LIST_MAX (16UL << 20)

/* The lines that are looked for, each with a newline on both sides. */
struct wanted {
	char lines[2][1024];
	size_t nr;
};

static bool is_file(const char *root, const char *path, const struct file_key *key)
{
	char whole[2048];
	struct stat st;
	bool is;
	int fd;

	if (snprintf(whole, sizeof(whole), "%s%s", root, path) >= (int)sizeof(whole))
		return false;
	fd = open(whole, FILE_LOOK | O_NOFOLLOW);
	is = fd >= 0 && file_is(fd, key->inode, key->size, key->mtime_s, &st);
	file_close(&fd);
	return is;
}

/* Packages from before /lib became a link to /usr/lib list their files below /lib. */
static void want(struct wanted *w, const char *path)
{
	w->nr = 1;
	snprintf(w->lines[0], sizeof(w->lines[0]), "\n%s\n", path);
	if (!strncmp(path, "/usr/lib", 8) || !strncmp(path, "/usr/bin/", 9) || !strncmp(path, "/usr/sbin/", 10))
		snprintf(w->lines[w->nr++], sizeof(w->lines[1]), "\n%s\n", path + 4);
}

/* Whether the list @name, which belongs to the folder's owner, contains the file. */
static bool has_file(int folder, const char *name, const struct wanted *w)
{
	int seen = openat(folder, name, FILE_LOOK | O_NOFOLLOW), fd = seen < 0 ? -1 : file_open_seen(seen);
	struct stat st, of;
	char *text = NULL;
	ssize_t len = -1;
	bool has = false;

	if (fd >= 0 && !fstat(fd, &st) && !fstat(folder, &of) && st.st_uid == of.st_uid && (size_t)st.st_size < LIST_MAX)
		text = malloc(st.st_size + 1);
	if (text)
		len = read(fd, text, st.st_size);
	for (size_t i = 0; len > 0 && i < w->nr && !has; i++)
		has = memmem(text, len, w->lines[i], strlen(w->lines[i]));
	free(text);
	file_close(&fd);
	return has;
}

/* Debian makes NAME-dbgsym of each package with code, except of the C library. */
static void debug_name(const char *package, size_t len, char *name, size_t size)
{
	bool libc = len == 5 && !strncmp(package, "libc6", len);

	snprintf(name, size, "%.*s-%s", (int)len, package, libc ? "dbg" : "dbgsym");
}

/* The name ends in ".list", or ":ARCHITECTURE.list". 0: it is no list of files. */
static size_t package_len(const char *name)
{
	size_t len = strlen(name);

	if (len <= 5 || strcmp(name + len - 5, ".list"))
		return 0;
	len = strcspn(name, ":") < len - 5 ? strcspn(name, ":") : len - 5;
	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+-.") >= len ? len : 0;
}

int package_debug(const char *root, const char *path, const struct file_key *key, uint64_t budget_ns, char *name, size_t size)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + budget_ns;
	char folder[1024];
	struct dirent *entry;
	struct wanted w;
	int err = -ENOENT;
	DIR *dir;

	if (*path != '/' || strchr(path, '\n') || strlen(path) + 3 > sizeof(w.lines[0]))
		return -ENOENT;
	if (!is_file(root, path, key))
		return -ESTALE;
	snprintf(folder, sizeof(folder), "%s/var/lib/dpkg/info", root);
	dir = opendir(folder);
	if (!dir)
		return -ENOENT;
	want(&w, path);
	while (err == -ENOENT && (entry = readdir(dir))) {
		size_t len = package_len(entry->d_name);

		if (clock_ns(CLOCK_MONOTONIC) >= until) {
			err = -EAGAIN;
		} else if (len && has_file(dirfd(dir), entry->d_name, &w)) {
			debug_name(entry->d_name, len, name, size);
			err = 0;
		}
	}
	closedir(dir);
	return err;
}
