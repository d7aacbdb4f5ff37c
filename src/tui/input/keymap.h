/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_INPUT_KEYMAP_H
#define SYSTOP_TUI_INPUT_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/input/actions.h"

/*
 * Which key does what. A key is written as the character itself, as ^X, or as one of F1..F20 Space
 * Tab S-Tab Enter Esc Bksp Up Down Left Right PgUp PgDn Home End Ins Del. Upper and lower case
 * letters are different keys; all characters are ASCII.
 */
struct keymap {
	char keys[ACTION_NONE][64]; /* of each action, separated by blanks */
	int bound_at[ACTION_NONE];  /* line of the config file that said so; 0: the preset */
};

/* keymap_preset - the keys of a preset; nothing else is bound. */
void keymap_preset(struct keymap *m, enum preset preset);

/*
 * keymap_bind - gives an action these keys instead of its own; whatever the preset had on them lets
 * go. @line: of the config file, not 0
 * Returns NULL, or what is wrong, in @buf: an unknown key, or one bound by another line.
 */
const char *keymap_bind(struct keymap *m, enum action a, const char *keys, int line, char *buf,
			size_t size);

/* keymap_action - what a key, as curses gives it, does in @places; ACTION_NONE: nothing. */
enum action keymap_action(const struct keymap *m, int key, int places);

/* keymap_define - sequences that terminals send whatever their terminfo says; once a screen is
 * there. */
void keymap_define(void);

#endif
