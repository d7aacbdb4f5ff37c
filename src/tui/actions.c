/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/actions.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
const struct action_info actions[ACTION_NONE] = {
#define _(id, keys, footer, help) { keys, footer, help },
	ACTIONS(_)
#undef _
};

/* Names of keys that are not one character, and the codes curses gives them. */
static const struct {
	const char *name;
	int key;
} key_names[] = {
	{ "Space", ' ' },       { "Tab", '\t' },      { "S-Tab", KEY_BTAB }, { "Enter", '\n' },
	{ "Enter", '\r' },      { "Enter", KEY_ENTER }, { "Esc", 27 },       { "Bksp", KEY_BACKSPACE },
	{ "Bksp", 127 },        { "Bksp", '\b' },     { "Up", KEY_UP },      { "Down", KEY_DOWN },
	{ "PgUp", KEY_PPAGE },  { "PgDn", KEY_NPAGE }, { "Home", KEY_HOME }, { "End", KEY_END },
	{ "End", KEY_LL },
};
/* clang-format on */

static bool key_is(const char *name, size_t len, int key)
{
	int number;

	if (len == 1)
		return key == (unsigned char)*name;
	if (len == 2 && *name == '^')
		return key == (name[1] & 0x1f);
	if (*name == 'F' && sscanf(name + 1, "%d", &number) == 1)
		return key == KEY_F(number);
	for (size_t i = 0; i < sizeof(key_names) / sizeof(key_names[0]); i++)
		if (key == key_names[i].key && strlen(key_names[i].name) == len &&
		    !strncmp(key_names[i].name, name, len))
			return true;
	return false;
}

enum action action_of_key(int key)
{
	for (int a = 0; a < ACTION_NONE; a++) {
		const char *name = actions[a].keys;

		while (*name) {
			size_t len = strcspn(name, " ");

			if (key_is(name, len, key))
				return a;
			name += len + (name[len] == ' ');
		}
	}
	return ACTION_NONE;
}
