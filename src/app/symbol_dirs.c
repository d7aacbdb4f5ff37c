/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/symbol_dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/config_file.h"
#include "app/options.h"
#include "proc/user.h"
#include "sym/debug_folders.h"
#include "util/fail.h"
#include "util/text.h"

/* Folders of --symbol-dir, and the caches of the invoker and of root. */
_Static_assert(SYMBOL_DIRS_MAX + 2 <= DEBUG_FOLDERS_MAX, "all have a place");

static int refuse(const char *arg, int err)
{
	char safe[256];

	text_safe(safe, sizeof(safe), arg, strlen(arg));
	fail(-err, EXIT_STATUS_USAGE, "cannot use --symbol-dir \"%s\": %s", safe, strerror(err));
	fail_why("expected a directory with debug information files that the user who started systop can read");
	fail_fix("ls -ld -- \"%s\"    # is it there, a directory, and readable?", safe);
	return EINVAL;
}

static int refuse_more(void)
{
	fail(-E2BIG, EXIT_STATUS_USAGE, "too many --symbol-dir options");
	fail_why("at most %d directories can be given", SYMBOL_DIRS_MAX);
	fail_fix("cp -al DIR1/. DIR2    # DIR2 then has the files of both");
	return EINVAL;
}

int symbol_dirs_add(struct options *o, const char *arg)
{
	int fd = open(arg, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = errno;
	char *path;

	if (fd < 0)
		return refuse(arg, err);
	close(fd);
	if (o->nr_symbol_dirs == SYMBOL_DIRS_MAX)
		return refuse_more();
	path = realpath(arg, NULL);
	if (!path)
		return refuse(arg, errno);
	o->symbol_dirs[o->nr_symbol_dirs++] = path;
	return 0;
}

/* The cache of debuginfod's clients in a home directory. */
static void add_cache(const char *home)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/.cache/debuginfod_client", home) < (int)sizeof(path))
		debug_folders_add(DEBUG_CACHE, path);
}

static void add_invokers_cache(void)
{
	const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME");
	char path[PATH_MAX];

	if (own && *own == '/')
		debug_folders_add(DEBUG_CACHE, own);
	else if (xdg && *xdg == '/' && snprintf(path, sizeof(path), "%s/debuginfod_client", xdg) < (int)sizeof(path))
		debug_folders_add(DEBUG_CACHE, path);
	else if (config_home(path, sizeof(path)))
		add_cache(path);
}

void symbol_dirs_find(const struct options *o)
{
	char home[PATH_MAX];

	add_invokers_cache();
	if (!getuid() && user_home(0, home, sizeof(home)))
		add_cache(home);
	for (size_t i = 0; i < o->nr_symbol_dirs; i++)
		debug_folders_add(DEBUG_FOLDER, o->symbol_dirs[i]);
}
