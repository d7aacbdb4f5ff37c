/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/term/terminfo.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *term;
	const char *entry; /* "b64:...", understood by ncurses 6.1 and newer */
} builtin[] = {
#include "terminfo.inc" /* made by infocmp: see Makefile.am */
	{ NULL, NULL },
};

const char *terminfo_builtin(const char *term)
{
	for (size_t i = 0; builtin[i].term; i++)
		if (!strcmp(builtin[i].term, term))
			return builtin[i].entry;
	return NULL;
}
