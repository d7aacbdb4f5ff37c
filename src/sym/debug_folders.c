/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/debug_folders.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "helper/proto.h"
#include "util/file.h"
#include "util/invoker.h"

static struct {
	enum debug_folder_kind kind;
	char *path;
} folders[DEBUG_FOLDERS_MAX];
static unsigned int nr_folders;

void debug_folders_add(enum debug_folder_kind kind, const char *path)
{
	char *copy;

	for (unsigned int i = 0; i < nr_folders; i++)
		if (folders[i].kind == kind && !strcmp(folders[i].path, path))
			return;
	copy = nr_folders < DEBUG_FOLDERS_MAX ? strdup(path) : NULL;
	if (!copy)
		return;
	folders[nr_folders].kind = kind;
	folders[nr_folders++].path = copy;
}

/* Name of the @nr-th place in a folder; empty: it does not apply. */
static void place_name(const struct open_request *r, enum debug_folder_kind kind, uint32_t nr, char *name, size_t size)
{
	char hex[2 * sizeof(r->build_id) + 1] = "";

	for (uint32_t i = 0; i < r->build_id_bytes && i < sizeof(r->build_id); i++)
		snprintf(hex + 2 * i, 3, "%02x", r->build_id[i]);
	*name = '\0';
	if (nr == 3)
		snprintf(name, size, "%s", r->debuglink);
	else if (r->build_id_bytes > 1)
		snprintf(name, size, nr == 0 ? ".build-id/%.2s/%s.debug" : nr == 1 ? "%.2s/%s.debug" : "%.2s%s/debuginfo",
			 hex, hex + 2);
	if (kind == DEBUG_CACHE && nr != 2)
		*name = '\0';
}

/* debuginfod's clients keep an empty file for what the servers do not have. */
static bool is_taken(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size && (!st.st_uid || st.st_uid == invoker()->uid);
}

/* Looks at the rest of a folder's places; sets @place to the one after them, or to the file's. */
static int look_folder(const struct open_request *r, uint32_t nr, uint32_t *place)
{
	int folder = open(folders[nr].path, O_PATH | O_DIRECTORY | O_CLOEXEC), found = -1;
	char name[256];

	for (; folder >= 0 && *place / DEBUG_FOLDER_PLACES == nr; ++*place) {
		place_name(r, folders[nr].kind, *place % DEBUG_FOLDER_PLACES, name, sizeof(name));
		/* Links stay in the folder: other links could lead to files that only root may open. */
		found = *name ? file_look_in(folder, name, 0, RESOLVE_BENEATH) : -1;
		if (found >= 0 && is_taken(found))
			break;
		file_close(&found);
	}
	if (folder < 0)
		*place = DEBUG_FOLDER_PLACES * (nr + 1);
	file_close(&folder);
	return found;
}

int debug_folders_look(const struct open_request *r, uint32_t *place)
{
	while (*place / DEBUG_FOLDER_PLACES < nr_folders) {
		int found = look_folder(r, *place / DEBUG_FOLDER_PLACES, place);

		if (found >= 0)
			return found;
	}
	errno = ENOENT;
	return -1;
}
