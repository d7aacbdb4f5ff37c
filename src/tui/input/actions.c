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

const struct absent htop_absent[] = {
	{ "c Space U", "no tags: nothing here acts on several processes at once; Space and Z freeze what is shown" },
	{ "k F9 F7 F8 i Y", "nothing is killed, reniced or moved: systop only observes" },
	{ "[ ] { }", "nice values are not changed; these keys step back and forward in time" },
	{ "a", "the affinity cannot be changed; Enter shows it, with policy and priority" },
	{ "s l x", "no strace, lsof, locks: f shows where the time went, Enter what a thread waits for" },
	{ "w", "saves a trace of the last seconds" },
	{ "e p O", "no environment, no hiding of paths or containers: \\ filters by cg: and user:" },
	{ "# ^A ^E", "the header stays, and ( ) move to hidden columns" },
	{ "1 to 9", "the views; / finds a PID" },
	{ NULL, NULL }
};

enum action action_find(const char *name)
{
	enum action a = 0;

	while (a < ACTION_NONE && strcmp(actions[a].name, name))
		a++;
	return a;
}
