/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/input/views.h"

#include <string.h>

static const char *const names[VIEW_BASES] = {
#define _(arg, id, view, traits, tab, name, also, ...) name also,
	BASE_VIEWS(_, )
#undef _
};

enum view_id view_named(const char *name, int *way)
{
	size_t len = strlen(name);

	for (enum view_id id = 0; id < VIEW_BASES; id++) {
		const char *at = names[id];

		for (*way = 0; *at; ++*way) {
			size_t n = strcspn(at, " ");

			if (n == len && !strncmp(at, name, n))
				return id;
			at += n + (at[n] == ' ');
		}
	}
	return VIEW_COUNT;
}
