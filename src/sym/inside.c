/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/text.h"

/* The rest of a path below @root, NULL: it is elsewhere. */
static const char *below(const char *path, const char *root)
{
	size_t len = strlen(root);

	if (!strcmp(root, "/"))
		return path + 1;
	return !strncmp(path, root, len) && path[len] == '/' ? path + len + 1 : NULL;
}

/* "36 35 98:0 /root /path options ...": @root and @path are the caller's to free. */
static bool read_line(const char *line, uint32_t device, char **root, char **path)
{
	unsigned int major, minor;

	*root = *path = NULL;
	if (sscanf(line, "%*d %*d %u:%u", &major, &minor) != 2 || (major << 20 | minor) != device ||
	    sscanf(line, "%*d %*d %*s %ms %ms", root, path) != 2) {
		free(*root);
		*root = NULL;
		return false;
	}
	text_unescape(*root);
	text_unescape(*path);
	return true;
}

int inside_look(uint32_t device, const char *inside, bool (*accept)(int fd, const void *arg), const void *arg)
{
	FILE *f = inside[0] == '/' ? fopen("/proc/self/mountinfo", "re") : NULL;
	char *line = NULL, *root, *path;
	size_t size = 0;
	int fd = -1;

	while (f && fd < 0 && getline(&line, &size, f) > 0) {
		const char *rest;

		if (!read_line(line, device, &root, &path))
			continue;
		rest = below(inside, root);
		fd = rest ? file_look_below(path, rest, O_NOFOLLOW, RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS) : -1;
		if (fd >= 0 && !accept(fd, arg))
			file_close(&fd);
		free(root);
		free(path);
	}
	if (f)
		fclose(f);
	free(line);
	if (fd < 0)
		errno = ENOENT;
	return fd;
}
