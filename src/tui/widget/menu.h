/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_WIDGET_MENU_H
#define SYSTOP_TUI_WIDGET_MENU_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/input/settings.h"
#include "tui/widget/pager.h"

struct menu;

/* A list of choices or settings that replaces the view. */
struct menu_kind {
	const char *title, *help;
	int (*nr)(const struct menu *m);
	/* Text of item @i. */
	void (*text)(const struct menu *m, int i, char *buf, size_t size);
	/* The action on item @i: Enter, Space (PAUSE), < > (SORT_LEFT, SORT_RIGHT), + - (UNFOLD, FOLD), = (CLEAR).
	 * Returns whether the menu closes. */
	bool (*act)(struct menu *m, int i, enum action a);
};

extern const struct menu_kind menu_options, menu_sort, menu_columns, menu_themes;

struct menu {
	const struct menu_kind *kind; /* NULL: no menu is open */
	struct settings *settings;
	enum table table;             /* table of the columns */
	int cursor;
	struct pager pager;
};

void menu_open(struct menu *m, const struct menu_kind *kind);
void menu_draw(struct menu *m, const struct paint *p, int top, int height);

/* menu_act - whether the menu handled the action. */
bool menu_act(struct menu *m, enum action a);

#endif
