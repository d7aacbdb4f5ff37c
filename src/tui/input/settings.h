/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_INPUT_SETTINGS_H
#define SYSTOP_TUI_INPUT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/input/keymap.h"
#include "tui/term/theme.h"
#include "tui/widget/columns.h"

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

/* The user's settings: set by the config file and the options, written by W. */
struct settings {
	char theme[THEME_SIZE];
	enum when color;   /* auto: unless NO_COLOR is set */
	enum when ascii;   /* auto: unless the locale is UTF-8 */
	bool full_names;   /* of functions; else util/short_name.h */
	bool mouse;
	enum units units;
	char view[16];     /* first view: one of VIEW_NAMES */
	struct sorting sorting;
	bool hide_idle, hide_kthreads;
	uint64_t delay_ns;
	struct column_list columns[TABLE_COUNT];
	enum preset preset;
	struct keymap keymap;
};

void settings_default(struct settings *s);

/*
 * settings_set - one line of the config file.
 * @line: its number, 0: not from a file
 * Returns 0; -EINVAL with @error: what is wrong with the value; -ENOENT: no such setting.
 */
int settings_set(struct settings *s, const char *section, const char *name, const char *value,
		 int line, char *error, size_t size);

/* Also of option -d. */
#define DELAY_MIN_NS 100000000ULL
#define DELAY_MAX_NS 60000000000ULL

/* settings_delay - the refresh interval: 0, or -EINVAL if it is not between 0.1 and 60 seconds. settings_print_delay - in
 * the form that it reads: "0.5s". */
int settings_delay(struct settings *s, const char *value);
void settings_print_delay(uint64_t ns, char *buf, size_t size);

/* settings_get - setting @nr as text, for W and --print-config. Returns false after the last one; the value is "" if it
 * need not be written.
 * @s: NULL: only the name, without a value */
struct setting_text {
	const char *section, *name, *help;
	bool set; /* it has a value, which is empty for an action that is bound to no key */
	char value[1024];
};

bool settings_get(const struct settings *s, int nr, struct setting_text *text);

#endif
