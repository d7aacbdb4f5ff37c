/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_INPUT_KEYMAP_H
#define SYSTOP_TUI_INPUT_KEYMAP_H

#include <stddef.h>

#include "tui/input/actions.h"

/*
 * Bindings of keys to actions. A key is written as the character itself, as ^X, or as one of F1..F20 Space Tab S-Tab
 * Enter Esc Bksp Up Down Left Right PgUp PgDn Home End Ins Del. Upper and lower case letters are different keys; all
 * characters are ASCII.
 */
struct keymap {
	char keys[ACTION_NONE][64]; /* of each action, separated by blanks */
	int bound_at[ACTION_NONE];  /* line of the config file that bound it; 0: the preset */
};

/* keymap_preset - binds the keys of a preset and nothing else. */
void keymap_preset(struct keymap *m, enum preset preset);

/*
 * keymap_bind - replaces the keys of an action; preset bindings of these keys are removed. @line: of the config file,
 * not 0. Returns NULL, or the error in @buf: an unknown key, or one that another line binds.
 */
const char *keymap_bind(struct keymap *m, enum action a, const char *keys, int line, char *buf,
			size_t size);

/* keymap_action - the action of a key, as curses gives it, in @places; ACTION_NONE: none. */
enum action keymap_action(const struct keymap *m, int key, int places);

/* keymap_key - the first key of @a that means it in @places, "": none. Returns @buf. */
const char *keymap_key(const struct keymap *m, enum action a, int places, char *buf, size_t size);

/* keymap_define - defines sequences that terminals send regardless of their terminfo. Call it when the screen is
 * open. */
void keymap_define(void);

#endif
