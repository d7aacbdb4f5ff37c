/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/input/actions.h"

#include <string.h>

const struct action_info actions[ACTION_NONE] = {
#define _(id, name, where, systop, htop, below, footer, help) \
	{ name, where, { systop, htop, below }, footer, help },
	ACTIONS(_)
#undef _
};

const char *const preset_names[PRESET_COUNT] = { "systop", "htop", "below" };

enum action action_find(const char *name)
{
	enum action a = 0;

	while (a < ACTION_NONE && strcmp(actions[a].name, name))
		a++;
	return a;
}
