/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_FOLDER_H
#define SYSTOP_TESTS_FOLDER_H

/* For tests that read files: a folder of their own below /tmp. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static char folder[64];

/* folder_new, folder_drop - setup and teardown of a case or of a program. */
static inline int folder_new(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/systop-unit-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static inline int folder_drop(void **state)
{
	char command[192];

	(void)state;
	snprintf(command, sizeof(command), "chmod -R u+w %s; rm -r %s", folder, folder);
	return system(command);
}

/* in_folder - the path of a name in it, until the next call. */
static inline const char *in_folder(const char *name)
{
	static char path[192];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* put_file - gives a file in it this text; NULL: there is no such file. */
static inline void put_file(const char *name, const char *text)
{
	FILE *f;

	unlink(in_folder(name));
	if (!text)
		return;
	f = fopen(in_folder(name), "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

#endif
