/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_DEBUG_FOLDERS_H
#define SYSTOP_SYM_DEBUG_FOLDERS_H

#include <stdint.h>

struct open_request;

/* Folders of the invoker in which the open helper looks for debug information files. Helpers inherit the list: it is
 * complete before helper_start(). */
#define DEBUG_FOLDERS_MAX 10

/* Number of places in a folder where a file's debug information can be. */
#define DEBUG_FOLDER_PLACES 4

enum debug_folder_kind {
	DEBUG_CACHE,  /* debuginfod's: BUILDID/debuginfo */
	DEBUG_FOLDER, /* the same, and .build-id/xx/yyyy.debug, xx/yyyy.debug and the name in .gnu_debuglink */
};

/* debug_folders_add - @path: absolute, copied; it need not exist yet. A folder that is in the list already is not added
 * again; without room or memory it is left out. */
void debug_folders_add(enum debug_folder_kind kind, const char *path);

/*
 * debug_folders_look - finds the next file, from place *@place, that may have the debug information of @r, and sets *@place to
 * its place. Only regular files with content that belong to root or to the invoker count, and links only if they stay in the
 * folder. Returns an O_PATH descriptor, or -1 with errno: ENOENT: there are no more.
 */
int debug_folders_look(const struct open_request *r, uint32_t *place);

#endif
